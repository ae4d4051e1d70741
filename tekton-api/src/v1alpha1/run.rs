//! Runs: what CustomRuns were called before.
//!
//! Upstream counterparts: `pkg/apis/pipeline/v1alpha1/run_types.go` and `pkg/apis/run/v1alpha1`.

use kube::core::ObjectMeta;

use crate::duration::Duration;
use crate::v1::{Param, PodTemplate, WorkspaceBinding};
use crate::v1beta1::{CustomRunSpecStatus, CustomRunStatus, EmbeddedCustomRunSpec, TaskRef};
use crate::wire::{resource, wire_struct};

/// An execution by a controller other than Tekton's.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename_all = "camelCase"))]
pub struct Run {
    /// Name, namespace, labels, annotations and owners.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: RunSpec,
    /// What has happened.
    pub status: Option<CustomRunStatus>,
}

resource!(Run: "tekton.dev", "v1alpha1", "runs", NamespaceResourceScope, RunSpec, status CustomRunStatus);

wire_struct! {
/// What is to be executed, and how.
pub struct RunSpec {
    /// The object to execute.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub ref_: Option<TaskRef>,
    /// The object defined here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<EmbeddedCustomRunSpec>,
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
    /// The service account.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub service_account_name: String,
    /// Settings of pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_template: Option<PodTemplate>,
    /// After which time it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Volumes for the workspaces.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<WorkspaceBinding>,
}
}
