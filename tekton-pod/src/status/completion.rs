//! Decides whether a pod has done all that its TaskRun asked for, and whether that failed.
//!
//! A pod may count as complete while containers still run: sidecars are not waited for, and a step killed
//! for want of memory ends the run at once. Upstream counterpart: `pkg/pod/status.go`.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};

use super::containers::{
    container_statuses, has_failed, init_container_statuses, is_oom_killed, is_step, phase, running,
    terminated,
};

/// Which containers besides the steps have to end before the run is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitFor<'a> {
    /// The container that prints results to its log, where results come from logs.
    pub results_sidecar: Option<&'a str>,
    /// All init containers, because native sidecars are among them.
    pub init_containers: bool,
}

/// True once nothing of interest runs in the pod any more.
pub fn is_complete(pod: &Pod, statuses: &[ContainerStatus], wait_for: WaitFor<'_>) -> bool {
    let ended = have_ended(pod, statuses, wait_for.results_sidecar) || is_pod_done(pod, statuses);
    ended && (!wait_for.init_containers || init_containers_done(pod))
}

/// True if the pod, or one of its steps, failed.
pub fn did_fail(pod: &Pod, statuses: &[ContainerStatus]) -> bool {
    phase(pod) == "Failed"
        || statuses
            .iter()
            .any(|status| is_step(&status.name) && (has_failed(status) || is_oom_killed(status)))
}

/// True if every sidecar, injected ones included, is ready or has ended: the first step may start.
pub fn sidecars_ready(pod: &Pod) -> bool {
    phase(pod) == "Running"
        && container_statuses(pod)
            .iter()
            .filter(|status| !is_step(&status.name))
            .all(|status| (running(status).is_some() && status.ready) || terminated(status).is_some())
}

/// True if the scheduler found no node with enough of something.
pub fn exceeds_node_resources(pod: &Pod) -> bool {
    let conditions = pod
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_deref())
        .unwrap_or_default();
    conditions.iter().any(|condition| {
        condition.reason.as_deref() == Some("Unschedulable")
            && condition
                .message
                .as_deref()
                .is_some_and(|message| message.contains("Insufficient"))
    })
}

fn have_ended(pod: &Pod, statuses: &[ContainerStatus], results_sidecar: Option<&str>) -> bool {
    matches!(phase(pod), "Running" | "Succeeded")
        && !statuses.is_empty()
        && statuses
            .iter()
            .filter(|status| is_step(&status.name) || Some(status.name.as_str()) == results_sidecar)
            .all(|status| terminated(status).is_some())
}

fn is_pod_done(pod: &Pod, statuses: &[ContainerStatus]) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
        || statuses
            .iter()
            .any(|status| is_step(&status.name) && is_oom_killed(status))
}

/// In a failed pod nothing else will run, so there is nothing to wait for.
fn init_containers_done(pod: &Pod) -> bool {
    let statuses = init_container_statuses(pod);
    match phase(pod) {
        "Failed" => true,
        "Running" | "Succeeded" => {
            !statuses.is_empty() && statuses.iter().all(|status| terminated(status).is_some())
        }
        _ => false,
    }
}
