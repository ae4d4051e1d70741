//! TaskRuns: executions of a Task.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/taskrun_types.go`.

use k8s_openapi::api::core::v1::ResourceRequirements;
use kube::core::ObjectMeta;

use super::{Param, PodTemplate, TaskRef, TaskRunStatus, TaskSpec, WorkspaceBinding};
use crate::duration::Duration;
use crate::wire::{open_enum, resource, wire_struct};

/// An execution of a Task.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename_all = "camelCase"))]
pub struct TaskRun {
    /// Name, namespace, labels, annotations and owners.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: TaskRunSpec,
    /// What has happened.
    pub status: Option<TaskRunStatus>,
}

resource!(TaskRun: "tekton.dev", "v1", "taskruns", NamespaceResourceScope, TaskRunSpec, status TaskRunStatus);

wire_struct! {
/// What is to be executed, and how.
pub struct TaskRunSpec {
    /// Where to stop for a look around.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug: Option<TaskRunDebug>,
    /// Parameters.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
    /// The service account; defaulting fills it in.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub service_account_name: String,
    /// The Task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_ref: Option<TaskRef>,
    /// The Task defined here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub task_spec: Option<TaskSpec>,
    /// A wish to cancel or to wait.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub status: Option<TaskRunSpecStatus>,
    /// Why it is cancelled.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub status_message: Option<String>,
    /// How often a failed execution is repeated.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub retries: Option<i32>,
    /// After which time one execution fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Settings of the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_template: Option<PodTemplate>,
    /// Volumes for the workspaces.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<WorkspaceBinding>,
    /// Changes to single steps.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub step_specs: Vec<TaskRunStepSpec>,
    /// Changes to single sidecars.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub sidecar_specs: Vec<TaskRunSidecarSpec>,
    /// Requests and limits of the whole pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_resources: Option<ResourceRequirements>,
    /// The controller in charge, if it is not Tekton's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<String>,
}
}

open_enum! {
    /// What a user wants from a TaskRun.
    pub enum TaskRunSpecStatus {
        /// That it stops.
        Cancelled = "TaskRunCancelled",
        /// That it does not start yet.
        Pending = "TaskRunPending",
    }
}

/// Message of a TaskRun that is cancelled along with its PipelineRun.
pub const CANCELLED_BY_PIPELINE: &str =
    "TaskRun cancelled as the PipelineRun it belongs to has been cancelled.";
/// Message of a TaskRun that is cancelled because its PipelineRun ran out of time.
pub const CANCELLED_BY_PIPELINE_TIMEOUT: &str =
    "TaskRun cancelled as the PipelineRun it belongs to has timed out.";
/// The only value of [`TaskBreakpoints::on_failure`] that sets the breakpoint.
pub const BREAKPOINT_ENABLED: &str = "enabled";

wire_struct! {
/// Debugging settings.
pub struct TaskRunDebug {
    /// Where to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakpoints: Option<TaskBreakpoints>,
}
}

wire_struct! {
/// Where a TaskRun stops for a look around.
pub struct TaskBreakpoints {
    /// `enabled` stops after a failed step.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub on_failure: Option<String>,
    /// Steps before which to stop.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub before_steps: Vec<String>,
}
}

wire_struct! {
/// Changes to a step.
pub struct TaskRunStepSpec {
    /// The step's name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// Its requests and limits.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub compute_resources: ResourceRequirements,
}
}

wire_struct! {
/// Changes to a sidecar.
pub struct TaskRunSidecarSpec {
    /// The sidecar's name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// Its requests and limits.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub compute_resources: ResourceRequirements,
}
}
