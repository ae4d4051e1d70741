//! The condition of the run and the rest of its status, from how its tasks stand.
//!
//! Upstream counterpart: `GetPipelineConditionStatus` and `GetSkippedTasks` in
//! `pkg/reconciler/pipelinerun/resources/pipelinerunstate.go`.

use tekton_api::condition::ConditionStatus;
use tekton_api::reasons::{PipelineRunReason, SkippingReason};
use tekton_api::substitute::apply::pipeline_spec;
use tekton_api::v1::{PipelineRunSpecStatus, SkippedTask};

use super::draft::Draft;
use super::facts::{Counts, Facts};
use super::{children, results};

/// Longest text on tasks that could not start, in bytes.
const LONGEST_DETAIL: usize = 1024;

/// Sets the condition.
pub(super) fn condition(draft: &mut Draft, facts: &mut Facts) {
    let (status, reason, message) = judged(draft.name(), facts);
    draft.mark(status, reason.as_str(), message);
}

fn judged(name: &str, facts: &mut Facts) -> (ConditionStatus, PipelineRunReason, String) {
    let limits = facts.timeouts.clone();
    if limits.is_over() {
        let message = format!(
            "PipelineRun \"{name}\" failed to finish within \"{}\"",
            limits.pipeline
        );
        return (ConditionStatus::False, PipelineRunReason::TimedOut, message);
    }
    let finally_done = !facts.has_finally() || facts.all_done(true);
    if limits.tasks_over() && finally_done {
        let limit = limits.tasks.unwrap_or_default();
        let message =
            format!("PipelineRun \"{name}\" failed due to tasks failed to finish within \"{limit}\"");
        return (ConditionStatus::False, PipelineRunReason::TimedOut, message);
    }
    let counts = facts.counts();
    if counts.incomplete == 0 {
        ended(name, facts, &counts)
    } else {
        ongoing(facts, &counts)
    }
}

fn ended(name: &str, facts: &Facts, counts: &Counts) -> (ConditionStatus, PipelineRunReason, String) {
    let completed = counts.succeeded + counts.failed + counts.cancelled + counts.ignored_failed;
    let failed = counts.failed + counts.ignored_failed;
    let ignored = match counts.ignored_failed {
        0 => String::new(),
        number => format!(" (Ignored: {number})"),
    };
    let mut message = format!(
        "Tasks Completed: {completed} (Failed: {failed}{ignored}, Cancelled {}), Skipped: {}",
        counts.cancelled, counts.skipped
    );
    if counts.invalid > 0 {
        message.push_str(&format!(", Failed Validation: {}", counts.invalid));
        if !facts.invalid.is_empty() {
            let texts: Vec<&str> = facts.invalid.values().map(String::as_str).collect();
            message.push_str(&format!(" ({})", shortened(&texts.join("; "))));
        }
    }
    let stopped = [
        PipelineRunSpecStatus::CancelledRunFinally,
        PipelineRunSpecStatus::StoppedRunFinally,
    ];
    if counts.invalid > 0 {
        (
            ConditionStatus::False,
            PipelineRunReason::FailedValidation,
            message,
        )
    } else if counts.failed > 0 || counts.skipped_for_timeout > 0 {
        (ConditionStatus::False, PipelineRunReason::Failed, message)
    } else if stopped.iter().any(|status| facts.asks_for(status)) {
        (
            ConditionStatus::False,
            PipelineRunReason::Cancelled,
            format!("PipelineRun \"{name}\" was cancelled"),
        )
    } else if counts.cancelled > 0 {
        (ConditionStatus::False, PipelineRunReason::Cancelled, message)
    } else if counts.skipped > 0 {
        (ConditionStatus::True, PipelineRunReason::Completed, message)
    } else {
        (ConditionStatus::True, PipelineRunReason::Successful, message)
    }
}

fn shortened(text: &str) -> String {
    if text.len() <= LONGEST_DETAIL {
        return text.to_owned();
    }
    let end = (0..=LONGEST_DETAIL)
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or_default();
    format!("{}...", text.get(..end).unwrap_or_default())
}

fn ongoing(facts: &mut Facts, counts: &Counts) -> (ConditionStatus, PipelineRunReason, String) {
    let finally_done = facts.all_done(true);
    let reason = if facts.timeouts.tasks_over() && facts.has_finally() && !finally_done {
        PipelineRunReason::TimedOutRunningFinally
    } else if facts.asks_for(&PipelineRunSpecStatus::CancelledRunFinally) {
        PipelineRunReason::CancelledRunningFinally
    } else if facts.asks_for(&PipelineRunSpecStatus::StoppedRunFinally) {
        PipelineRunReason::StoppedRunningFinally
    } else if counts.cancelled > 0 || (counts.failed > 0 && finally_done) {
        PipelineRunReason::Stopping
    } else {
        PipelineRunReason::Running
    };
    let completed = counts.succeeded + counts.failed + counts.cancelled + counts.ignored_failed;
    let message = format!(
        "Tasks Completed: {completed} (Failed: {}, Cancelled {}), Incomplete: {}, Skipped: {}",
        counts.failed, counts.cancelled, counts.incomplete, counts.skipped
    );
    (ConditionStatus::Unknown, reason, message)
}

/// Sets start time, child references and skipped tasks.
pub(super) fn record(draft: &mut Draft, facts: &mut Facts) {
    // A child may be older than the run's record of its own start.
    let earliest = facts
        .children()
        .filter_map(super::child::Child::created)
        .min()
        .cloned();
    let status = draft.status_mut();
    if let (Some(start), Some(earliest)) = (&status.start_time, earliest)
        && earliest < *start
    {
        status.start_time = Some(earliest);
    }
    let mut references = Vec::new();
    for position in 0..facts.state.len() {
        if facts.is_done(position) {
            replace_results(facts, position);
        }
        references.extend(
            facts
                .state
                .get(position)
                .map(children::references)
                .unwrap_or_default(),
        );
    }
    draft.status_mut().child_references = references;
    draft.status_mut().skipped_tasks = skipped(facts);
}

/// Puts the results that a done task refers to into the conditions of all tasks, as they are recorded.
fn replace_results(facts: &mut Facts, position: usize) {
    let Some(task) = facts.state.get(position) else {
        return;
    };
    let Ok(resolved) = results::resolve(facts, &task.task) else {
        return;
    };
    if resolved.is_empty() {
        return;
    }
    let sources: Vec<String> = resolved
        .iter()
        .map(|found| found.reference.pipeline_task.clone())
        .collect();
    facts.remember_matrix_results(&sources);
    let known = results::replacements(&resolved);
    for task in &mut facts.state {
        pipeline_spec::task_results(&mut task.task, &known);
    }
}

fn skipped(facts: &mut Facts) -> Vec<SkippedTask> {
    let mut found = Vec::new();
    for position in 0..facts.state.len() {
        let reason = facts.skip_reason(position);
        let finally_reason = facts.finally_skip_reason(position);
        let Some(task) = facts.state.get(position) else {
            continue;
        };
        let skipped = |reason: SkippingReason, with_conditions: bool| SkippedTask {
            name: task.name().to_owned(),
            reason,
            when_expressions: if with_conditions {
                task.task.when.clone()
            } else {
                Vec::new()
            },
        };
        if reason != SkippingReason::None {
            found.push(skipped(reason, true));
        }
        if finally_reason != SkippingReason::None {
            let with_conditions = finally_reason == SkippingReason::WhenExpressions;
            found.push(skipped(finally_reason, with_conditions));
        }
    }
    found
}
