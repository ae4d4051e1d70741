//! The run as a pass leaves it: conditions, events and what becomes of them at the end.
//!
//! A pass starts with a copy of the run and ends with [`Draft::finish`]; in between only the functions here
//! change conditions, so that every change is timed and announced alike.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use k8s_openapi::jiff::Timestamp;
use kube::Resource as _;
use tekton_api::condition::{Condition, ConditionStatus};
use tekton_api::duration::Duration;
use tekton_api::labels;
use tekton_api::reasons::TaskRunReason;
use tekton_api::v1::{TaskRun, TaskRunSpecStatus, TaskRunStatus};

use super::plan::retry;
use crate::plan::{ApiFailure, Pass, PassInput, ReconcileError, RunEvent, Waiting};

/// Mark of failures that the user can mend.
pub(crate) const USER_ERROR: &str = "[User error] ";

/// Why a stage does not go on.
#[derive(Debug)]
pub(crate) enum Halt {
    /// A question is open.
    Wait(Waiting),
    /// The run fails.
    Fail(Failure),
    /// The run waits for something; it is looked at again after a while.
    Ongoing {
        /// Reason of the condition.
        reason: TaskRunReason,
        /// Message of the condition.
        message: String,
        /// When to look again.
        requeue: std::time::Duration,
    },
    /// The run stays as it is, and the pass ends with this error.
    Error(ReconcileError),
}

/// A failure of the run that is not the pod's.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Reason of the condition.
    pub(crate) reason: TaskRunReason,
    /// The text, without the mark of user errors.
    pub(crate) text: String,
    /// Whether the user can mend it.
    pub(crate) user_error: bool,
    /// Whether trying again is of no use.
    pub(crate) permanent: bool,
}

impl From<Waiting> for Halt {
    fn from(waiting: Waiting) -> Self {
        Self::Wait(waiting)
    }
}

impl Halt {
    /// A permanent failure that the user can mend.
    pub(crate) fn user(reason: TaskRunReason, text: impl Into<String>) -> Self {
        Self::Fail(Failure {
            reason,
            text: text.into(),
            user_error: true,
            permanent: true,
        })
    }

    /// A permanent failure.
    pub(crate) fn permanent(reason: TaskRunReason, text: impl Into<String>) -> Self {
        Self::Fail(Failure {
            reason,
            text: text.into(),
            user_error: false,
            permanent: true,
        })
    }

    /// An error that leaves the run as it is, to be tried again.
    pub(crate) fn transient(text: impl Into<String>) -> Self {
        Self::Error(ReconcileError::Transient(text.into()))
    }
}

impl From<&ApiFailure> for Halt {
    fn from(failure: &ApiFailure) -> Self {
        Self::transient(&failure.message)
    }
}

/// How a pass ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct End {
    /// When to look again.
    pub(crate) requeue: Option<std::time::Duration>,
    /// What went wrong.
    pub(crate) error: Option<ReconcileError>,
}

impl End {
    /// An end with an error.
    pub(crate) fn error(error: ReconcileError) -> Self {
        Self {
            error: Some(error),
            ..Self::default()
        }
    }
}

/// The run as the pass leaves it so far.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// The run, with all changes up to now.
    pub(crate) run: TaskRun,
    /// Events up to now.
    pub(crate) events: Vec<RunEvent>,
    before: Option<TaskRunStatus>,
    now: Time,
}

impl Draft {
    /// Starts a pass; the release annotation marks runs that are not done.
    pub(crate) fn new(seen: &TaskRun, input: &PassInput<'_>) -> Self {
        let mut run = seen.clone();
        let status = run.status.get_or_insert_default();
        if !status.conditions.is_done() {
            let annotations = run.metadata.annotations.get_or_insert_default();
            annotations.insert(labels::RELEASE.to_owned(), crate::RELEASE.to_owned());
            if status.span_context.is_empty()
                && let Some(context) = annotations.get(labels::TASK_RUN_SPAN_CONTEXT)
            {
                status.span_context = serde_json::from_str(context).unwrap_or_default();
            }
        }
        Self {
            run,
            events: Vec::new(),
            before: seen.status.clone(),
            now: Time(input.now),
        }
    }

    /// The status, which is always there.
    pub(crate) fn status(&self) -> TaskRunStatus {
        self.run.status.clone().unwrap_or_default()
    }

    /// The status, to be changed.
    pub(crate) fn status_mut(&mut self) -> &mut TaskRunStatus {
        self.run.status.get_or_insert_default()
    }

    /// The run as owner of what it creates.
    pub(crate) fn owner(&self) -> OwnerReference {
        let owner = self.run.controller_owner_ref(&()).unwrap_or_default();
        OwnerReference {
            block_owner_deletion: Some(true),
            ..owner
        }
    }

    /// The time of the pass.
    pub(crate) fn now(&self) -> Timestamp {
        self.now.0
    }

    /// The `Succeeded` condition as it is now.
    pub(crate) fn condition(&self) -> Option<Condition> {
        self.run.status.as_ref()?.conditions.succeeded().cloned()
    }

    /// Whether the run has ended.
    pub(crate) fn is_done(&self) -> bool {
        self.run
            .status
            .as_ref()
            .is_some_and(|status| status.conditions.is_done())
    }

