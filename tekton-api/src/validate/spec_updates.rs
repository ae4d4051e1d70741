//! Which changes of a run are allowed.
//!
//! Upstream counterpart: `ValidateUpdate` in `taskrun_validation.go` and `pipelinerun_validation.go`.

use serde::Serialize;
use serde_json::Value;

use crate::field_errors::FieldErrors;

/// The states that an update is judged by.
pub(super) struct Change<'a, S> {
    /// `TaskRun` or `PipelineRun`.
    pub(super) kind: &'a str,
    /// What may be changed while the run goes on, as the message calls it.
    pub(super) changeable: &'a str,
    /// The spec before.
    pub(super) old: &'a S,
    /// The spec now.
    pub(super) new: &'a S,
    /// The spec before, with the defaults of today.
    pub(super) old_with_defaults: &'a S,
    /// The spec before, with what may be changed taken from the spec now.
    pub(super) old_with_changes: &'a S,
    /// Who was and who is in charge.
    pub(super) managed_by: (Option<&'a String>, Option<&'a String>),
    /// Whether the run was done before.
    pub(super) was_done: bool,
}

/// Judges an update.
pub(super) fn check<S: Serialize>(change: &Change<'_, S>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    if change.managed_by.0 != change.managed_by.1 {
        errors.add(FieldErrors::invalid_value(
            "managedBy is immutable",
            "spec.managedBy",
        ));
    }
    let new = written(change.new);
    if change.was_done {
        if written(change.old) == new || written(change.old_with_defaults) == new {
            return FieldErrors::none();
        }
        let message = format!("Once the {} is complete, no updates are allowed", change.kind);
        return errors.and(FieldErrors::invalid_value(message, ""));
    }
    if written(change.old_with_changes) != new {
        let message = format!(
            "Once the {} has started, only {} updates are allowed",
            change.kind, change.changeable
        );
        errors.add(FieldErrors::invalid_value(message, ""));
    }
    errors
}

/// The spec as JSON, in which empty and absent are the same.
fn written<S: Serialize>(spec: &S) -> Option<Value> {
    serde_json::to_value(spec).ok()
}
