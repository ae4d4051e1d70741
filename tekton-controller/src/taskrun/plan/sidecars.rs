//! Stops what still runs in the pod of a run that has ended.
//!
//! Upstream counterpart: `stopSidecars` in `pkg/reconciler/taskrun/taskrun.go`.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ContainerState, ContainerStateTerminated, ContainerStatus, Pod};
use tekton_api::condition::Condition;
use tekton_api::config::ResultsFrom;
use tekton_api::reasons::TaskRunReason;
use tekton_api::v1::SidecarState;
use tekton_pod::{patch, status};

use super::super::draft::{Draft, End};
use crate::plan::{Answers, ApiFailure, Ask, ObjectRef, PassInput, Patch, ReconcileError, Waiting, decode};

/// What the API server says when an object was changed in the meantime.
const OUTDATED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// Ends the pass over a run that is done.
pub(in crate::taskrun) fn finish(
    draft: &mut Draft,
    before: Option<&Condition>,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<End, Waiting> {
    if input.config.features.enable_kubernetes_sidecar {
        match answers.ask(Ask::ServerVersion)? {
            Ok(version) if crate::server_version::has_native_sidecars(version) => {
                return Ok(draft.conclude(before, End::default()));
            }
            Ok(_) => {}
            Err(failure) => return Ok(End::error(ReconcileError::Transient(failure.message.clone()))),
        }
    }
    let end = stop(draft, input, answers)?;
    if end.error.is_some() || end.requeue.is_some() {
        return Ok(end);
    }
    Ok(draft.conclude(before, End::default()))
}

fn stop(draft: &mut Draft, input: &PassInput<'_>, answers: &Answers) -> Result<End, Waiting> {
    let pod_name = draft.status().pod_name;
    let reason = draft
        .condition()
        .map(|condition| condition.reason().to_owned())
        .unwrap_or_default();
    let is_stopped = [TaskRunReason::Cancelled, TaskRunReason::TimedOut]
        .iter()
        .any(|known| known.as_str() == reason);
    if pod_name.is_empty() || is_stopped {
        return Ok(End::default());
    }
    let namespace = draft.run.metadata.namespace.clone().unwrap_or_default();
    let target = ObjectRef::new("v1", "Pod", namespace, &pod_name);
    let failure = match stopped_pod(&target, input, answers)? {
        Ok(pod) => {
            let status = draft.status_mut();
            if status.sidecars.iter().any(|sidecar| sidecar.terminated.is_none()) {
                let containers = pod
                    .status
                    .and_then(|status| status.container_statuses)
                    .unwrap_or_default();
                status.sidecars = containers
                    .iter()
                    .filter(|one| status::containers::is_sidecar(&one.name))
                    .map(last_state)
                    .collect();
            }
            return Ok(End::default());
        }
        Err(failure) => failure,
    };
    if failure.is_not_found() {
        return Ok(End::error(ReconcileError::Permanent(failure.message)));
    }
    if failure.is_conflict() && failure.message.contains(OUTDATED) {
        return Ok(End {
            requeue: Some(Duration::from_secs(1)),
            error: None,
        });
    }
    draft.mark_failed(TaskRunReason::StopSidecarFailed, failure.message);
    Ok(End::default())
}

fn stopped_pod(
    target: &ObjectRef,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Result<Pod, ApiFailure>, Waiting> {
    let named = |text: &str, failure: &ApiFailure| ApiFailure {
        message: format!("error {text}: {}", failure.message),
        ..failure.clone()
    };
    let name = &target.name;
    let pod: Pod = match answers.ask(Ask::Get(target.clone()))? {
        Ok(object) => match decode(object) {
            Ok(pod) => pod,
            Err(failure) => return Ok(Err(failure)),
        },
        Err(failure) if failure.is_not_found() => return Ok(Err(failure.clone())),
        Err(failure) => {
            return Ok(Err(named(
                &format!("getting Pod \"{name}\" when stopping sidecars"),
                failure,
            )));
        }
    };
    let from_logs = input.config.features.results_from == ResultsFrom::SidecarLogs;
    let spared = from_logs.then_some(status::containers::RESULTS_SIDECAR);
    let Some(body) = patch::stop_sidecars(&pod, &input.images.nop, spared) else {
        return Ok(Ok(pod));
    };
    let ask = Ask::Patch {
        target: target.clone(),
        patch: Patch::Json(body),
        subresource: None,
    };
    Ok(match answers.ask(ask)? {
        Ok(object) => decode(object),
        Err(failure) if failure.is_not_found() => Err(failure.clone()),
        Err(failure) => Err(named(&format!("stopping sidecars of Pod \"{name}\""), failure)),
    })
}

/// The state of a sidecar: what it was before the `nop` image ended it.
fn last_state(container: &ContainerStatus) -> SidecarState {
    let ended = container
        .last_state
        .as_ref()
        .and_then(|state| state.terminated.as_ref());
    let state = match ended {
        Some(ended) => ContainerState {
            terminated: Some(ContainerStateTerminated {
                exit_code: ended.exit_code,
                reason: Some("Completed".to_owned()),
                message: Some("Sidecar container successfully stopped by nop image".to_owned()),
                started_at: ended.started_at.clone(),
                finished_at: ended.finished_at.clone(),
                container_id: ended.container_id.clone(),
                signal: None,
            }),
            ..ContainerState::default()
        },
        None => container.state.clone().unwrap_or_default(),
    };
    SidecarState {
        waiting: state.waiting,
        running: state.running,
        terminated: state.terminated,
        name: Some(status::containers::sidecar_name(&container.name).to_owned()),
        container: Some(container.name.clone()),
        image_id: status::containers::image_id(container),
    }
}