    /// Whether the user asked for an end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.run.spec.status == Some(TaskRunSpecStatus::Cancelled)
    }

    /// Whether the user holds the run back.
    pub(crate) fn is_pending(&self) -> bool {
        self.run.spec.status == Some(TaskRunSpecStatus::Pending)
    }

    /// Gives the run its start time and first condition; a clock that runs behind does not make it start before
    /// it was created.
    pub(crate) fn start(&mut self) {
        let now = self.now.clone();
        let created = self.run.metadata.creation_timestamp.clone();
        let status = self.run.status.get_or_insert_default();
        let mut condition =
            status.conditions.succeeded().cloned().unwrap_or_else(|| {
                Condition::succeeded(ConditionStatus::Unknown, TaskRunReason::Started, "")
            });
        condition.reason = Some(TaskRunReason::Started.as_str().to_owned());
        status.conditions.set(condition, &now);
        status.start_time = Some(created.filter(|created| created.0 > now.0).unwrap_or(now));
        self.announce(None);
    }

    /// Marks the run as under way.
    pub(crate) fn mark_ongoing(&mut self, reason: TaskRunReason, message: impl Into<String>) {
        let condition = Condition::succeeded(ConditionStatus::Unknown, reason, message);
        let now = self.now.clone();
        self.status_mut().conditions.set(condition, &now);
    }

    /// Marks the run as failed; it completes with the change of the condition.
    pub(crate) fn mark_failed(&mut self, reason: TaskRunReason, message: impl Into<String>) {
        let condition = Condition::succeeded(ConditionStatus::False, reason, message);
        let now = self.now.clone();
        let status = self.status_mut();
        status.conditions.set(condition, &now);
        status.completion_time = status
            .conditions
            .succeeded()
            .and_then(|condition| condition.last_transition_time.clone());
    }

    /// Emits the event for a change of the condition since `before`, if there was one.
    pub(crate) fn announce(&mut self, before: Option<&Condition>) {
        let Some(after) = self.condition() else { return };
        if before.is_some_and(|before| same_content(before, &after)) {
            return;
        }
        self.events.push(if after.is_true() {
            RunEvent::normal("Succeeded", after.message())
        } else if after.is_false() {
            RunEvent::warning("Failed", after.message())
        } else if before.is_none() {
            RunEvent::normal("Started", "")
        } else {
            RunEvent::normal(after.reason(), after.message())
        });
    }

    /// Ends a pass: a failed run that may be retried is reset, then the change is announced.
    pub(crate) fn conclude(&mut self, before: Option<&Condition>, end: End) -> End {
        let failed = self.condition().is_some_and(|condition| condition.is_false());
        if failed && !self.is_cancelled() && retry::is_possible(&self.run) {
            let message = self
                .condition()
                .map(|condition| retry::message(condition.message()));
            self.run.status = self.run.status.as_ref().map(retry::archived);
            self.mark_ongoing(TaskRunReason::ToBeRetried, message.unwrap_or_default());
        }
        self.announce(before);
        end
    }

    /// Carries out what a halted stage asks for.
    pub(crate) fn halt(&mut self, halt: Halt) -> Result<End, Waiting> {
        match halt {
            Halt::Wait(waiting) => Err(waiting),
            Halt::Error(error) => Ok(End::error(error)),
            Halt::Ongoing {
                reason,
                message,
                requeue,
            } => {
                self.mark_ongoing(reason, message);
                Ok(End {
                    requeue: Some(requeue),
                    error: None,
                })
            }
            Halt::Fail(Failure {
                reason,
                text,
                user_error,
                permanent,
            }) => {
                let message = if user_error {
                    format!("{USER_ERROR}{text}")
                } else {
                    text.clone()
                };
                self.mark_failed(reason, message);
                let error = if permanent {
                    ReconcileError::Permanent(text)
                } else {
                    ReconcileError::Transient(text)
                };
                Ok(End::error(error))
            }
        }
    }

    /// The result of the pass.
    pub(crate) fn finish(mut self, end: End) -> Pass<TaskRunStatus> {
        if let Some(error) = &end.error {
            self.events
                .push(RunEvent::warning("InternalError", error.to_string()));
        }
        let is_new = match (&self.before, &self.run.status) {
            (Some(before), Some(after)) => timeless(before) != timeless(after),
            _ => true,
        };
        Pass {
            status: self.run.status.filter(|_| is_new),
            labels: self.run.metadata.labels,
            annotations: self.run.metadata.annotations,
            events: self.events,
            requeue: end.requeue,
            error: end.error,
        }
    }

    /// The time the run may take; `None` is for ever.
    pub(crate) fn timeout(&self, default: Duration) -> Option<Duration> {
        let timeout = self.run.spec.timeout.unwrap_or(default);
        Some(timeout).filter(|timeout| !timeout.is_zero())
    }
}

fn same_content(one: &Condition, other: &Condition) -> bool {
    let timeless = |condition: &Condition| Condition {
        last_transition_time: None,
        ..condition.clone()
    };
    timeless(one) == timeless(other)
}

/// The status without the times of its conditions: a change of these alone is none.
fn timeless(status: &TaskRunStatus) -> TaskRunStatus {
    let mut status = status.clone();
    for condition in &mut status.conditions.0 {
        condition.last_transition_time = None;
    }
    status
}
