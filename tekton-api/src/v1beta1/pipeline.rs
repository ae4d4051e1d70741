//! Pipelines and their tasks.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1beta1/pipeline_types.go`.

use k8s_openapi::api::core::v1::Volume;
use kube::core::ObjectMeta;
use serde_json::Value;

use super::{
    Matrix, OnError, Param, ParamSpec, PipelineDeclaredResource, PipelineRef, PipelineResult,
    PipelineTaskMetadata, PipelineTaskResources, PipelineWorkspaceDeclaration, Sidecar, Step, StepTemplate,
    TaskRef, TaskResources, TaskResult, TaskSpec, WhenExpression, WorkspaceDeclaration,
    WorkspacePipelineTaskBinding,
};
use crate::duration::Duration;
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

resource!(Pipeline: "tekton.dev", "v1beta1", "pipelines", NamespaceResourceScope, PipelineSpec);

wire_struct! {
/// What a Pipeline does.
pub struct PipelineSpec {
    /// The name shown to people.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub display_name: Option<String>,
    /// What the Pipeline is for.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub description: Option<String>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<PipelineDeclaredResource>,
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

wire_struct! {
/// A node of the graph.
pub struct PipelineTask {
    /// The name, unique in the Pipeline.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub name: Option<String>,
    /// The name shown to people.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub display_name: Option<String>,
    /// What the task is for.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub description: Option<String>,
    /// The Task or custom task to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_ref: Option<TaskRef>,
    /// A Task or custom task defined here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub task_spec: Option<EmbeddedTask>,
    /// Conditions under which it runs.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<WhenExpression>,
    /// How often a failed run is repeated.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub retries: Option<i32>,
    /// Tasks that must finish before.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub run_after: Vec<String>,
    /// Deprecated and without effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<PipelineTaskResources>,
    /// Parameters.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
    /// Parameters that fan the task out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Matrix>,
    /// Workspaces handed over.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<WorkspacePipelineTaskBinding>,
    /// After which time it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// A Pipeline to run instead of a Task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline_ref: Option<PipelineRef>,
    /// A Pipeline defined here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub pipeline_spec: Option<PipelineSpec>,
    /// What a failure means for the Pipeline.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub on_error: Option<OnError>,
}
}

/// A Task, or a custom task, defined within a Pipeline.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(from = "Wire", into = "Wire")]
pub struct EmbeddedTask {
    /// Group and version of a custom task.
    pub api_version: Option<String>,
    /// Kind of a custom task.
    pub kind: Option<String>,
    /// What a custom task is told, as given; `null` if there is none.
    pub spec: Value,
    /// Labels and annotations of the run.
    pub metadata: PipelineTaskMetadata,
    /// The Task, its fields standing next to the ones above.
    pub task_spec: TaskSpec,
}

impl EmbeddedTask {
    /// Whether this is a custom task: apiVersion and kind are given.
    pub fn is_custom_task(&self) -> bool {
        let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        given(&self.api_version) && given(&self.kind)
    }
}

wire_struct! {
/// An embedded task as it is written: the members of its Task stand next to its own.
pub struct Wire {
    /// Group and version of a custom task.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub api_version: Option<String>,
    /// Kind of a custom task.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub kind: Option<String>,
    /// What a custom task is told.
    pub spec: Value,
    /// Labels and annotations of the run.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub metadata: PipelineTaskMetadata,
    /// Deprecated and without effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<TaskResources>,
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

impl From<Wire> for EmbeddedTask {
    fn from(wire: Wire) -> Self {
        Self {
            api_version: wire.api_version,
            kind: wire.kind,
            spec: wire.spec,
            metadata: wire.metadata,
            task_spec: TaskSpec {
                resources: wire.resources,
                params: wire.params,
                display_name: wire.display_name,
                description: wire.description,
                steps: wire.steps,
                volumes: wire.volumes,
                step_template: wire.step_template,
                sidecars: wire.sidecars,
                workspaces: wire.workspaces,
                results: wire.results,
            },
        }
    }
}

impl From<EmbeddedTask> for Wire {
    fn from(task: EmbeddedTask) -> Self {
        let spec = task.task_spec;
        Self {
            api_version: task.api_version,
            kind: task.kind,
            spec: task.spec,
            metadata: task.metadata,
            resources: spec.resources,
            params: spec.params,
            display_name: spec.display_name,
            description: spec.description,
            steps: spec.steps,
            volumes: spec.volumes,
            step_template: spec.step_template,
            sidecars: spec.sidecars,
            workspaces: spec.workspaces,
            results: spec.results,
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for EmbeddedTask {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EmbeddedTask".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Wire::json_schema(generator)
    }
}
