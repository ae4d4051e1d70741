//! Questions asked of a single container status, and the order in which statuses are looked at.
//!
//! Names with the prefix `step-` are steps, with `sidecar-` sidecars; all else was injected.
//! Upstream counterpart: `pkg/pod/entrypoint.go` (names), `pkg/pod/status.go`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Container, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting, ContainerStatus, Pod,
};

/// Prefix of the containers that run steps.
pub const STEP_PREFIX: &str = "step-";
/// Prefix of the containers that run sidecars.
pub const SIDECAR_PREFIX: &str = "sidecar-";
/// The container that prints results to its log, where results come from logs.
pub const RESULTS_SIDECAR: &str = "sidecar-tekton-log-results";

const OOM_KILLED: &str = "OOMKilled";

/// True if a container of this name runs a step.
pub fn is_step(container: &str) -> bool {
    container.starts_with(STEP_PREFIX)
}

/// True if a container of this name runs a sidecar of the Task.
pub fn is_sidecar(container: &str) -> bool {
    container.starts_with(SIDECAR_PREFIX)
}

/// The step a container runs: its name without prefix.
pub fn step_name(container: &str) -> &str {
    container.strip_prefix(STEP_PREFIX).unwrap_or(container)
}

/// The sidecar a container runs: its name without prefix.
pub fn sidecar_name(container: &str) -> &str {
    container.strip_prefix(SIDECAR_PREFIX).unwrap_or(container)
}

/// The container that runs a step: `step-NAME`, or `step-unnamed-INDEX` for one without name.
pub fn step_container(name: &str, index: usize) -> String {
    if name.is_empty() {
        format!("{STEP_PREFIX}unnamed-{index}")
    } else {
        format!("{STEP_PREFIX}{name}")
    }
}

/// The terminated state, if the container has ended.
pub fn terminated(status: &ContainerStatus) -> Option<&ContainerStateTerminated> {
    status.state.as_ref()?.terminated.as_ref()
}

/// The running state, if the container runs.
pub fn running(status: &ContainerStatus) -> Option<&ContainerStateRunning> {
    status.state.as_ref()?.running.as_ref()
}

/// The waiting state, if the container has not started.
pub fn waiting(status: &ContainerStatus) -> Option<&ContainerStateWaiting> {
    status.state.as_ref()?.waiting.as_ref()
}

/// The image by digest, if it is known.
pub fn image_id(status: &ContainerStatus) -> Option<String> {
    Some(status.image_id.clone()).filter(|id| !id.is_empty())
}

/// True if the container ended because it was out of memory.
pub fn is_oom_killed(status: &ContainerStatus) -> bool {
    terminated(status).is_some_and(|state| state.reason.as_deref() == Some(OOM_KILLED))
}

/// True if the container ended with a code other than 0.
pub fn has_failed(status: &ContainerStatus) -> bool {
    terminated(status).is_some_and(|state| state.exit_code != 0)
}

/// Statuses of the ordinary containers, as reported.
pub fn container_statuses(pod: &Pod) -> &[ContainerStatus] {
    pod.status
        .as_ref()
        .and_then(|status| status.container_statuses.as_deref())
        .unwrap_or_default()
}

/// Statuses of the init containers, native sidecars among them.
pub fn init_container_statuses(pod: &Pod) -> &[ContainerStatus] {
    pod.status
        .as_ref()
        .and_then(|status| status.init_container_statuses.as_deref())
        .unwrap_or_default()
}

/// The phase of the pod; empty if it has none yet.
pub fn phase(pod: &Pod) -> &str {
    pod.status
        .as_ref()
        .and_then(|status| status.phase.as_deref())
        .unwrap_or_default()
}

/// The reported statuses in the order of the pod's containers.
///
/// The list keeps its length: the place of a container that reports nothing holds an empty status, which
/// is neither step nor sidecar.
pub fn in_container_order(statuses: &[ContainerStatus], containers: &[Container]) -> Vec<ContainerStatus> {
    let by_name: BTreeMap<&str, &ContainerStatus> = statuses
        .iter()
        .map(|status| (status.name.as_str(), status))
        .collect();
    let mut ordered = statuses.to_vec();
    for (place, container) in ordered.iter_mut().zip(containers) {
        *place = by_name
            .get(container.name.as_str())
            .map(|status| (*status).clone())
            .unwrap_or_default();
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> ContainerStatus {
        ContainerStatus {
            name: name.to_owned(),
            ..ContainerStatus::default()
        }
    }

    #[test]
    fn statuses_follow_the_containers() {
        let containers = ["a", "b"].map(|name| Container {
            name: name.to_owned(),
            ..Container::default()
        });
        let names = |reported: &[&str]| -> Vec<String> {
            let reported: Vec<ContainerStatus> = reported.iter().map(|name| named(name)).collect();
            in_container_order(&reported, &containers)
                .into_iter()
                .map(|status| status.name)
                .collect()
        };
        assert_eq!(names(&["b", "a"]), ["a", "b"]);
        assert_eq!(names(&["b"]), [""]);
        assert_eq!(names(&["x", "b", "y"]), ["", "b", "y"]);
    }

    #[test]
    fn names_of_containers() {
        assert_eq!(step_container("", 2), "step-unnamed-2");
        assert_eq!(step_container("a", 2), "step-a");
        assert_eq!(step_name("step-a"), "a");
        assert_eq!(sidecar_name("istio"), "istio");
    }
}
