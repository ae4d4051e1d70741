//! The volumes of a pod as directories of the host, and what of them each container mounts.
//!
//! Content that comes from objects is computed by `payload` and written by `atomic`; here it is decided which kind a
//! volume is, where it lives and with which rights. Reading objects is left to the caller.

pub(super) mod atomic;
pub(super) mod payload;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Component, Path, PathBuf};

use k8s_openapi::api::core::v1::{Container, HostPathVolumeSource, Pod, Volume, VolumeMount};

use super::env::expand;
use super::wire::Bind;
use payload::{Inputs, payload};

/// A volume that is ready to be mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Where it is on the host.
    pub path: PathBuf,
    /// Nobody may write to it.
    pub read_only: bool,
    /// It is an empty directory of this pod; scripts are placed in such.
    pub scratch: bool,
}

/// Volumes of a pod by name.
pub(super) type Places = BTreeMap<String, Place>;

/// Makes all volumes of a pod, or brings those whose content may have changed up to date.
///
/// `claims` has the directory of each claim the pod uses. The error is what the pod's event says.
pub(super) fn provide(
    pod: &Pod,
    root: &Path,
    inputs: &Inputs<'_>,
    claims: &BTreeMap<String, PathBuf>,
) -> Result<Places, String> {
    let mut places = Places::new();
    let spec = pod.spec.as_ref();
    let group = spec
        .and_then(|spec| spec.security_context.as_ref())
        .and_then(|context| context.fs_group);
    for volume in spec.iter().flat_map(|spec| spec.volumes.iter().flatten()) {
        let place = provide_one(pod, volume, root, inputs, claims).map_err(|reason| {
            format!(
                "MountVolume.SetUp failed for volume \"{}\" : {reason}",
                volume.name
            )
        })?;
        if let Some(group) = group
            .and_then(|group| u32::try_from(group).ok())
            .filter(|_| !place.read_only && volume.host_path.is_none())
        {
            share_with_group(&place.path, group);
        }
        places.insert(volume.name.clone(), place);
    }
    Ok(places)
}

fn provide_one(
    pod: &Pod,
    volume: &Volume,
    root: &Path,
    inputs: &Inputs<'_>,
    claims: &BTreeMap<String, PathBuf>,
) -> Result<Place, String> {
    let path = root.join(&volume.name);
    if let Some(content) = payload(pod, volume, inputs)? {
        atomic::write(&path, &content).map_err(|e| e.to_string())?;
        return Ok(Place {
            path,
            read_only: true,
            scratch: false,
        });
    }
    if let Some(claim) = &volume.persistent_volume_claim {
        let path = claims
            .get(&claim.claim_name)
            .ok_or_else(|| format!("persistentvolumeclaim \"{}\" not found", claim.claim_name))?;
        open_directory(path)?;
        return Ok(Place {
            path: path.clone(),
            read_only: claim.read_only == Some(true),
            scratch: false,
        });
    }
    if let Some(host) = &volume.host_path {
        let path = host_path(host)?;
        return Ok(Place {
            path,
            read_only: false,
            scratch: false,
        });
    }
    if volume.empty_dir.is_some() || volume.ephemeral.is_some() || has_no_source(volume) {
        open_directory(&path)?;
        return Ok(Place {
            path,
            read_only: false,
            scratch: volume.ephemeral.is_none(),
        });
    }
    let kind = serde_json::to_value(volume)
        .ok()
        .and_then(|value| value.as_object()?.keys().find(|key| *key != "name").cloned())
        .unwrap_or_default();
    Err(match &volume.csi {
        Some(csi) => format!(
            "CSI driver {} is not available on this node: volumes of kind csi are not supported",
            csi.driver
        ),
        None => format!("volumes of kind {kind} are not supported on this node"),
    })
}

/// A volume without a source is an empty directory.
fn has_no_source(volume: &Volume) -> bool {
    *volume
        == Volume {
            name: volume.name.clone(),
            ..Volume::default()
        }
}

