//! Steps, and the template they share.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/container_types.go`.

use k8s_openapi::api::core::v1::{
    Container, EnvFromSource, EnvVar, ResourceRequirements, SecurityContext, VolumeDevice, VolumeMount,
};

use super::{Param, Ref, StepResult, WhenExpression, WorkspaceUsage};
use crate::duration::Duration;
use crate::wire::{open_enum, wire_struct};

open_enum! {
    /// What a failure means for what follows.
    pub enum OnError {
        /// The rest is skipped and the run fails.
        StopAndFail = "stopAndFail",
        /// The failure is recorded, and the rest goes on.
        Continue = "continue",
    }
}

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
    /// ConfigMaps and Secrets whose entries become variables.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub env_from: Vec<EnvFromSource>,
    /// Variables.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Requests and limits.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub compute_resources: ResourceRequirements,
    /// Volumes and where they appear.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub volume_mounts: Vec<VolumeMount>,
    /// Block devices and where they appear.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub volume_devices: Vec<VolumeDevice>,
    /// When the image is pulled.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub image_pull_policy: Option<String>,
    /// Security settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<SecurityContext>,
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
/// Where an output of a step goes as well.
pub struct StepOutputConfig {
    /// The file.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub path: Option<String>,
}
}

wire_struct! {
/// What all steps have in common unless they say otherwise.
pub struct StepTemplate {
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
    /// ConfigMaps and Secrets whose entries become variables.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub env_from: Vec<EnvFromSource>,
    /// Variables.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Requests and limits.
    #[serde(deserialize_with = "crate::wire::or_default")]
    pub compute_resources: ResourceRequirements,
    /// Volumes and where they appear.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub volume_mounts: Vec<VolumeMount>,
    /// Block devices and where they appear.
    #[serde(deserialize_with = "crate::wire::list", skip_serializing_if = "Vec::is_empty")]
    pub volume_devices: Vec<VolumeDevice>,
    /// When the image is pulled.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub image_pull_policy: Option<String>,
    /// Security settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<SecurityContext>,
}
}

macro_rules! container_fields {
    ($name:ident $(, $with_name:ident)?) => {
        impl $name {
            /// The Kubernetes container with the fields both have.
            pub fn to_container(&self) -> Container {
                Container {
                    $( $with_name: self.$with_name.clone(), )?
                    image: self.image.clone(),
                    command: filled(&self.command),
                    args: filled(&self.args),
                    working_dir: self.working_dir.clone(),
                    env_from: filled(&self.env_from),
                    env: filled(&self.env),
                    resources: Some(self.compute_resources.clone()),
                    volume_mounts: filled(&self.volume_mounts),
                    volume_devices: filled(&self.volume_devices),
                    image_pull_policy: self.image_pull_policy.clone(),
                    security_context: self.security_context.clone(),
                    ..Container::default()
                }
            }

            /// Takes the fields both have over from a Kubernetes container.
            pub fn set_container_fields(&mut self, container: Container) {
                $( self.$with_name = container.$with_name; )?
                self.image = container.image;
                self.command = container.command.unwrap_or_default();
                self.args = container.args.unwrap_or_default();
                self.working_dir = container.working_dir;
                self.env_from = container.env_from.unwrap_or_default();
                self.env = container.env.unwrap_or_default();
                self.compute_resources = container.resources.unwrap_or_default();
                self.volume_mounts = container.volume_mounts.unwrap_or_default();
                self.volume_devices = container.volume_devices.unwrap_or_default();
                self.image_pull_policy = container.image_pull_policy;
                self.security_context = container.security_context;
            }
        }
    };
}

container_fields!(Step, name);
container_fields!(StepTemplate);

/// The list, or nothing if it is empty.
pub(super) fn filled<T: Clone>(list: &[T]) -> Option<Vec<T>> {
    Some(list.to_vec()).filter(|list| !list.is_empty())
}
