//! Tells when a run is out of time, and fails it then.
//!
//! Upstream counterpart: `HasTimedOut` in `pkg/apis/pipeline/v1/taskrun_types.go`.

use k8s_openapi::api::core::v1::Pod;
use tekton_api::condition::Condition;
use tekton_api::duration::Duration;
use tekton_api::reasons::TaskRunReason;

use super::super::draft::{Draft, End};
use super::super::observe;
use super::cancel;
use crate::plan::{Answers, ObjectRef, PassInput, Waiting};

/// True once the run has taken longer than it may.
pub(in crate::taskrun) fn is_over(draft: &Draft, input: &PassInput<'_>) -> bool {
    match (elapsed(draft), limit(draft, input)) {
        (Some(elapsed), Some(limit)) => elapsed > limit,
        _ => false,
    }
}

/// The time the run has left; `None` if it has not started or may take for ever.
pub(in crate::taskrun) fn left(draft: &Draft, input: &PassInput<'_>) -> Option<std::time::Duration> {
    Some(limit(draft, input)?.saturating_sub(elapsed(draft)?).to_std())
}

/// Fails a run that is out of time, with the last known state of its steps.
pub(in crate::taskrun) fn fail(
    draft: &mut Draft,
    before: Option<&Condition>,
    input: &PassInput<'_>,
    answers: &Answers,
) -> Result<End, Waiting> {
    let status = draft.status();
    if !status.pod_name.is_empty() {
        let namespace = draft.run.metadata.namespace.clone().unwrap_or_default();
        let target = ObjectRef::new("v1", "Pod", namespace, &status.pod_name);
        if let Ok(Some(pod)) = answers.cached::<Pod>(target)? {
            let spec = status.task_spec.clone().unwrap_or_default();
            let observed = observe::status(&draft.run, &pod, &spec, input, answers)?;
            if observed.errors.is_empty() {
                draft.status_mut().steps = observed.status.steps;
            }
        }
    }
    let name = draft.run.metadata.name.clone().unwrap_or_default();
    let limit = limit(draft, input).unwrap_or_default();
    let message = cancel::with_history(
        before,
        format!("TaskRun \"{name}\" failed to finish within \"{limit}\""),
    );
    cancel::fail(draft, &TaskRunReason::TimedOut, &message, input, answers)
}

fn limit(draft: &Draft, input: &PassInput<'_>) -> Option<Duration> {
    draft.timeout(input.config.defaults.timeout())
}

fn elapsed(draft: &Draft) -> Option<Duration> {
    let started = draft.run.status.as_ref()?.start_time.as_ref()?.0;
    let nanos = draft.now().duration_since(started).as_nanos();
    Some(Duration::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX)))
}
