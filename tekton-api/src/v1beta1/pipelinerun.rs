//! PipelineRuns: executions of a Pipeline.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1beta1/pipelinerun_types.go`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::core::ObjectMeta;

use super::{
    ChildStatusReference, CustomRunStatus, Param, PipelineRef, PipelineResourceBinding, PipelineRunResult,
    PipelineRunSpecStatus, PipelineSpec, PipelineTaskMetadata, PodTemplate, Provenance, SkippedTask,
    TaskRunSidecarOverride, TaskRunStatus, TaskRunStepOverride, TimeoutFields, WhenExpression,
    WorkspaceBinding,
};
use crate::condition::Conditions;
use crate::duration::Duration;
use crate::wire::{resource, wire_struct};

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

resource!(PipelineRun: "tekton.dev", "v1beta1", "pipelineruns", NamespaceResourceScope, PipelineRunSpec, status PipelineRunStatus);

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
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<PipelineResourceBinding>,
    /// Parameters.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
    /// The service account of all TaskRuns.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub service_account_name: Option<String>,
    /// A wish to cancel, stop or wait.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub status: Option<PipelineRunSpecStatus>,
    /// After which times it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<TimeoutFields>,
    /// Deprecated: after which time it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Settings of all pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_template: Option<PodTemplate>,
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

wire_struct! {
/// Settings of the TaskRuns of one task.
pub struct PipelineTaskRunSpec {
    /// The task's name in the Pipeline.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub pipeline_task_name: Option<String>,
    /// The service account.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub task_service_account_name: Option<String>,
    /// Settings of the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_pod_template: Option<PodTemplate>,
    /// Changes to single steps.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub step_overrides: Vec<TaskRunStepOverride>,
    /// Changes to single sidecars.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub sidecar_overrides: Vec<TaskRunSidecarOverride>,
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

wire_struct! {
/// What is known about a PipelineRun.
pub struct PipelineRunStatus {
    /// The generation of the spec this status belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How it goes; [`crate::condition::SUCCEEDED`] decides.
    #[serde(deserialize_with = "crate::wire::or_default", skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
    /// Further facts.
    #[serde(deserialize_with = "crate::wire::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// When it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Time>,
    /// When it finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<Time>,
    /// Deprecated: its TaskRuns by name.
    #[serde(deserialize_with = "crate::wire::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub task_runs: BTreeMap<String, PipelineRunTaskRunStatus>,
    /// Deprecated: its CustomRuns by name.
    #[serde(deserialize_with = "crate::wire::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub runs: BTreeMap<String, PipelineRunRunStatus>,
    /// What it produced.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub pipeline_results: Vec<PipelineRunResult>,
    /// The Pipeline as it is executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub pipeline_spec: Option<PipelineSpec>,
    /// Tasks that were not run, and why.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub skipped_tasks: Vec<SkippedTask>,
    /// The runs it started.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub child_references: Vec<ChildStatusReference>,
    /// When the finally tasks started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finally_start_time: Option<Time>,
    /// Where the Pipeline came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// The trace it belongs to.
    #[serde(deserialize_with = "crate::wire::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub span_context: BTreeMap<String, String>,
}
}

wire_struct! {
/// Deprecated: a TaskRun of a PipelineRun.
pub struct PipelineRunTaskRunStatus {
    /// The task's name in the Pipeline.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub pipeline_task_name: Option<String>,
    /// The TaskRun's status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskRunStatus>,
    /// The conditions, as they were evaluated.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub when_expressions: Vec<WhenExpression>,
}
}

wire_struct! {
/// Deprecated: a CustomRun of a PipelineRun.
pub struct PipelineRunRunStatus {
    /// The task's name in the Pipeline.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub pipeline_task_name: Option<String>,
    /// The CustomRun's status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<CustomRunStatus>,
    /// The conditions, as they were evaluated.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub when_expressions: Vec<WhenExpression>,
}
}
