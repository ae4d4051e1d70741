//! Pipelines.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/pipeline_types.go`.

use kube::core::ObjectMeta;

use super::{ParamSpec, PipelineResult, PipelineTask, PipelineWorkspaceDeclaration};
use crate::wire::{resource, wire_struct};

/// A reusable graph of tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename_all = "camelCase"))]
pub struct Pipeline {
    /// Name, namespace, labels, annotations and owners.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: PipelineSpec,
}

resource!(Pipeline: "tekton.dev", "v1", "pipelines", NamespaceResourceScope, PipelineSpec);

wire_struct! {
/// What a Pipeline does.
pub struct PipelineSpec {
    /// The name shown to people.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub display_name: Option<String>,
    /// What the Pipeline is for.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub description: Option<String>,
    /// The graph.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<PipelineTask>,
    /// Parameters.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<ParamSpec>,
    /// Workspaces needed.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<PipelineWorkspaceDeclaration>,
    /// Results produced.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<PipelineResult>,
    /// Tasks that run after all others, whatever became of them.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub finally: Vec<PipelineTask>,
}
}