/// A directory in which any user of the pod may write.
fn open_directory(path: &Path) -> Result<(), String> {
    if path.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(path)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o777)))
        .map_err(|e| e.to_string())
}

/// Lets a group write to a volume, as far as this process may arrange that.
fn share_with_group(path: &Path, group: u32) {
    if chown(path, None, Some(group)).is_ok()
        && let Ok(facts) = fs::metadata(path)
    {
        fs::set_permissions(
            path,
            fs::Permissions::from_mode(facts.permissions().mode() | 0o2060),
        )
        .ok();
    }
}

fn host_path(wanted: &HostPathVolumeSource) -> Result<PathBuf, String> {
    let path = PathBuf::from(&wanted.path);
    let kind = wanted.type_.as_deref().unwrap_or_default();
    let failed = || {
        format!(
            "hostPath type check failed: {} is not a {}",
            wanted.path,
            kind.to_lowercase()
        )
    };
    match kind {
        "DirectoryOrCreate" => fs::create_dir_all(&path).map_err(|e| e.to_string())?,
        "FileOrCreate" if !path.exists() => fs::write(&path, "").map_err(|e| e.to_string())?,
        "Directory" if !path.is_dir() => return Err(failed()),
        "File" | "FileOrCreate" if !path.is_file() => return Err(failed()),
        "" if !path.exists() => fs::create_dir_all(&path).map_err(|e| e.to_string())?,
        _ if !path.exists() => return Err(failed()),
        _ => {}
    }
    fs::canonicalize(&path).map_err(|e| format!("{}: {e}", wanted.path))
}

/// What a container mounts, outer mount points first.
pub(super) fn binds(
    container: &Container,
    places: &Places,
    env: &[(String, String)],
) -> Result<Vec<Bind>, String> {
    let mut binds = container
        .volume_mounts
        .iter()
        .flatten()
        .map(|mount| {
            let place = places
                .get(&mount.name)
                .ok_or_else(|| format!("volume \"{}\" of a mount does not exist", mount.name))?;
            let target = lexical(&mount.mount_path)?;
            let source = part_of(place, mount, env)?;
            Ok(Bind {
                source,
                target,
                read_only: place.read_only || mount.read_only == Some(true),
            })
        })
        .collect::<Result<Vec<_>, String>>()?;
    binds.sort_by_key(|bind| bind.target.components().count());
    Ok(binds)
}

/// The mount path, absolute and without detours.
fn lexical(path: &str) -> Result<PathBuf, String> {
    let mut clean = PathBuf::from("/");
    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => clean.push(part),
            Component::ParentDir => return Err(format!("mount path {path} must not contain '..'")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Ok(clean)
}

/// The place of a mount's `subPath`, which is made when missing.
fn part_of(place: &Place, mount: &VolumeMount, env: &[(String, String)]) -> Result<PathBuf, String> {
    let expanded = mount.sub_path_expr.as_ref().map(|text| expand(text, env));
    let Some(part) = expanded
        .as_deref()
        .or(mount.sub_path.as_deref())
        .filter(|part| !part.is_empty())
    else {
        return Ok(place.path.clone());
    };
    if Path::new(part)
        .components()
        .any(|c| !matches!(c, Component::Normal(_) | Component::CurDir))
    {
        return Err(format!(
            "failed to create subPath directory for volumeMount \"{}\": invalid subPath {part}",
            mount.name
        ));
    }
    let path = place.path.join(part);
    if !path.exists() {
        let failed = |e: std::io::Error| {
            format!(
                "failed to create subPath directory for volumeMount \"{}\": {e}",
                mount.name
            )
        };
        fs::create_dir_all(&path).map_err(failed)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).map_err(failed)?;
    }
    // A link in the volume must not lead out of it.
    let real = fs::canonicalize(&path).map_err(|e| format!("subPath {part}: {e}"))?;
    let inside = fs::canonicalize(&place.path).is_ok_and(|root| real.starts_with(root));
    if inside {
        Ok(real)
    } else {
        Err(format!("subPath {part} leads out of volume \"{}\"", mount.name))
    }
}
