//! Cancels children, because the user asked for it or because time is over.
//!
//! Upstream counterparts: `pkg/reconciler/pipelinerun/cancel.go`, `timeout.go`.

use serde_json::{Value, json};
use tekton_api::condition::{Condition, ConditionStatus};
use tekton_api::reasons::PipelineRunReason;
use tekton_api::v1::{CANCELLED_BY_PIPELINE, CANCELLED_BY_PIPELINE_TIMEOUT};
use tekton_api::v1beta1::{CUSTOM_RUN_CANCELLED_BY_PIPELINE, CUSTOM_RUN_CANCELLED_BY_PIPELINE_TIMEOUT};

use super::draft::{Draft, Halt};
use super::timeouts::Timeouts;
use crate::plan::{Answers, Ask, ObjectRef, Patch, Waiting};

/// Why children are cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The run was cancelled.
    Cancelled,
    /// Time is over.
    TimedOut,
}

impl Cause {
    fn patch(self, custom: bool) -> Value {
        let (status, message) = match (self, custom) {
            (Self::Cancelled, false) => ("TaskRunCancelled", CANCELLED_BY_PIPELINE),
            (Self::TimedOut, false) => ("TaskRunCancelled", CANCELLED_BY_PIPELINE_TIMEOUT),
            (Self::Cancelled, true) => ("RunCancelled", CUSTOM_RUN_CANCELLED_BY_PIPELINE),
            (Self::TimedOut, true) => ("RunCancelled", CUSTOM_RUN_CANCELLED_BY_PIPELINE_TIMEOUT),
        };
        json!([
            {"op": "add", "path": "/spec/status", "value": status},
            {"op": "add", "path": "/spec/statusMessage", "value": message},
        ])
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Cancelled => "cancellation",
            Self::TimedOut => "timeout",
        }
    }
}

/// Patches the children of the named tasks, or all without names; returns what went wrong.
pub(super) fn children(
    draft: &Draft,
    cause: Cause,
    tasks: &[String],
    answers: &Answers,
) -> Result<Vec<String>, Waiting> {
    let mut errors = Vec::new();
    let mut unknown = Vec::new();
    let (mut task_runs, mut custom_runs) = (Vec::new(), Vec::new());
    for reference in &draft.status().child_references {
        let task = reference.pipeline_task_name.clone().unwrap_or_default();
        if !tasks.is_empty() && !tasks.contains(&task) {
            continue;
        }
        let name = reference.name.clone().unwrap_or_default();
        match reference.kind.as_deref().unwrap_or_default() {
            "TaskRun" => task_runs.push(name),
            "CustomRun" => custom_runs.push(name),
            other => unknown.push(format!("{name}:{other}")),
        }
    }
    if !unknown.is_empty() {
        unknown.sort();
        errors.push(format!(
            "found child objects of unknown kinds: map[{}]",
            unknown.join(" ")
        ));
    }
    let kinds = [
        ("TaskRun", "tekton.dev/v1", task_runs),
        ("CustomRun", "tekton.dev/v1beta1", custom_runs),
    ];
    let mut asks = Vec::new();
    for (kind, api_version, names) in kinds {
        for name in names {
            let target = ObjectRef::new(api_version, kind, draft.namespace(), name);
            let patch = Patch::Json(cause.patch(kind == "CustomRun"));
            asks.push(Ask::Patch {
                target,
                patch,
                subresource: None,
            });
        }
    }
    for (ask, answer) in asks.iter().zip(answers.all(&asks)?) {
        let (Ask::Patch { target, .. }, Err(failure)) = (ask, answer) else {
            continue;
        };
        // A child that is gone, or has ended and so cannot be changed, needs no cancelling.
        let immutable = failure
            .message
            .contains("Once the TaskRun is complete, no updates are allowed");
        if failure.is_not_found() || (immutable && target.kind == "TaskRun") {
            continue;
        }
        errors.push(format!(
            "failed to patch {} `{}` with {}: {}",
            target.kind,
            target.name,
            cause.verb(),
            failure.message
        ));
    }
    Ok(errors)
}

/// Cancels the run and all its children.
pub(super) fn run(draft: &mut Draft, answers: &Answers) -> Result<(), Halt> {
    gracefully(draft, answers)?;
    let message = format!("PipelineRun \"{}\" was cancelled", draft.name());
    draft.set_condition(Condition::succeeded(
        ConditionStatus::False,
        PipelineRunReason::Cancelled.as_str(),
        message,
    ));
    let now = draft.now();
    draft.status_mut().completion_time = Some(now);
    Ok(())
}

/// Cancels all children, but not the run: its finally tasks are still to come.
pub(super) fn gracefully(draft: &mut Draft, answers: &Answers) -> Result<(), Halt> {
    let errors = children(draft, Cause::Cancelled, &[], answers)?;
    if errors.is_empty() {
        return Ok(());
    }
    let (name, errors) = (draft.name().to_owned(), errors.join("\n"));
    let message = format!(
        "PipelineRun \"{name}\" was cancelled but had errors trying to cancel TaskRuns and/or Runs: {errors}"
    );
    let reason = PipelineRunReason::CouldntCancel;
    draft.set_condition(Condition::succeeded(
        ConditionStatus::Unknown,
        reason.as_str(),
        message,
    ));
    Err(Halt::transient(format!(
        "error(s) from cancelling TaskRun(s) from PipelineRun {name}: {errors}"
    )))
}

/// Ends the run because its time is over, and cancels all its children.
pub(super) fn time_out(draft: &mut Draft, timeouts: &Timeouts, answers: &Answers) -> Result<(), Halt> {
    let errors = children(draft, Cause::TimedOut, &[], answers)?;
    let name = draft.name().to_owned();
    if !errors.is_empty() {
        let errors = errors.join("\n");
        let message = format!(
            "PipelineRun \"{name}\" was timed out but had errors trying to time out TaskRuns and/or Runs: {errors}"
        );
        let reason = PipelineRunReason::CouldntTimeOut;
        draft.set_condition(Condition::succeeded(
            ConditionStatus::Unknown,
            reason.as_str(),
            message,
        ));
        return Err(Halt::transient(format!(
            "error(s) from timing out TaskRun(s) from PipelineRun {name}: {errors}"
        )));
    }
    let message = format!(
        "PipelineRun \"{name}\" failed to finish within \"{}\"",
        timeouts.pipeline
    );
    let reason = PipelineRunReason::TimedOut;
    draft.set_condition(Condition::succeeded(
        ConditionStatus::False,
        reason.as_str(),
        message,
    ));
    let now = draft.now();
    draft.status_mut().completion_time = Some(now);
    Ok(())
}

/// Cancels the running tasks of one kind whose time is over; the run goes on.
pub(super) fn time_out_tasks(draft: &Draft, tasks: &[String], answers: &Answers) -> Result<(), Halt> {
    if tasks.is_empty() {
        return Ok(());
    }
    let errors = children(draft, Cause::TimedOut, tasks, answers)?;
    if errors.is_empty() {
        return Ok(());
    }
    let text = format!(
        "error(s) from cancelling TaskRun(s) from PipelineRun {}: {}",
        draft.name(),
        errors.join("\n")
    );
    Err(Halt::transient(text))
}
