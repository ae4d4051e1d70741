//! TaskRuns: executions of a Task.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1beta1/taskrun_types.go`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting, ResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::core::ObjectMeta;

use super::{
    Artifact, Param, PipelineResourceResult, PodTemplate, Provenance, TaskRef, TaskRunDebug,
    TaskRunResources, TaskRunResult, TaskRunSpecStatus, TaskSpec, WorkspaceBinding,
};
use crate::condition::Conditions;
use crate::duration::Duration;
use crate::wire::{resource, wire_struct};

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

resource!(TaskRun: "tekton.dev", "v1beta1", "taskruns", NamespaceResourceScope, TaskRunSpec, status TaskRunStatus);

wire_struct! {
/// What is to be executed, and how.
pub struct TaskRunSpec {
    /// Where to stop for a look around.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug: Option<TaskRunDebug>,
    /// Parameters.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
    /// Deprecated and without effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<TaskRunResources>,
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
    pub step_overrides: Vec<TaskRunStepOverride>,
    /// Changes to single sidecars.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub sidecar_overrides: Vec<TaskRunSidecarOverride>,
    /// Requests and limits of the whole pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_resources: Option<ResourceRequirements>,
    /// The controller in charge, if it is not Tekton's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<String>,
}
}

wire_struct! {
/// Changes to a step.
pub struct TaskRunStepOverride {
    /// The step's name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// Its requests and limits.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub resources: ResourceRequirements,
}
}

wire_struct! {
/// Changes to a sidecar.
pub struct TaskRunSidecarOverride {
    /// The sidecar's name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// Its requests and limits.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub resources: ResourceRequirements,
}
}

wire_struct! {
/// What is known about a TaskRun.
pub struct TaskRunStatus {
    /// The generation of the spec this status belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How it goes; [`crate::condition::SUCCEEDED`] decides.
    #[serde(deserialize_with = "crate::wire::or_default", skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
    /// Further facts.
    #[serde(deserialize_with = "crate::wire::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// The pod's name, empty before there is one.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub pod_name: String,
    /// When it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Time>,
    /// When it finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<Time>,
    /// How the steps go.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepState>,
    /// Deprecated: events that were sent.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub cloud_events: Vec<CloudEventDelivery>,
    /// The status of earlier, failed executions.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub retries_status: Vec<TaskRunStatus>,
    /// Deprecated: results of resources.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub resources_result: Vec<PipelineResourceResult>,
    /// What it produced.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub task_results: Vec<TaskRunResult>,
    /// How the sidecars go.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub sidecars: Vec<SidecarState>,
    /// The Task as it is executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub task_spec: Option<TaskSpec>,
    /// Where the Task came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// The trace it belongs to.
    #[serde(deserialize_with = "crate::wire::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub span_context: BTreeMap<String, String>,
}
}

wire_struct! {
/// How a step goes.
pub struct StepState {
    /// Set as long as it has not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<ContainerStateWaiting>,
    /// Set while it runs.
    #[serde(serialize_with = "crate::wire::kubernetes::state", skip_serializing_if = "Option::is_none")]
    pub running: Option<ContainerStateRunning>,
    /// Set when it is over.
    #[serde(serialize_with = "crate::wire::kubernetes::state", skip_serializing_if = "Option::is_none")]
    pub terminated: Option<ContainerStateTerminated>,
    /// The step's name.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub name: Option<String>,
    /// The container's name.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub container: Option<String>,
    /// The image, by digest.
    #[serde(rename = "imageID", deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub image_id: Option<String>,
    /// What it produced.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<TaskRunResult>,
    /// Where its StepAction came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// What it consumed.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Artifact>,
    /// What it produced, for provenance.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Artifact>,
}
}

wire_struct! {
/// How a sidecar goes.
pub struct SidecarState {
    /// Set as long as it has not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<ContainerStateWaiting>,
    /// Set while it runs.
    #[serde(serialize_with = "crate::wire::kubernetes::state", skip_serializing_if = "Option::is_none")]
    pub running: Option<ContainerStateRunning>,
    /// Set when it is over.
    #[serde(serialize_with = "crate::wire::kubernetes::state", skip_serializing_if = "Option::is_none")]
    pub terminated: Option<ContainerStateTerminated>,
    /// The sidecar's name.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub name: Option<String>,
    /// The container's name.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub container: Option<String>,
    /// The image, by digest.
    #[serde(rename = "imageID", deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub image_id: Option<String>,
}
}

wire_struct! {
/// An event that was sent.
pub struct CloudEventDelivery {
    /// The receiver.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub target: Option<String>,
    /// What became of it.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub status: CloudEventDeliveryState,
}
}

wire_struct! {
/// What became of an event.
pub struct CloudEventDeliveryState {
    /// `Unknown`, `Sent` or `Failed`.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub condition: Option<String>,
    /// When it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<Time>,
    /// What went wrong.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub message: String,
    /// How often it was tried again.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub retry_count: i32,
}
}
