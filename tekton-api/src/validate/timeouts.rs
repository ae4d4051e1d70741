//! Checks on the timeouts of a PipelineRun and of its tasks.
//!
//! Upstream counterpart: the timeout part of `pkg/apis/pipeline/v1/pipelinerun_validation.go`.

use super::Context;
use crate::duration::Duration;
use crate::field_errors::FieldErrors;
use crate::v1::TimeoutFields;

fn negative(timeout: Duration, path: &str) -> FieldErrors {
    FieldErrors::invalid_value(format!("{timeout} should be >= 0"), path)
}

/// A timeout is not negative.
pub(super) fn not_negative(timeout: Option<Duration>, path: &str) -> FieldErrors {
    match timeout.filter(|timeout| timeout.is_negative()) {
        Some(timeout) => negative(timeout, path),
        None => FieldErrors::none(),
    }
}

/// The timeouts of tasks and finally tasks fit into that of the whole.
pub(super) fn of_run(timeouts: &TimeoutFields, context: &Context<'_>) -> FieldErrors {
    let errors = not_negative(timeouts.tasks, "timeouts.tasks")
        .and(not_negative(timeouts.finally, "timeouts.finally"))
        .and(not_negative(timeouts.pipeline, "timeouts.pipeline"));
    errors.and(match timeouts.pipeline {
        Some(pipeline) => fit(timeouts, pipeline, "should be <= pipeline duration"),
        // Upstream takes the number of minutes for nanoseconds here; defaulting keeps it from mattering.
        None => fit(
            timeouts,
            Duration::from_nanos(context.config.defaults.timeout_minutes),
            "should be <= default timeout duration",
        ),
    })
}

fn fit(timeouts: &TimeoutFields, whole: Duration, limit: &str) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (part, path) in [
        (timeouts.tasks, "timeouts.tasks"),
        (timeouts.finally, "timeouts.finally"),
    ] {
        let Some(part) = part.filter(|_| !whole.is_zero()) else {
            continue;
        };
        if part.is_zero() {
            errors.add(FieldErrors::invalid_value(
                format!("{part} (no timeout) {limit}"),
                path,
            ));
        } else if part > whole {
            errors.add(FieldErrors::invalid_value(format!("{part} {limit}"), path));
        }
    }
    if let (Some(tasks), Some(finally)) = (timeouts.tasks, timeouts.finally)
        && tasks.saturating_add(finally) > whole
    {
        let message = format!("{tasks} + {finally} {limit}");
        errors.add(FieldErrors::invalid_value(&message, "timeouts.tasks"));
        errors.add(FieldErrors::invalid_value(&message, "timeouts.finally"));
    }
    errors
}

/// The timeout of one task's runs fits into that of all tasks, or of the whole, or of the default.
pub(super) fn of_task_run_spec(
    timeout: Option<Duration>,
    timeouts: Option<&TimeoutFields>,
    context: &Context<'_>,
) -> FieldErrors {
    let Some(timeout) = timeout else {
        return FieldErrors::none();
    };
    if timeout.is_negative() {
        return negative(timeout, "timeout");
    }
    let of_tasks = timeouts.and_then(|timeouts| timeouts.tasks);
    let of_pipeline = timeouts.and_then(|timeouts| timeouts.pipeline);
    let (most, source) = match (of_tasks, of_pipeline) {
        (Some(tasks), _) => (tasks, "pipeline tasks duration"),
        (None, Some(pipeline)) => (pipeline, "pipeline duration"),
        (None, None) => (context.config.defaults.timeout(), "default pipeline duration"),
    };
    if most.is_negative() && (of_tasks.is_some() || of_pipeline.is_some()) {
        return negative(most, "timeout");
    }
    if !most.is_zero() && timeout > most {
        return FieldErrors::invalid_value(format!("{timeout} should be <= {source} {most}"), "timeout");
    }
    FieldErrors::none()
}
