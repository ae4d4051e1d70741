//! Steps, sidecars, and the template of steps.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1beta1/container_types.go`.

use k8s_openapi::api::core::v1::{
    ContainerPort, EnvFromSource, EnvVar, Lifecycle, Probe, ResourceRequirements, SecurityContext,
    VolumeDevice, VolumeMount,
};

use super::{OnError, Param, Ref, StepOutputConfig, StepResult, WhenExpression, WorkspaceUsage};
use crate::duration::Duration;
use crate::wire::wire_struct;

wire_struct! {
/// One container of a Task; steps run in order.
pub struct Step {
    /// The name, unique in the Task.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The name shown to people.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub display_name: Option<String>,
    /// The image.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub image: Option<String>,
    /// The program, instead of the image's entrypoint.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The program's arguments.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Where the program starts.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub working_dir: Option<String>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<ContainerPort>,
    /// ConfigMaps and Secrets whose entries become variables.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub env_from: Vec<EnvFromSource>,
    /// Variables.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Requests and limits.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub resources: ResourceRequirements,
    /// Volumes and where they appear.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub volume_mounts: Vec<VolumeMount>,
    /// Block devices and where they appear.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub volume_devices: Vec<VolumeDevice>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub liveness_probe: Option<Probe>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub readiness_probe: Option<Probe>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub startup_probe: Option<Probe>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub termination_message_path: Option<String>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub termination_message_policy: Option<String>,
    /// When the image is pulled.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub image_pull_policy: Option<String>,
    /// Security settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<SecurityContext>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub stdin: Option<bool>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub stdin_once: Option<bool>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub tty: Option<bool>,
    /// The text of a program, instead of a command.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub script: Option<String>,
    /// After which time the step fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Workspaces that only this step sees.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<WorkspaceUsage>,
    /// What a failure means.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub on_error: Option<OnError>,
    /// A file that repeats the standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout_config: Option<StepOutputConfig>,
    /// A file that repeats the standard error output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_config: Option<StepOutputConfig>,
    /// The StepAction to take instead of an image.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub ref_: Option<Ref>,
    /// Parameters of the StepAction.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
    /// Results of this step.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<StepResult>,
    /// Conditions under which the step runs.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<WhenExpression>,
}
}

wire_struct! {
/// What all steps have in common unless they say otherwise.
pub struct StepTemplate {
    /// Deprecated and without effect; left out when empty.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub name: Option<String>,
    /// The image.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub image: Option<String>,
    /// The program, instead of the image's entrypoint.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The program's arguments.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Where the program starts.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub working_dir: Option<String>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<ContainerPort>,
    /// ConfigMaps and Secrets whose entries become variables.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub env_from: Vec<EnvFromSource>,
    /// Variables.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Requests and limits.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub resources: ResourceRequirements,
    /// Volumes and where they appear.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub volume_mounts: Vec<VolumeMount>,
    /// Block devices and where they appear.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub volume_devices: Vec<VolumeDevice>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub liveness_probe: Option<Probe>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub readiness_probe: Option<Probe>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub startup_probe: Option<Probe>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub termination_message_path: Option<String>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub termination_message_policy: Option<String>,
    /// When the image is pulled.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub image_pull_policy: Option<String>,
    /// Security settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<SecurityContext>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub stdin: Option<bool>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub stdin_once: Option<bool>,
    /// Deprecated and without effect.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub tty: Option<bool>,
}
}

wire_struct! {
/// A container that starts before the first step and is stopped after the last one.
pub struct Sidecar {
    /// The name, unique in the Task.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub name: String,
    /// The image.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub image: Option<String>,
    /// The program, instead of the image's entrypoint.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The program's arguments.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Where the program starts.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub working_dir: Option<String>,
    /// Ports it listens on.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<ContainerPort>,
    /// ConfigMaps and Secrets whose entries become variables.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub env_from: Vec<EnvFromSource>,
    /// Variables.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Requests and limits.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub resources: ResourceRequirements,
    /// Volumes and where they appear.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub volume_mounts: Vec<VolumeMount>,
    /// Block devices and where they appear.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub volume_devices: Vec<VolumeDevice>,
    /// Whether it must be restarted.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub liveness_probe: Option<Probe>,
    /// Whether it is ready.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub readiness_probe: Option<Probe>,
    /// Whether it has started.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub startup_probe: Option<Probe>,
    /// What happens after its start and before its end.
    #[serde(deserialize_with = "crate::wire::kubernetes::optional", skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// The file that explains its end.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub termination_message_path: Option<String>,
    /// What to read if that file is empty.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub termination_message_policy: Option<String>,
    /// When the image is pulled.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub image_pull_policy: Option<String>,
    /// Security settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<SecurityContext>,
    /// Whether it has a standard input.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub stdin: Option<bool>,
    /// Whether the standard input closes after the first session.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub stdin_once: Option<bool>,
    /// Whether it has a terminal.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub tty: Option<bool>,
    /// The text of a program, instead of a command.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub script: Option<String>,
    /// Workspaces it sees besides the steps that name them.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<WorkspaceUsage>,
    /// `Always` makes it a native sidecar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_policy: Option<String>,
}
}
