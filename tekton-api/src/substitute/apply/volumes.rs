//! Substitution in volumes.
//!
//! Upstream counterpart: `pkg/reconciler/taskrun/resources/apply.go` (`applyVolumeReplacements`).

use k8s_openapi::api::core::v1::{KeyToPath, Volume};

use crate::substitute::Replacements;

/// Substitutes in the names a volume refers to.
pub fn volume(volume: &mut Volume, known: &Replacements) {
    known.apply_string(&mut volume.name);
    if let Some(config_map) = &mut volume.config_map {
        known.apply_string(&mut config_map.name);
        items(&mut config_map.items, known);
    }
    if let Some(secret) = &mut volume.secret {
        known.apply_option(&mut secret.secret_name);
        items(&mut secret.items, known);
    }
    if let Some(claim) = &mut volume.persistent_volume_claim {
        known.apply_string(&mut claim.claim_name);
    }
    for source in volume
        .projected
        .iter_mut()
        .flat_map(|projected| projected.sources.iter_mut().flatten())
    {
        if let Some(config_map) = &mut source.config_map {
            known.apply_string(&mut config_map.name);
        }
        if let Some(secret) = &mut source.secret {
            known.apply_string(&mut secret.name);
        }
        if let Some(token) = &mut source.service_account_token {
            known.apply_option(&mut token.audience);
        }
    }
    if let Some(csi) = &mut volume.csi {
        if let Some(secret) = &mut csi.node_publish_secret_ref {
            known.apply_string(&mut secret.name);
        }
        for value in csi
            .volume_attributes
            .iter_mut()
            .flat_map(std::collections::BTreeMap::values_mut)
        {
            known.apply_string(value);
        }
    }
}

/// Substitutes in the keys and paths of a ConfigMap or Secret.
pub(super) fn items(items: &mut Option<Vec<KeyToPath>>, known: &Replacements) {
    for item in items.iter_mut().flatten() {
        known.apply_string(&mut item.key);
        known.apply_string(&mut item.path);
    }
}
