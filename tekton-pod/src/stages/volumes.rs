//! The volumes that every pod has, and the small constructors the other stages share.
//!
//! Upstream counterpart: the variables at the head of `pkg/pod/pod.go` and `entrypoint.go`.

use k8s_openapi::api::core::v1::{
    DownwardAPIVolumeFile, DownwardAPIVolumeSource, EmptyDirVolumeSource, ObjectFieldSelector, Volume,
    VolumeMount,
};
use tekton_api::labels;

use crate::contract::paths;

/// Programs of the steps.
pub(crate) const BIN: &str = "tekton-internal-bin";
/// Annotations of the pod, as files.
pub(crate) const DOWNWARD: &str = "tekton-internal-downward";
/// Placed scripts.
pub(crate) const SCRIPTS: &str = "tekton-internal-scripts";
/// Placed debug scripts.
pub(crate) const DEBUG_SCRIPTS: &str = "tekton-internal-debug-scripts";
/// Which steps are held at a breakpoint.
pub(crate) const DEBUG_INFO: &str = "tekton-internal-debug-info";
/// State of one step, with its index.
pub(crate) const RUN: &str = "tekton-internal-run";
/// Step metadata.
pub(crate) const STEPS: &str = "tekton-internal-steps";
/// Credentials of one step, with its index.
pub(crate) const CREDENTIALS_HOME: &str = "tekton-creds-init-home";

/// Name, path and write protection of the volumes that all steps share.
const IMPLICIT: [(&str, &str, bool); 5] = [
    ("tekton-internal-workspace", paths::WORKSPACE_DIR, false),
    ("tekton-internal-home", paths::HOME_DIR, false),
    ("tekton-internal-results", paths::RESULTS_DIR, false),
    (STEPS, paths::STEPS_DIR, true),
    ("tekton-internal-artifacts", paths::ARTIFACTS_DIR, false),
];

/// Which of the volumes a pod has that not every pod needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// One for placed scripts.
    pub(crate) scripts: bool,
    /// Two for breakpoints.
    pub(crate) debug: bool,
    /// One for annotations of the pod.
    pub(crate) downward: bool,
    /// That one also shows cancellation.
    pub(crate) cancel: bool,
    /// One for the credentials of each step.
    pub(crate) credentials_home: bool,
    /// Number of steps; each has one for its state.
    pub(crate) steps: usize,
}

/// All volumes of a pod in order: Tekton's own, those of credential secrets, those of single steps, then
/// the declared ones. A volume is a large value, so the list is made once and has its final size.
pub(crate) fn all(wanted: &Wanted, credentials: Vec<Volume>, declared: [&[Volume]; 2]) -> Vec<Volume> {
    let room: usize = declared.iter().map(|volumes| volumes.len()).sum();
    let mut all = Vec::with_capacity(IMPLICIT.len() + credentials.len() + 6 + 2 * wanted.steps + room);
    all.extend(IMPLICIT.iter().map(|(name, ..)| empty_dir(*name)));
    all.extend(credentials);
    all.extend(wanted.scripts.then(|| empty_dir(SCRIPTS)));
    if wanted.debug {
        all.extend([DEBUG_SCRIPTS, DEBUG_INFO].map(empty_dir));
    }
    all.push(empty_dir(BIN));
    all.extend(wanted.downward.then(|| downward(wanted.cancel)));
    for index in 0..wanted.steps {
        if wanted.credentials_home {
            all.push(memory_dir(format!("{CREDENTIALS_HOME}-{index}")));
        }
        all.push(empty_dir(format!("{RUN}-{index}")));
    }
    for volumes in declared {
        all.extend_from_slice(volumes);
    }
    all
}

/// Where they are mounted.
pub(crate) fn implicit_mounts() -> impl Iterator<Item = VolumeMount> {
    IMPLICIT.iter().map(|(name, path, read_only)| VolumeMount {
        read_only: read_only.then_some(true),
        ..mount(*name, *path)
    })
}

/// A volume on the node's disk that lives as long as the pod.
fn empty_dir(name: impl Into<String>) -> Volume {
    Volume {
        name: name.into(),
        empty_dir: Some(EmptyDirVolumeSource::default()),
        ..Volume::default()
    }
}

/// The same in memory.
fn memory_dir(name: impl Into<String>) -> Volume {
    let source = EmptyDirVolumeSource {
        medium: Some("Memory".to_owned()),
        ..EmptyDirVolumeSource::default()
    };
    Volume {
        name: name.into(),
        empty_dir: Some(source),
        ..Volume::default()
    }
}

/// A writable mount.
pub(crate) fn mount(name: impl Into<String>, path: impl Into<String>) -> VolumeMount {
    VolumeMount {
        name: name.into(),
        mount_path: path.into(),
        ..VolumeMount::default()
    }
}

/// A read-only mount.
pub(crate) fn read_only_mount(name: impl Into<String>, path: impl Into<String>) -> VolumeMount {
    VolumeMount {
        read_only: Some(true),
        ..mount(name, path)
    }
}

/// The volume through which annotations reach the steps: readiness, and cancellation if `cancel`.
fn downward(cancel: bool) -> Volume {
    let file = |path: &str, annotation: &str| DownwardAPIVolumeFile {
        path: path.to_owned(),
        field_ref: Some(ObjectFieldSelector {
            field_path: format!("metadata.annotations['{annotation}']"),
            ..ObjectFieldSelector::default()
        }),
        ..DownwardAPIVolumeFile::default()
    };
    let mut items = vec![file("ready", labels::READY)];
    items.extend(cancel.then(|| file("cancel", labels::CANCEL)));
    Volume {
        name: DOWNWARD.to_owned(),
        downward_api: Some(DownwardAPIVolumeSource {
            items: Some(items),
            ..DownwardAPIVolumeSource::default()
        }),
        ..Volume::default()
    }
}
