//! Workspaces that only those steps and sidecars see which ask for them.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::VolumeMount;
use tekton_api::v1::{TaskSpec, WorkspaceUsage};

/// Names of the workspaces that some step or sidecar asks for.
pub(super) fn names(spec: &TaskSpec) -> BTreeSet<String> {
    let steps = spec.steps.iter().flat_map(|step| &step.workspaces);
    let sidecars = spec.sidecars.iter().flat_map(|sidecar| &sidecar.workspaces);
    steps.chain(sidecars).map(|usage| usage.name.clone()).collect()
}

/// Mounts a workspace where it is asked for.
pub(super) fn mount(spec: &mut TaskSpec, workspace: &str, mount: &VolumeMount) {
    for step in &mut spec.steps {
        step.volume_mounts
            .extend(requested(&step.workspaces, workspace, mount));
    }
    for sidecar in &mut spec.sidecars {
        sidecar
            .volume_mounts
            .extend(requested(&sidecar.workspaces, workspace, mount));
    }
}

fn requested(usages: &[WorkspaceUsage], workspace: &str, mount: &VolumeMount) -> Option<VolumeMount> {
    let usage = usages.iter().find(|usage| usage.name == workspace)?;
    let mut mount = mount.clone();
    if !usage.mount_path.is_empty() {
        mount.mount_path.clone_from(&usage.mount_path);
    }
    Some(mount)
}
