//! Containers that run next to the steps.
//!
//! Upstream counterpart: `Sidecar` in `pkg/apis/pipeline/v1/container_types.go`.

use k8s_openapi::api::core::v1::{
    Container, ContainerPort, EnvFromSource, EnvVar, Lifecycle, Probe, ResourceRequirements, SecurityContext,
    VolumeDevice, VolumeMount,
};

use super::WorkspaceUsage;
use super::step::filled;
use crate::wire::wire_struct;

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
    pub compute_resources: ResourceRequirements,
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

impl Sidecar {
    /// The Kubernetes container with the fields both have.
    pub fn to_container(&self) -> Container {
        Container {
            name: self.name.clone(),
            image: self.image.clone(),
            command: filled(&self.command),
            args: filled(&self.args),
            working_dir: self.working_dir.clone(),
            ports: filled(&self.ports),
            env_from: filled(&self.env_from),
            env: filled(&self.env),
            resources: Some(self.compute_resources.clone()),
            volume_mounts: filled(&self.volume_mounts),
            volume_devices: filled(&self.volume_devices),
            liveness_probe: self.liveness_probe.clone(),
            readiness_probe: self.readiness_probe.clone(),
            startup_probe: self.startup_probe.clone(),
            lifecycle: self.lifecycle.clone(),
            termination_message_path: self.termination_message_path.clone(),
            termination_message_policy: self.termination_message_policy.clone(),
            image_pull_policy: self.image_pull_policy.clone(),
            security_context: self.security_context.clone(),
            stdin: self.stdin,
            stdin_once: self.stdin_once,
            tty: self.tty,
            restart_policy: self.restart_policy.clone(),
            ..Container::default()
        }
    }

    /// Takes the fields both have over from a Kubernetes container.
    pub fn set_container_fields(&mut self, container: Container) {
        self.name = container.name;
        self.image = container.image;
        self.command = container.command.unwrap_or_default();
        self.args = container.args.unwrap_or_default();
        self.working_dir = container.working_dir;
        self.ports = container.ports.unwrap_or_default();
        self.env_from = container.env_from.unwrap_or_default();
        self.env = container.env.unwrap_or_default();
        self.compute_resources = container.resources.unwrap_or_default();
        self.volume_mounts = container.volume_mounts.unwrap_or_default();
        self.volume_devices = container.volume_devices.unwrap_or_default();
        self.liveness_probe = container.liveness_probe;
        self.readiness_probe = container.readiness_probe;
        self.startup_probe = container.startup_probe;
        self.lifecycle = container.lifecycle;
        self.termination_message_path = container.termination_message_path;
        self.termination_message_policy = container.termination_message_policy;
        self.image_pull_policy = container.image_pull_policy;
        self.security_context = container.security_context;
        self.stdin = container.stdin;
        self.stdin_once = container.stdin_once;
        self.tty = container.tty;
        self.restart_policy = container.restart_policy;
    }
}
