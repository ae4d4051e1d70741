//! StepActions: steps to be reused.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1beta1/stepaction_types.go`.

use k8s_openapi::api::core::v1::{EnvVar, SecurityContext, VolumeMount};
use kube::core::ObjectMeta;

use crate::v1::{ParamSpec, StepResult};
use crate::wire::{resource, wire_struct};

/// A reusable step.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename_all = "camelCase"))]
pub struct StepAction {
    /// Name, namespace, labels, annotations and owners.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: StepActionSpec,
}

resource!(StepAction: "tekton.dev", "v1beta1", "stepactions", NamespaceResourceScope, StepActionSpec);

wire_struct! {
/// What a StepAction does.
pub struct StepActionSpec {
    /// What it is for.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub description: Option<String>,
    /// The image.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub image: Option<String>,
    /// The program, instead of the image's entrypoint.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The program's arguments.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// The text of a program, instead of a command.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub script: Option<String>,
    /// Where the program starts.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub working_dir: Option<String>,
    /// Parameters.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<ParamSpec>,
    /// Results produced.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<StepResult>,
    /// Security settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<SecurityContext>,
    /// Volumes and where they appear.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub volume_mounts: Vec<VolumeMount>,
}
}
