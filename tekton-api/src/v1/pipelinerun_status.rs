//! What is known about a PipelineRun.
//!
//! Upstream counterpart: the status types of `pkg/apis/pipeline/v1/pipelinerun_types.go`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::{PipelineRunResult, PipelineSpec, Provenance, WhenExpression};
use crate::condition::Conditions;
use crate::reasons::SkippingReason;
use crate::wire::wire_struct;

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
    /// What it produced.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<PipelineRunResult>,
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
/// A run started by a PipelineRun.
pub struct ChildStatusReference {
    /// The run's group and version.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub api_version: Option<String>,
    /// The run's kind.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub kind: Option<String>,
    /// The run's name.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub name: Option<String>,
    /// The name shown to people.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub display_name: Option<String>,
    /// The task's name in the Pipeline.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub pipeline_task_name: Option<String>,
    /// The conditions, as they were evaluated.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub when_expressions: Vec<WhenExpression>,
}
}

wire_struct! {
/// A task that was not run.
pub struct SkippedTask {
    /// The task's name in the Pipeline.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// Why it was not run.
    pub reason: SkippingReason,
    /// The conditions, as they were evaluated.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub when_expressions: Vec<WhenExpression>,
}
}
