//! The order of a pass over a TaskRun.
//!
//! Each step either ends the pass or leaves it to the next; what they decide is in the modules they come from.
//! Upstream counterpart: `ReconcileKind` in `pkg/reconciler/taskrun/taskrun.go`.

use tekton_api::reasons::TaskRunReason;
use tekton_api::v1::{TaskRun, TaskRunStatus};

use super::draft::{Draft, End};
use super::plan::{cancel, pod_failure, sidecars, timeout};
use super::{create, observe, resolve};
use crate::plan::{Answers, Pass, PassInput, Waiting};

/// One pass over a TaskRun: its next status, events, and when to look again.
///
/// The function is pure. Where it needs something from the cluster it returns [`Waiting`]; called again with
/// the answers it comes further.
pub fn reconcile(
    seen: &TaskRun,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<Pass<TaskRunStatus>, Waiting> {
    let mut draft = Draft::new(seen, input);
    let end = advance(&mut draft, input, answers)?;
    Ok(draft.finish(end))
}

fn advance(draft: &mut Draft, input: &PassInput<'_>, answers: &Answers) -> Result<End, Waiting> {
    let before = draft.condition();
    if draft.status().start_time.is_none() && !draft.is_pending() {
        draft.start();
    }
    if draft.is_done() {
        return sidecars::finish(draft, before.as_ref(), input, answers);
    }
    if draft.is_cancelled() {
        let end = cancel::cancel(draft, before.as_ref(), input, answers)?;
        return Ok(draft.conclude(before.as_ref(), end));
    }
    if draft.is_pending() {
        draft.mark_ongoing(
            TaskRunReason::Pending,
            format!("TaskRun \"{}\" is pending", name(draft)),
        );
        return Ok(draft.conclude(before.as_ref(), End::default()));
    }
    if timeout::is_over(draft, input) {
        let end = timeout::fail(draft, before.as_ref(), input, answers)?;
        return Ok(draft.conclude(before.as_ref(), end));
    }
    if let Some(failure) = pod_failure::find(draft, input, answers)? {
        let end = cancel::fail(draft, &failure.reason, &failure.message, input, answers)?;
        return Ok(draft.conclude(before.as_ref(), end));
    }
    match resolve::resolve(draft, input, answers) {
        Ok(task) => work(draft, &task, input, answers),
        Err(halt) => {
            let end = draft.halt(halt)?;
            Ok(draft.conclude(None, end))
        }
    }
}

/// Brings the pod about and takes over what it tells.
fn work(
    draft: &mut Draft,
    task: &resolve::ResolvedTask,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<End, Waiting> {
    let before = draft.condition();
    let done = create::pod(draft, task, input, answers)
        .and_then(|pod| observe::observe(draft, &pod, task, input, answers));
    let end = match done {
        Ok(None) => End::default(),
        Ok(Some(observe::TooLarge { message })) => {
            let end = cancel::fail(
                draft,
                &TaskRunReason::ResultLargerThanAllowedLimit,
                &message,
                input,
                answers,
            )?;
            return Ok(draft.conclude(before.as_ref(), end));
        }
        Err(halt) => draft.halt(halt)?,
    };
    let end = draft.conclude(before.as_ref(), end);
    if end.error.is_some() || end.requeue.is_some() {
        return Ok(end);
    }
    Ok(End {
        requeue: timeout::left(draft, input),
        error: None,
    })
}

fn name(draft: &Draft) -> String {
    draft.run.metadata.name.clone().unwrap_or_default()
}
