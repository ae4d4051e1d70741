//! Tasks.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/task_types.go`.

use k8s_openapi::api::core::v1::Volume;
use kube::core::ObjectMeta;

use super::{ParamSpec, Sidecar, Step, StepTemplate, TaskResult, WorkspaceDeclaration};
use crate::wire::{resource, wire_struct};

/// A reusable sequence of steps.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename_all = "camelCase"))]
pub struct Task {
    /// Name, namespace, labels, annotations and owners.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: TaskSpec,
}

resource!(Task: "tekton.dev", "v1", "tasks", NamespaceResourceScope, TaskSpec);

wire_struct! {
/// What a Task does.
pub struct TaskSpec {
    /// Parameters.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<ParamSpec>,
    /// The name shown to people.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub display_name: Option<String>,
    /// What the Task is for.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub description: Option<String>,
    /// What is done, in this order.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Volumes for the steps to mount.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub volumes: Vec<Volume>,
    /// What all steps have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_template: Option<StepTemplate>,
    /// What runs next to the steps.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub sidecars: Vec<Sidecar>,
    /// Workspaces needed.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<WorkspaceDeclaration>,
    /// Results produced.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<TaskResult>,
}
}
