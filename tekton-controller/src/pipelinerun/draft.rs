//! The run as a pass leaves it: conditions, events and what becomes of them at the end.
//!
//! A pass works on a copy of the run; only the functions here change its conditions, so that every change is
//! timed and announced alike.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use kube::Resource as _;
use tekton_api::condition::{Condition, ConditionStatus};
use tekton_api::reasons::PipelineRunReason;
use tekton_api::v1::{PipelineRun, PipelineRunSpecStatus, PipelineRunStatus};

use crate::plan::{ApiFailure, Pass, PassInput, ReconcileError, RunEvent, Waiting};

/// Prefix of messages about what the user has to mend.
pub(super) const USER_ERROR: &str = "[User error] ";

/// Why a pass goes no further.
#[derive(Debug)]
pub(super) enum Halt {
    /// Questions are open.
    Wait(Waiting),
    /// The run has failed: reason, message of the condition, text of the error.
    Fail {
        reason: String,
        message: String,
        error: ReconcileError,
    },
    /// The run waits for something; look again after a while.
    Ongoing {
        reason: String,
        message: String,
        requeue: std::time::Duration,
    },
    /// The pass failed; the status stays as it is by now.
    Error(ReconcileError),
}

impl From<Waiting> for Halt {
    fn from(waiting: Waiting) -> Self {
        Self::Wait(waiting)
    }
}

impl From<&ApiFailure> for Halt {
    fn from(failure: &ApiFailure) -> Self {
        Self::Error(ReconcileError::Transient(failure.message.clone()))
    }
}

impl Halt {
    /// The run has failed, and trying again is of no use.
    pub(super) fn fail(
        reason: impl AsRef<str>,
        message: impl Into<String>,
        error: impl Into<String>,
    ) -> Self {
        Self::Fail {
            reason: reason.as_ref().to_owned(),
            message: message.into(),
            error: ReconcileError::Permanent(error.into()),
        }
    }

    /// The same, the user being to blame: `prefix` followed by the text of the error.
    pub(super) fn user(reason: impl AsRef<str>, prefix: &str, error: impl Into<String>) -> Self {
        let error = error.into();
        Self::fail(reason, format!("{USER_ERROR}{prefix}{error}"), error)
    }

    /// The pass failed for good, without a word in the status.
    pub(super) fn permanent(error: impl Into<String>) -> Self {
        Self::Error(ReconcileError::Permanent(error.into()))
    }

    /// The pass failed and is to be tried again.
    pub(super) fn transient(error: impl Into<String>) -> Self {
        Self::Error(ReconcileError::Transient(error.into()))
    }
}

/// What a pass leaves besides the status.
#[derive(Clone, Debug, Default)]
pub(super) struct End {
    pub(super) requeue: Option<std::time::Duration>,
    pub(super) error: Option<ReconcileError>,
}

/// A PipelineRun in the course of a pass.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// The run, with all changes up to now.
    pub(super) run: PipelineRun,
    /// Events up to now.
    pub(super) events: Vec<RunEvent>,
    now: Time,
}

impl Draft {
    /// Starts a pass.
    pub(super) fn new(seen: &PipelineRun, input: &PassInput<'_>) -> Self {
        let mut run = seen.clone();
        run.status.get_or_insert_default();
        Self {
            run,
            events: Vec::new(),
            now: Time(input.now),
        }
    }

    pub(super) fn name(&self) -> &str {
        self.run.metadata.name.as_deref().unwrap_or_default()
    }

