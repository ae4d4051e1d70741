//! Mounts of workspaces that all steps and sidecars share.

use k8s_openapi::api::core::v1::VolumeMount;
use tekton_api::v1::{TaskSpec, WorkspaceBinding, WorkspaceDeclaration};

/// The mount that a declaration and a binding make together.
pub(super) fn mount(
    declared: &WorkspaceDeclaration,
    binding: &WorkspaceBinding,
    volume: &str,
) -> VolumeMount {
    VolumeMount {
        name: volume.to_owned(),
        mount_path: declared.mount_path(),
        sub_path: binding.sub_path.clone().filter(|path| !path.is_empty()),
        read_only: declared.read_only.filter(|read_only| *read_only),
        ..VolumeMount::default()
    }
}

/// Mounts into all steps, by way of the step template, and into the sidecars that have nothing there yet.
pub(super) fn share(spec: &mut TaskSpec, mount: &VolumeMount) {
    spec.step_template
        .get_or_insert_default()
        .volume_mounts
        .push(mount.clone());
    for sidecar in &mut spec.sidecars {
        if !sidecar
            .volume_mounts
            .iter()
            .any(|own| own.mount_path == mount.mount_path)
        {
            sidecar.volume_mounts.push(mount.clone());
        }
    }
}
