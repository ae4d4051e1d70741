//! An init container that creates the steps' working directories below workspaces.
//!
//! Upstream counterpart: `pkg/pod/workingdir_init.go`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, SecurityContext};

use super::volumes;
use crate::contract::paths;
use crate::draft::StepDraft;
use crate::go_path;

/// Name of the init container.
pub(crate) const CONTAINER: &str = "working-dir-initializer";

/// The init container, if any working directory is relative or below `/workspace/`.
pub(crate) fn init_container(
    image: &str,
    steps: &[StepDraft<'_>],
    security_context: Option<SecurityContext>,
) -> Option<Container> {
    let named: BTreeSet<&str> = steps
        .iter()
        .filter_map(|step| step.container.working_dir.as_deref())
        .filter(|dir| !dir.is_empty())
        .collect();
    let dirs: Vec<String> = named
        .into_iter()
        .map(go_path::clean)
        .filter(|dir| !dir.starts_with('/') || dir.starts_with("/workspace/"))
        .map(Cow::into_owned)
        .collect();
    (!dirs.is_empty()).then(|| Container {
        name: CONTAINER.to_owned(),
        image: Some(image.to_owned()),
        command: Some(vec!["/ko-app/workingdirinit".to_owned()]),
        args: Some(dirs),
        working_dir: Some(paths::WORKSPACE_DIR.to_owned()),
        volume_mounts: Some(volumes::implicit_mounts().collect()),
        security_context,
        ..Container::default()
    })
}
