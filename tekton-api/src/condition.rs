//! Conditions of runs and requests, and the rule by which they change.
//!
//! Upstream counterpart: knative's `apis.Condition` and its batch condition set: a run is done when its
//! only condition, `Succeeded`, is no longer `Unknown`.

use std::ops::Deref;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

use crate::wire::{open_enum, wire_struct};

/// Type of the condition that tells how a run went.
pub const SUCCEEDED: &str = "Succeeded";

open_enum! {
    /// Whether a condition holds.
    pub enum ConditionStatus {
        /// It holds: the run succeeded.
        True = "True",
        /// It does not hold: the run failed.
        False = "False",
        /// Not decided: the run has not finished.
        Unknown = "Unknown",
    }
}

#[expect(clippy::derivable_impls, reason = "the enum is declared by a macro")]
impl Default for ConditionStatus {
    fn default() -> Self {
        Self::Unknown
    }
}

wire_struct! {
/// One statement about the state of an object.
pub struct Condition {
    /// What the statement is about, for runs [`SUCCEEDED`].
    #[serde(rename = "type", deserialize_with = "crate::wire::or_default")]
    pub type_: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// How much a reader should worry; empty means error.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub severity: Option<String>,
    /// When the statement changed last.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub last_transition_time: Option<Time>,
    /// The cause in one word.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub reason: Option<String>,
    /// The cause in a sentence.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub message: Option<String>,
}
}

impl Condition {
    /// A `Succeeded` condition without a time.
    pub fn succeeded(status: ConditionStatus, reason: impl AsRef<str>, message: impl Into<String>) -> Self {
        let filled = |text: String| Some(text).filter(|text| !text.is_empty());
        Self {
            type_: SUCCEEDED.to_owned(),
            status,
            reason: filled(reason.as_ref().to_owned()),
            message: filled(message.into()),
            ..Self::default()
        }
    }

    /// The reason, empty if there is none.
    pub fn reason(&self) -> &str {
        self.reason.as_deref().unwrap_or_default()
    }

    /// The message, empty if there is none.
    pub fn message(&self) -> &str {
        self.message.as_deref().unwrap_or_default()
    }

    /// Whether the statement holds.
    pub fn is_true(&self) -> bool {
        self.status == ConditionStatus::True
    }

    /// Whether the statement does not hold.
    pub fn is_false(&self) -> bool {
        self.status == ConditionStatus::False
    }

    /// Whether the statement is undecided.
    pub fn is_unknown(&self) -> bool {
        self.status == ConditionStatus::Unknown
    }
}

/// The conditions of an object, at most one of a type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Conditions(pub Vec<Condition>);

impl Conditions {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The condition of this type.
    pub fn get(&self, type_: &str) -> Option<&Condition> {
        self.0.iter().find(|condition| condition.type_ == type_)
    }

    /// The `Succeeded` condition.
    pub fn succeeded(&self) -> Option<&Condition> {
        self.get(SUCCEEDED)
    }

    /// Whether the run has finished, with or without success.
    pub fn is_done(&self) -> bool {
        self.succeeded().is_some_and(|condition| !condition.is_unknown())
    }

    /// Whether the run has finished with success.
    pub fn is_successful(&self) -> bool {
        self.succeeded().is_some_and(Condition::is_true)
    }

    /// Whether the run has finished without success.
    pub fn is_failure(&self) -> bool {
        self.succeeded().is_some_and(Condition::is_false)
    }

    /// Puts `condition` in the place of the one of the same type. Its time becomes `now`, unless nothing
    /// else changes: then the list stays as it is.
    pub fn set(&mut self, mut condition: Condition, now: &Time) {
        if let Some(old) = self.get(&condition.type_) {
            condition
                .last_transition_time
                .clone_from(&old.last_transition_time);
            if condition == *old {
                return;
            }
        }
        condition.last_transition_time = Some(now.clone());
        self.0.retain(|old| old.type_ != condition.type_);
        self.0.push(condition);
        self.0.sort_by(|a, b| a.type_.cmp(&b.type_));
    }
}

impl Deref for Conditions {
    type Target = [Condition];

    fn deref(&self) -> &[Condition] {
        &self.0
    }
}

impl From<Vec<Condition>> for Conditions {
    fn from(conditions: Vec<Condition>) -> Self {
        Self(conditions)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    fn at(second: i64) -> Time {
        Time(Timestamp::from_second(second).unwrap())
    }

    #[test]
    fn the_time_moves_only_with_the_content() {
        let mut conditions = Conditions::default();
        let running = Condition::succeeded(ConditionStatus::Unknown, "Running", "");
        conditions.set(running.clone(), &at(1));
        conditions.set(running, &at(2));
        assert_eq!(conditions.succeeded().unwrap().last_transition_time, Some(at(1)));
        conditions.set(
            Condition::succeeded(ConditionStatus::True, "Succeeded", "done"),
            &at(3),
        );
        assert_eq!(conditions.len(), 1);
        assert!(conditions.is_done() && conditions.is_successful());
        assert_eq!(conditions.succeeded().unwrap().last_transition_time, Some(at(3)));
    }

    #[test]
    fn written_as_go_does() {
        let condition = Condition::succeeded(ConditionStatus::Unknown, "Started", "");
        assert_eq!(
            serde_json::to_value(condition).unwrap(),
            serde_json::json!({"type": "Succeeded", "status": "Unknown", "reason": "Started", "lastTransitionTime": null})
        );
    }
}
