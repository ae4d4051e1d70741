//! Finds out why a pod failed: the reason of the condition and the container to blame.
//!
//! The order of blame is a table: eviction, then containers out of memory, then plain failures; sidecars
//! before steps, since a crashed sidecar is likely the cause. Upstream counterpart: `pkg/pod/status.go`.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use tekton_api::reasons::TaskRunReason;

use super::containers::{
    has_failed, init_container_statuses, is_oom_killed, is_sidecar, is_step, terminated,
};
use crate::contract::result::ResultType;
use crate::contract::termination;
use tekton_api::quote::quote;

const EVICTED: &str = "Evicted";

/// Why a pod failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Reason for the run's condition.
    pub reason: TaskRunReason,
    /// Text for people.
    pub message: String,
}

struct Suspect {
    init: bool,
    matches: fn(&ContainerStatus) -> bool,
    reason: TaskRunReason,
}

/// Classifies the failure of a pod for which [`super::completion::did_fail`] holds.
pub fn classify(pod: &Pod, statuses: &[ContainerStatus]) -> Failure {
    let status = pod.status.as_ref();
    let pod_message = status
        .and_then(|status| status.message.clone())
        .unwrap_or_default();
    if status.and_then(|status| status.reason.as_deref()) == Some(EVICTED) {
        return Failure {
            reason: TaskRunReason::PodEvicted,
            message: pod_message,
        };
    }
    let blamed = blame(pod, statuses);
    let reason = blamed
        .as_ref()
        .map_or(TaskRunReason::Failed, |(suspect, _)| suspect.reason.clone());
    let message = blamed
        .and_then(|(suspect, container)| container_message(container).map(|text| (suspect.init, text)))
        .map(|(init, text)| {
            if init {
                format!("init container failed, {text}")
            } else {
                text
            }
        })
        .or(Some(pod_message).filter(|message| !message.is_empty()))
        .unwrap_or_else(|| fallback(statuses));
    Failure { reason, message }
}

fn blame<'a>(pod: &'a Pod, statuses: &'a [ContainerStatus]) -> Option<(Suspect, &'a ContainerStatus)> {
    let order = [
        Suspect {
            init: true,
            matches: |s| is_oom_killed(s) && is_sidecar(&s.name),
            reason: TaskRunReason::SidecarOom,
        },
        Suspect {
            init: true,
            matches: is_oom_killed,
            reason: TaskRunReason::InitContainerOom,
        },
        Suspect {
            init: true,
            matches: |s| has_failed(s) && is_sidecar(&s.name),
            reason: TaskRunReason::SidecarFailed,
        },
        Suspect {
            init: true,
            matches: has_failed,
            reason: TaskRunReason::InitContainerFailed,
        },
        Suspect {
            init: false,
            matches: |s| is_oom_killed(s) && is_sidecar(&s.name),
            reason: TaskRunReason::SidecarOom,
        },
        Suspect {
            init: false,
            matches: |s| is_oom_killed(s) && is_step(&s.name),
            reason: TaskRunReason::StepOom,
        },
        Suspect {
            init: false,
            matches: |s| has_failed(s) && is_sidecar(&s.name),
            reason: TaskRunReason::SidecarFailed,
        },
        Suspect {
            init: false,
            matches: |s| has_failed(s) && is_step(&s.name),
            reason: TaskRunReason::StepFailed,
        },
    ];
    order.into_iter().find_map(|suspect| {
        let among = if suspect.init {
            init_container_statuses(pod)
        } else {
            statuses
        };
        let found = among.iter().find(|status| (suspect.matches)(status))?;
        Some((suspect, found))
    })
}

fn container_message(status: &ContainerStatus) -> Option<String> {
    let state = terminated(status)?;
    let name = quote(&status.name);
    let written = termination::parse(state.message.as_deref().unwrap_or_default()).unwrap_or_default();
    let timed_out = written.iter().any(|entry| {
        entry.result_type == ResultType::InternalTekton
            && entry.key == "Reason"
            && entry.value == "TimeoutExceeded"
    });
    if timed_out {
        return Some(format!(
            "{name} exited because the step exceeded the specified timeout limit"
        ));
    }
    if state.exit_code == 0 {
        return None;
    }
    match state.reason.as_deref().unwrap_or_default() {
        "" => Some(format!("{name} exited with code {}", state.exit_code)),
        reason => Some(format!("{name} exited with code {}: {reason}", state.exit_code)),
    }
}

fn fallback(statuses: &[ContainerStatus]) -> String {
    let killed = |status: &ContainerStatus| {
        (is_step(&status.name) || is_sidecar(&status.name)) && is_oom_killed(status)
    };
    if statuses.iter().any(killed) {
        "OOMKilled".to_owned()
    } else {
        "build failed for unspecified reasons.".to_owned()
    }
}
