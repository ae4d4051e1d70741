//! What is known about a TaskRun.
//!
//! Upstream counterpart: the status types of `pkg/apis/pipeline/v1/taskrun_types.go`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::{Artifact, Artifacts, Provenance, TaskRunResult, TaskSpec};
use crate::condition::Conditions;
use crate::wire::wire_struct;

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
    /// The status of earlier, failed executions.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub retries_status: Vec<TaskRunStatus>,
    /// What it produced.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<TaskRunResult>,
    /// What it consumed and produced, for provenance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<Artifacts>,
    /// How the sidecars go.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub sidecars: Vec<SidecarState>,
    /// The Task as it is executed.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    /// The cause of its end in one word.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub termination_reason: Option<String>,
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

macro_rules! container_state {
    ($name:ident) => {
        impl $name {
            /// The state in the form Kubernetes has it.
            pub fn container_state(&self) -> ContainerState {
                ContainerState {
                    waiting: self.waiting.clone(),
                    running: self.running.clone(),
                    terminated: self.terminated.clone(),
                }
            }

            /// Takes the state over from Kubernetes.
            pub fn set_container_state(&mut self, state: ContainerState) {
                self.waiting = state.waiting;
                self.running = state.running;
                self.terminated = state.terminated;
            }
        }
    };
}

container_state!(StepState);
container_state!(SidecarState);
