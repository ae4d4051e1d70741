//! Mounts of the steps: those asked for, then one for credentials, one for the state of each step, and
//! those that all steps share, unless the step has put something of its own in that place.
//!
//! Upstream counterpart: the mount loop of `Builder.Build` in `pkg/pod/pod.go`.

use k8s_openapi::api::core::v1::VolumeMount;

use super::volumes::{self, CREDENTIALS_HOME, mount};
use crate::contract::paths;
use crate::draft::StepDraft;
use crate::go_path;

/// Mounts that are added to steps, prepared once.
#[derive(Clone, Debug)]
pub(crate) struct Mounts {
    shared: Vec<VolumeMount>,
    run_dirs: Vec<VolumeMount>,
}

impl Mounts {
    /// For this number of steps and the mounts of credential secrets.
    pub(crate) fn new(steps: usize, credentials: Vec<VolumeMount>) -> Self {
        let bin = volumes::read_only_mount(volumes::BIN, paths::BIN_DIR);
        let shared = [bin]
            .into_iter()
            .chain(volumes::implicit_mounts())
            .chain(credentials)
            .collect();
        let run_dir = |index: usize| {
            volumes::read_only_mount(
                format!("{}-{index}", volumes::RUN),
                format!("{}/{index}", paths::RUN_DIR),
            )
        };
        Self {
            shared,
            run_dirs: (0..steps).map(run_dir).collect(),
        }
    }

    /// The shared mounts whose place is not taken by one of these.
    fn shared_beside<'a>(&'a self, own: &[VolumeMount]) -> Vec<&'a VolumeMount> {
        let taken: Vec<_> = own
            .iter()
            .map(|mount| go_path::clean(&mount.mount_path))
            .collect();
        self.shared
            .iter()
            .filter(|shared| !taken.iter().any(|path| *path == shared.mount_path))
            .collect()
    }

    /// Mounts the state of the steps, writable only for step `writable`, then what all steps share, except
    /// where a container has mounted something else.
    pub(crate) fn add_to(&self, mounts: &mut Vec<VolumeMount>, writable: Option<usize>) {
        let shared = self.shared_beside(mounts);
        mounts.extend(
            self.run_dirs
                .iter()
                .enumerate()
                .map(|(index, run_dir)| VolumeMount {
                    read_only: (writable != Some(index)).then_some(true),
                    ..mount(run_dir.name.as_str(), run_dir.mount_path.as_str())
                }),
        );
        mounts.extend(shared.into_iter().cloned());
    }
}

/// Adds the mounts to every step.
pub(crate) fn add(steps: &mut [StepDraft<'_>], mounts: &Mounts, credentials_home: bool) {
    // All long lists are made before the many short texts, which keeps allocators from reordering those.
    let room = steps.len() + mounts.shared.len() + 1;
    for step in steps.iter_mut() {
        step.mounts().reserve_exact(room);
    }
    for (index, step) in steps.iter_mut().enumerate() {
        let own = step.mounts();
        if credentials_home {
            own.push(mount(
                format!("{CREDENTIALS_HOME}-{index}"),
                paths::CREDENTIALS_DIR,
            ));
        }
        mounts.add_to(own, Some(index));
    }
}
