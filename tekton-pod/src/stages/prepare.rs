//! The first init container: copies the entrypoint to where the steps find it, and makes a directory for
//! each step.
//!
//! Upstream counterpart: `entrypointInitContainer` in `pkg/pod/pod.go`.

use k8s_openapi::api::core::v1::{Container, SecurityContext};
use tekton_api::names;

use super::volumes::{self, mount};
use crate::contract::paths;
use crate::draft::StepDraft;

/// Name of the init container.
pub(crate) const CONTAINER: &str = "prepare";

/// The init container for these steps.
pub(crate) fn init_container(
    image: &str,
    steps: &[StepDraft<'_>],
    security_context: Option<SecurityContext>,
) -> Container {
    let fixed = [
        "/ko-app/entrypoint",
        "init",
        "/ko-app/entrypoint",
        paths::ENTRYPOINT,
    ]
    .map(str::to_owned);
    let step_names = steps
        .iter()
        .enumerate()
        .map(|(index, step)| names::step_name(&step.container.name, index));
    Container {
        name: CONTAINER.to_owned(),
        image: Some(image.to_owned()),
        command: Some(fixed.into_iter().chain(step_names).collect()),
        // The image's own directory may be closed to the user that the pod runs as.
        working_dir: Some("/".to_owned()),
        volume_mounts: Some(vec![
            mount(volumes::BIN, paths::BIN_DIR),
            mount(volumes::STEPS, paths::STEPS_DIR),
        ]),
        security_context,
        ..Container::default()
    }
}