    pub(super) fn namespace(&self) -> &str {
        self.run.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// `namespace/name`.
    pub(super) fn key(&self) -> String {
        format!("{}/{}", self.namespace(), self.name())
    }

    pub(super) fn uid(&self) -> &str {
        self.run.metadata.uid.as_deref().unwrap_or_default()
    }

    pub(super) fn status(&self) -> &PipelineRunStatus {
        static EMPTY: std::sync::LazyLock<PipelineRunStatus> =
            std::sync::LazyLock::new(PipelineRunStatus::default);
        self.run.status.as_ref().unwrap_or(&EMPTY)
    }

    pub(super) fn status_mut(&mut self) -> &mut PipelineRunStatus {
        self.run.status.get_or_insert_default()
    }

    /// The run as owner of what it creates.
    pub(super) fn owner(&self) -> OwnerReference {
        let owner = self.run.controller_owner_ref(&()).unwrap_or_default();
        OwnerReference {
            block_owner_deletion: Some(true),
            ..owner
        }
    }

    pub(super) fn now(&self) -> Time {
        self.now.clone()
    }

    pub(super) fn condition(&self) -> Option<Condition> {
        self.status().conditions.succeeded().cloned()
    }

    pub(super) fn is_done(&self) -> bool {
        self.status().conditions.is_done()
    }

    pub(super) fn asks_for(&self, status: &PipelineRunSpecStatus) -> bool {
        self.run.spec.status.as_ref() == Some(status)
    }

    /// Gives the run its start time and first condition; a clock that runs behind does not make it start before
    /// it was created.
    pub(super) fn start(&mut self) {
        let now = self.now();
        let created = self.run.metadata.creation_timestamp.clone();
        let status = self.run.status.get_or_insert_default();
        let started = PipelineRunReason::Started.as_str().to_owned();
        let mut condition = status
            .conditions
            .succeeded()
            .cloned()
            .unwrap_or_else(|| Condition::succeeded(ConditionStatus::Unknown, &started, ""));
        condition.reason = Some(started);
        status.conditions.set(condition, &now);
        status.start_time = Some(created.filter(|created| created.0 > now.0).unwrap_or(now));
        self.announce(None);
    }

    /// Sets the condition; a run that ends gets its completion time.
    pub(super) fn mark(
        &mut self,
        status: ConditionStatus,
        reason: impl AsRef<str>,
        message: impl Into<String>,
    ) {
        let ends = status != ConditionStatus::Unknown;
        self.set_condition(Condition::succeeded(status, reason, message));
        if ends {
            let status = self.status_mut();
            status.completion_time = status
                .conditions
                .succeeded()
                .and_then(|condition| condition.last_transition_time.clone());
        }
    }

    /// Sets the condition and nothing else.
    pub(super) fn set_condition(&mut self, condition: Condition) {
        let now = self.now();
        self.status_mut().conditions.set(condition, &now);
    }

    /// Emits the event for a change of the condition since `before`, if there was one.
    pub(super) fn announce(&mut self, before: Option<&Condition>) {
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

    /// Carries out what a halted stage asks for.
    pub(super) fn halt(&mut self, halt: Halt) -> Result<End, Waiting> {
        match halt {
            Halt::Wait(waiting) => Err(waiting),
            Halt::Error(error) => Ok(End {
                requeue: None,
                error: Some(error),
            }),
            Halt::Ongoing {
                reason,
                message,
                requeue,
            } => {
                self.mark(ConditionStatus::Unknown, reason, message);
                Ok(End {
                    requeue: Some(requeue),
                    error: None,
                })
            }
            Halt::Fail {
                reason,
                message,
                error,
            } => {
                self.mark(ConditionStatus::False, reason, message);
                Ok(End {
                    requeue: None,
                    error: Some(error),
                })
            }
        }
    }

    /// The result of the pass.
    pub(super) fn finish(mut self, end: End) -> Pass<PipelineRunStatus> {
        if let Some(error) = &end.error {
            self.events
                .push(RunEvent::warning("InternalError", error.to_string()));
        }
        Pass {
            status: self.run.status,
            labels: self.run.metadata.labels,
            annotations: self.run.metadata.annotations,
            events: self.events,
            requeue: end.requeue,
            error: end.error,
        }
    }
}

fn same_content(one: &Condition, other: &Condition) -> bool {
    let timeless = |condition: &Condition| Condition {
        last_transition_time: None,
        ..condition.clone()
    };
    timeless(one) == timeless(other)
}
