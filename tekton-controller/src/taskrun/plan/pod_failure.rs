//! Finds containers that will never start: images that cannot be pulled, configuration that is wrong.
//!
//! Some errors are given time to go away, counted from when the pod was ready to start containers.
//! Upstream counterpart: `checkPodFailed` in `pkg/reconciler/taskrun/taskrun.go`.

use k8s_openapi::api::core::v1::{ContainerStateWaiting, Pod};
use k8s_openapi::jiff::SignedDuration;
use tekton_api::duration::Duration;
use tekton_api::reasons::TaskRunReason;
use tekton_api::v1::{SidecarState, StepState};

use super::super::draft::Draft;
use crate::plan::{Answers, Ask, ObjectRef, PassInput, Waiting, decode};

const IMAGE_PULL_BACK_OFF: &str = "ImagePullBackOff";
const INVALID_IMAGE_NAME: &str = "InvalidImageName";
const CONFIG_ERROR: &str = "CreateContainerConfigError";
const CREATE_ERROR: &str = "CreateContainerError";
/// Conditions of a pod that start the grace period.
const READY_TO_START: [&str; 2] = ["Initialized", "PodReadyToStartContainers"];

/// Why the run fails.
pub(in crate::taskrun) struct PodFailure {
    pub(in crate::taskrun) reason: TaskRunReason,
    pub(in crate::taskrun) message: String,
}

struct Container<'a> {
    kind: &'static str,
    name: &'a str,
    image: &'a str,
    waiting: &'a ContainerStateWaiting,
}

/// The first step, or else sidecar, that will not start.
pub(in crate::taskrun) fn find(
    draft: &Draft,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Option<PodFailure>, Waiting> {
    let Some(status) = &draft.run.status else {
        return Ok(None);
    };
    let steps = status.steps.iter().filter_map(of_step);
    let sidecars = status.sidecars.iter().filter_map(of_sidecar);
    for container in steps.chain(sidecars) {
        if let Some(failure) = check(draft, &container, input, answers)? {
            return Ok(Some(failure));
        }
    }
    Ok(None)
}

fn of_step(state: &StepState) -> Option<Container<'_>> {
    container(
        "step",
        state.waiting.as_ref(),
        state.name.as_deref(),
        state.image_id.as_deref(),
    )
}

fn of_sidecar(state: &SidecarState) -> Option<Container<'_>> {
    container(
        "sidecar",
        state.waiting.as_ref(),
        state.name.as_deref(),
        state.image_id.as_deref(),
    )
}

fn container<'a>(
    kind: &'static str,
    waiting: Option<&'a ContainerStateWaiting>,
    name: Option<&'a str>,
    image: Option<&'a str>,
) -> Option<Container<'a>> {
    Some(Container {
        kind,
        name: name.unwrap_or_default(),
        image: image.unwrap_or_default(),
        waiting: waiting?,
    })
}

fn check(
    draft: &Draft,
    container: &Container<'_>,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Option<PodFailure>, Waiting> {
    let run = draft.run.metadata.name.as_deref().unwrap_or_default();
    let Container {
        kind,
        name,
        image,
        waiting,
    } = container;
    let text = waiting.message.as_deref().unwrap_or_default();
    let reason = waiting.reason.as_deref().unwrap_or_default();
    let pull = format!("the {kind} \"{name}\" in TaskRun \"{run}\" failed to pull the image \"{image}\".");
    let start = format!("the {kind} \"{name}\" in TaskRun \"{run}\" failed to start.");
    let defaults = &input.config.defaults;
    let grace = match reason {
        IMAGE_PULL_BACK_OFF => defaults.image_pull_back_off_timeout,
        CONFIG_ERROR | CREATE_ERROR if text.contains("context deadline exceeded") => {
            defaults.create_container_error_timeout
        }
        _ => Duration::ZERO,
    };
    let (head, reason) = match reason {
        IMAGE_PULL_BACK_OFF | INVALID_IMAGE_NAME => (pull, TaskRunReason::ImagePullFailed),
        CONFIG_ERROR => (start, TaskRunReason::CreateContainerConfigError),
        CREATE_ERROR => (start, TaskRunReason::PodCreationFailed),
        _ => return Ok(None),
    };
    if !grace.is_zero() {
        let is_pull = reason == TaskRunReason::ImagePullFailed;
        match in_grace(draft, SignedDuration::from(grace), is_pull, answers)? {
            Ok(true) => return Ok(None),
            Ok(false) => {}
            Err(error) => {
                let reason = match reason {
                    TaskRunReason::CreateContainerConfigError => TaskRunReason::PodCreationFailed,
                    other => other,
                };
                let message = format!("{head} Failed to get pod with error: \"{error}.\"");
                return Ok(Some(PodFailure { reason, message }));
            }
        }
    }
    Ok(Some(PodFailure {
        reason,
        message: format!("{head} The pod errored with the message: \"{text}.\""),
    }))
}

/// Whether the pod became ready to start its containers less than `grace` ago; the text says why it cannot be told.
fn in_grace(
    draft: &Draft,
    grace: SignedDuration,
    is_pull: bool,
    answers: &Answers,
) -> Result<Result<bool, String>, Waiting> {
    let namespace = draft.run.metadata.namespace.clone().unwrap_or_default();
    let pod_name = draft.status().pod_name;
    let target = ObjectRef::new("v1", "Pod", namespace, pod_name);
    let pod: Pod = match answers.ask(if is_pull {
        Ask::Get(target)
    } else {
        Ask::Cached(target)
    })? {
        Ok(object) => match decode(object) {
            Ok(pod) => pod,
            Err(failure) => return Ok(Err(failure.message)),
        },
        Err(failure) => return Ok(Err(failure.message.clone())),
    };
    let conditions = pod
        .status
        .and_then(|status| status.conditions)
        .unwrap_or_default();
    Ok(Ok(conditions
        .iter()
        .filter(|condition| READY_TO_START.contains(&condition.type_.as_str()))
        .filter_map(|condition| condition.last_transition_time.as_ref())
        .any(|time| draft.now().duration_since(time.0) < grace)))
}
