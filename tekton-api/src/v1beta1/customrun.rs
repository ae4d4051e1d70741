//! CustomRuns: executions by other controllers.
//!
//! Upstream counterparts: `pkg/apis/pipeline/v1beta1/customrun_types.go` and `pkg/apis/run/v1beta1`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::core::ObjectMeta;
use serde_json::Value;

use super::{Param, PipelineTaskMetadata, TaskRef, WorkspaceBinding};
use crate::condition::Conditions;
use crate::duration::Duration;
use crate::wire::{open_enum, resource, wire_struct};
use std::collections::BTreeMap;

/// An execution by a controller other than Tekton's.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename_all = "camelCase"))]
pub struct CustomRun {
    /// Name, namespace, labels, annotations and owners.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: CustomRunSpec,
    /// What has happened.
    pub status: Option<CustomRunStatus>,
}

resource!(CustomRun: "tekton.dev", "v1beta1", "customruns", NamespaceResourceScope, CustomRunSpec, status CustomRunStatus);

wire_struct! {
/// What is to be executed, and how.
pub struct CustomRunSpec {
    /// The object to execute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_ref: Option<TaskRef>,
    /// The object defined here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_spec: Option<EmbeddedCustomRunSpec>,
    /// Parameters.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
    /// A wish to cancel.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub status: Option<CustomRunSpecStatus>,
    /// Why it is cancelled.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub status_message: Option<String>,
    /// How often a failed execution is repeated.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub retries: Option<i32>,
    /// The service account; defaulting fills it in.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub service_account_name: String,
    /// After which time it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Volumes for the workspaces.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<WorkspaceBinding>,
}
}

wire_struct! {
/// An object that another controller executes.
pub struct EmbeddedCustomRunSpec {
    /// Its group and version.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub api_version: Option<String>,
    /// Its kind.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub kind: Option<String>,
    /// Labels and annotations.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub metadata: PipelineTaskMetadata,
    /// What the controller is told, as given; `null` if there is none.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, Value>"))]
    pub spec: Value,
}
}

open_enum! {
    /// What a user wants from a CustomRun.
    pub enum CustomRunSpecStatus {
        /// That it stops.
        Cancelled = "RunCancelled",
    }
}

/// Message of a CustomRun that is cancelled along with its PipelineRun.
pub const CUSTOM_RUN_CANCELLED_BY_PIPELINE: &str =
    "CustomRun cancelled as the PipelineRun it belongs to has been cancelled.";
/// Message of a CustomRun that is cancelled because its PipelineRun ran out of time.
pub const CUSTOM_RUN_CANCELLED_BY_PIPELINE_TIMEOUT: &str =
    "CustomRun cancelled as the PipelineRun it belongs to has timed out.";

wire_struct! {
/// What is known about a CustomRun.
pub struct CustomRunStatus {
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
    pub results: Vec<CustomRunResult>,
    /// The status of earlier, failed executions.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub retries_status: Vec<CustomRunStatus>,
    /// What its controller adds; `null` if nothing.
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub extra_fields: Value,
}
}

wire_struct! {
/// A result of a CustomRun.
pub struct CustomRunResult {
    /// The result's name.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The text found.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub value: String,
}
}
