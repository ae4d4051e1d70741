//! What the stages work on: steps and sidecars half-way to being containers.

use k8s_openapi::api::core::v1::{Container, VolumeMount};
use tekton_api::v1::Step;

/// A step and the container it becomes.
#[derive(Clone, Debug)]
pub(crate) struct StepDraft<'a> {
    /// The step as specified; everything that is no container field is read from here.
    pub(crate) step: &'a Step,
    /// Its container so far.
    pub(crate) container: Container,
}

impl<'a> StepDraft<'a> {
    /// The step's script; empty if there is none.
    pub(crate) fn script(&self) -> &'a str {
        self.step.script.as_deref().unwrap_or_default()
    }

    /// The container's mounts.
    pub(crate) fn mounts(&mut self) -> &mut Vec<VolumeMount> {
        self.container.volume_mounts.get_or_insert_default()
    }

    /// True if the step, its template or its script gave it a command.
    pub(crate) fn has_command(&self) -> bool {
        self.container
            .command
            .as_ref()
            .is_some_and(|command| !command.is_empty())
    }
}

/// A sidecar and the container it becomes.
#[derive(Clone, Debug)]
pub(crate) struct SidecarDraft<'a> {
    /// The sidecar's script; empty if there is none.
    pub(crate) script: &'a str,
    /// Its container so far.
    pub(crate) container: Container,
}
