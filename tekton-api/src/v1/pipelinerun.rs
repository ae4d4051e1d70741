//! PipelineRuns: executions of a Pipeline.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/pipelinerun_types.go`.

use k8s_openapi::api::core::v1::ResourceRequirements;
use kube::core::ObjectMeta;

use super::{
    Param, PipelineRef, PipelineRunStatus, PipelineSpec, PipelineTaskMetadata, PodTemplate,
    TaskRunSidecarSpec, TaskRunStepSpec, WorkspaceBinding,
};
use crate::duration::Duration;
use crate::wire::{open_enum, resource, wire_struct};

/// An execution of a Pipeline.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename_all = "camelCase"))]
pub struct PipelineRun {
    /// Name, namespace, labels, annotations and owners.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: PipelineRunSpec,
    /// What has happened.
    pub status: Option<PipelineRunStatus>,
}

resource!(PipelineRun: "tekton.dev", "v1", "pipelineruns", NamespaceResourceScope, PipelineRunSpec, status PipelineRunStatus);

wire_struct! {
/// What is to be executed, and how.
pub struct PipelineRunSpec {
    /// The Pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline_ref: Option<PipelineRef>,
    /// The Pipeline defined here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub pipeline_spec: Option<PipelineSpec>,
    /// Parameters.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
    /// A wish to cancel, stop or wait.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub status: Option<PipelineRunSpecStatus>,
    /// After which times it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<TimeoutFields>,
    /// Settings of all TaskRuns.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub task_run_template: PipelineTaskRunTemplate,
    /// Volumes for the workspaces.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<WorkspaceBinding>,
    /// Settings of single TaskRuns.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub task_run_specs: Vec<PipelineTaskRunSpec>,
    /// The controller in charge, if it is not Tekton's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<String>,
}
}

open_enum! {
    /// What a user wants from a PipelineRun.
    pub enum PipelineRunSpecStatus {
        /// That it stops at once.
        Cancelled = "Cancelled",
        /// That it stops, but for the finally tasks.
        CancelledRunFinally = "CancelledRunFinally",
        /// That nothing starts any more, but for the finally tasks.
        StoppedRunFinally = "StoppedRunFinally",
        /// That it does not start yet.
        Pending = "PipelineRunPending",
    }
}

wire_struct! {
/// After which times a PipelineRun fails.
pub struct TimeoutFields {
    /// The whole of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Duration>,
    /// Its tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Duration>,
    /// Its finally tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finally: Option<Duration>,
}
}

wire_struct! {
/// Settings of all TaskRuns of a PipelineRun.
pub struct PipelineTaskRunTemplate {
    /// Settings of the pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_template: Option<PodTemplate>,
    /// The service account.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub service_account_name: Option<String>,
}
}

wire_struct! {
/// Settings of the TaskRuns of one task.
pub struct PipelineTaskRunSpec {
    /// The task's name in the Pipeline.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub pipeline_task_name: Option<String>,
    /// The service account.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub service_account_name: Option<String>,
    /// Settings of the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_template: Option<PodTemplate>,
    /// Changes to single steps.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub step_specs: Vec<TaskRunStepSpec>,
    /// Changes to single sidecars.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub sidecar_specs: Vec<TaskRunSidecarSpec>,
    /// Labels and annotations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<PipelineTaskMetadata>,
    /// Requests and limits of the whole pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_resources: Option<ResourceRequirements>,
    /// After which time it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
}
}
