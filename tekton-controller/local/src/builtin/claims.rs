//! Binds every PersistentVolumeClaim at once to a directory of this machine.
//!
//! The directory is made for the claim, kept as long as the claim, and shown as a PersistentVolume of that path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::{
    HostPathVolumeSource, ObjectReference, PersistentVolume, PersistentVolumeClaim,
    PersistentVolumeClaimStatus, PersistentVolumeSpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;

use crate::node::objects_watch::{Change, watch_all};

/// The directory of a claim below `root`.
pub fn directory(root: &Path, claim: &PersistentVolumeClaim) -> PathBuf {
    root.join(volume_name(claim))
}

fn volume_name(claim: &PersistentVolumeClaim) -> String {
    format!("pvc-{}", claim.metadata.uid.as_deref().unwrap_or_default())
}

/// The directory behind a claim: of its own, or that of the volume which the claim asks for.
///
/// # Errors
/// Fails if the cluster does not answer.
pub async fn place(
    client: &Client,
    root: &Path,
    claim: &PersistentVolumeClaim,
) -> Result<PathBuf, kube::Error> {
    let Some(wanted) = foreign_volume(claim) else {
        return Ok(directory(root, claim));
    };
    let volumes: Api<PersistentVolume> = Api::all(client.clone());
    let path = volumes
        .get_opt(wanted)
        .await?
        .and_then(|volume| volume.spec?.host_path);
    Ok(path.map_or_else(|| directory(root, claim), |host| PathBuf::from(host.path)))
}

/// The volume that a claim asks for by name, if it is none of ours.
fn foreign_volume(claim: &PersistentVolumeClaim) -> Option<&str> {
    let wanted = claim.spec.as_ref()?.volume_name.as_deref()?;
    (!wanted.is_empty() && wanted != volume_name(claim)).then_some(wanted)
}

/// Binds claims and clears away the directories of deleted ones; runs until dropped.
pub async fn run(client: Client, root: PathBuf) {
    let mut known: BTreeMap<String, PathBuf> = BTreeMap::new();
    let claims: Api<PersistentVolumeClaim> = Api::all(client.clone());
    let mut changes = std::pin::pin!(watch_all(claims));
    while let Some(change) = futures::StreamExt::next(&mut changes).await {
        match change {
            Change::Applied(claim) => {
                let dir = directory(&root, &claim);
                known.insert(claim.metadata.uid.clone().unwrap_or_default(), dir.clone());
                if let Err(error) = bind(&client, &claim, &dir).await {
                    tracing::warn!(claim = claim.metadata.name.as_deref(), %error, "a claim could not be bound");
                }
            }
            Change::Deleted(claim) => {
                if let Some(dir) = known.remove(claim.metadata.uid.as_deref().unwrap_or_default()) {
                    let volumes: Api<PersistentVolume> = Api::all(client.clone());
                    volumes
                        .delete(&volume_name(&claim), &DeleteParams::default())
                        .await
                        .ok();
                    tokio::task::spawn_blocking(move || crate::node::state_dir::remove_tree(&dir));
                }
            }
        }
    }
}

async fn bind(client: &Client, claim: &PersistentVolumeClaim, dir: &Path) -> Result<(), kube::Error> {
    let bound = claim.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Bound");
    let (Some(name), Some(namespace)) = (
        claim.metadata.name.as_deref(),
        claim.metadata.namespace.as_deref(),
    ) else {
        return Ok(());
    };
    if bound || claim.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    let volume_name = volume_name(claim);
    let spec = claim.spec.clone().unwrap_or_default();
    let capacity = spec.resources.and_then(|resources| resources.requests);
    let volume = PersistentVolume {
        metadata: ObjectMeta {
            name: Some(volume_name.clone()),
            ..ObjectMeta::default()
        },
        spec: Some(PersistentVolumeSpec {
            access_modes: spec.access_modes.clone(),
            capacity: capacity.clone(),
            claim_ref: Some(ObjectReference {
                api_version: Some("v1".to_owned()),
                kind: Some("PersistentVolumeClaim".to_owned()),
                name: Some(name.to_owned()),
                namespace: Some(namespace.to_owned()),
                uid: claim.metadata.uid.clone(),
                ..ObjectReference::default()
            }),
            host_path: Some(HostPathVolumeSource {
                path: dir.to_string_lossy().into_owned(),
                type_: Some("DirectoryOrCreate".to_owned()),
            }),
            persistent_volume_reclaim_policy: Some("Delete".to_owned()),
            storage_class_name: spec.storage_class_name.clone(),
            volume_mode: Some("Filesystem".to_owned()),
            ..PersistentVolumeSpec::default()
        }),
        status: None,
    };
    let volumes: Api<PersistentVolume> = Api::all(client.clone());
    let volume_name = if let Some(wanted) = foreign_volume(claim) {
        wanted.to_owned()
    } else {
        match volumes.create(&PostParams::default(), &volume).await {
            Err(kube::Error::Api(error)) if error.code == 409 => {}
            result => drop(result?),
        }
        volume_name
    };
    volumes
        .patch_status(
            &volume_name,
            &PatchParams::default(),
            &Patch::Merge(json!({ "status": { "phase": "Bound" } })),
        )
        .await?;
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(client.clone(), namespace);
    claims
        .patch(
            name,
            &PatchParams::default(),
            &Patch::Merge(json!({ "spec": { "volumeName": volume_name } })),
        )
        .await?;
    let status = PersistentVolumeClaimStatus {
        phase: Some("Bound".to_owned()),
        access_modes: spec.access_modes,
        capacity,
        ..PersistentVolumeClaimStatus::default()
    };
    claims
        .patch_status(
            name,
            &PatchParams::default(),
            &Patch::Merge(json!({ "status": status })),
        )
        .await?;
    Ok(())
}
