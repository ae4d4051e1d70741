//! The volumes of workspace bindings.

use k8s_openapi::api::core::v1::Volume;
use tekton_api::names;
use tekton_api::v1::WorkspaceBinding;

/// The volume of each binding, in order, named by a hash of the workspace. Bindings of one claim have the
/// same volume, since a pod must not attach a claim twice.
pub fn volumes(bindings: &[WorkspaceBinding]) -> Vec<Volume> {
    let names = names::workspace_volumes(bindings.iter().map(|binding| {
        let claim = binding.persistent_volume_claim.as_ref();
        (
            binding.name.as_str(),
            claim.map(|claim| claim.claim_name.as_str()),
        )
    }));
    bindings
        .iter()
        .zip(names)
        .map(|(binding, name)| volume(bindings, binding, name))
        .collect()
}

/// The first source that is set counts. For a claim it is that of the first binding of the claim.
fn volume(all: &[WorkspaceBinding], binding: &WorkspaceBinding, name: String) -> Volume {
    let mut volume = Volume {
        name,
        ..Volume::default()
    };
    if let Some(claim) = &binding.persistent_volume_claim {
        let first = all
            .iter()
            .filter_map(|other| other.persistent_volume_claim.as_ref())
            .find(|other| other.claim_name == claim.claim_name);
        volume.persistent_volume_claim = first.or(Some(claim)).cloned();
    } else if binding.empty_dir.is_some() {
        volume.empty_dir.clone_from(&binding.empty_dir);
    } else if binding.config_map.is_some() {
        volume.config_map.clone_from(&binding.config_map);
    } else if binding.secret.is_some() {
        volume.secret.clone_from(&binding.secret);
    } else if binding.projected.is_some() {
        volume.projected.clone_from(&binding.projected);
    } else {
        volume.csi.clone_from(&binding.csi);
    }
    volume
}
