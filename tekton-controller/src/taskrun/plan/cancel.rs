//! Fails a run and gets rid of its pod.
//!
//! Upstream counterpart: `failTaskRun`, `terminateStepsInPod` and `appendPreviousConditionContext` in
//! `pkg/reconciler/taskrun/taskrun.go`.

use k8s_openapi::api::core::v1::ContainerStateTerminated;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use tekton_api::condition::Condition;
use tekton_api::reasons::TaskRunReason;
use tekton_pod::patch;

use super::super::draft::{Draft, End};
use crate::plan::{Answers, Ask, ObjectRef, PassInput, Patch, ReconcileError, Waiting};

/// Cancels a run as its user wishes.
pub(in crate::taskrun) fn cancel(
    draft: &mut Draft,
    before: Option<&Condition>,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<End, Waiting> {
    let name = draft.run.metadata.name.clone().unwrap_or_default();
    let wish = draft.run.spec.status_message.clone().unwrap_or_default();
    let message = with_history(before, format!("TaskRun \"{name}\" was cancelled. {wish}"));
    fail(draft, &TaskRunReason::Cancelled, &message, input, answers)
}

/// Marks the run and its unfinished steps as failed, then deletes the pod, or tells it to stop if it is to be kept.
pub(in crate::taskrun) fn fail(
    draft: &mut Draft,
    reason: &TaskRunReason,
    message: &str,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<End, Waiting> {
    draft.mark_failed(reason.clone(), message);
    let now = Time(draft.now());
    let created = draft.run.metadata.creation_timestamp.clone();
    let status = draft.status_mut();
    status.completion_time = Some(now.clone());
    if status.pod_name.is_empty() {
        return Ok(End::default());
    }
    let pod_name = status.pod_name.clone();
    for step in &mut status.steps {
        let started_at = match (step.running.take(), step.waiting.take()) {
            (Some(running), _) => running.started_at,
            (None, Some(_)) => created.clone(),
            (None, None) => continue,
        };
        let name = step.name.as_deref().unwrap_or_default();
        step.terminated = Some(ContainerStateTerminated {
            exit_code: 1,
            started_at,
            finished_at: Some(now.clone()),
            reason: Some(reason.as_str().to_owned()),
            message: Some(format!("Step {name} terminated as pod {pod_name} is terminated")),
            ..ContainerStateTerminated::default()
        });
        step.termination_reason = Some(reason.as_str().to_owned());
    }
    let namespace = draft.run.metadata.namespace.clone().unwrap_or_default();
    let target = ObjectRef::new("v1", "Pod", namespace, pod_name);
    let is_stopped = matches!(reason, TaskRunReason::Cancelled | TaskRunReason::TimedOut);
    let ask = if is_stopped && input.config.features.enable_keep_pod_on_cancel {
        Ask::Patch {
            target,
            patch: Patch::Json(patch::cancel()),
            subresource: None,
        }
    } else {
        Ask::Delete(target)
    };
    match answers.ask(ask)? {
        Err(failure) if !failure.is_not_found() => {
            Ok(End::error(ReconcileError::Transient(failure.message.clone())))
        }
        _ => Ok(End::default()),
    }
}

/// The message, followed by what the condition said before if that was more than "it runs".
pub(in crate::taskrun) fn with_history(before: Option<&Condition>, message: String) -> String {
    let usual = [
        TaskRunReason::Started,
        TaskRunReason::Running,
        TaskRunReason::Pending,
    ];
    match before {
        Some(before)
            if !before.message().is_empty()
                && usual.iter().all(|reason| reason.as_str() != before.reason()) =>
        {
            format!(
                "{message}\nPrevious status: [{}] {}",
                before.reason(),
                before.message()
            )
        }
        _ => message,
    }
}
