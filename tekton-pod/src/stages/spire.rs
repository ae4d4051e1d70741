//! The volume through which steps reach the SPIRE agent, where results are signed.
//!
//! Upstream counterpart: the spire part of `Builder.Build` in `pkg/pod/pod.go`, `pkg/spire/spire.go`.

use k8s_openapi::api::core::v1::{CSIVolumeSource, Container, Volume};

use super::volumes::read_only_mount;

const VOLUME: &str = "spiffe-workload-api";
const MOUNT_PATH: &str = "/spiffe-workload-api";
const DRIVER: &str = "csi.spiffe.io";

/// The volume.
pub(crate) fn volume() -> Volume {
    let source = CSIVolumeSource {
        driver: DRIVER.to_owned(),
        read_only: Some(true),
        ..CSIVolumeSource::default()
    };
    Volume {
        name: VOLUME.to_owned(),
        csi: Some(source),
        ..Volume::default()
    }
}

/// Mounts it into a step or an init container.
pub(crate) fn mount_into(container: &mut Container) {
    container
        .volume_mounts
        .get_or_insert_default()
        .push(read_only_mount(VOLUME, MOUNT_PATH));
}
