//! How the whole ended, from counts of how its tasks did.
//!
//! Upstream counterpart: `GetPipelineConditionStatus` in
//! `pkg/reconciler/pipelinerun/resources/pipelinerunstate.go`.

use crate::NodeState;

/// Numbers of tasks by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ended well.
    pub succeeded: usize,
    /// Ended badly, and it counts.
    pub failed: usize,
    /// Ended badly, but it was to be ignored.
    pub ignored_failed: usize,
    /// Stopped.
    pub cancelled: usize,
    /// Will never start.
    pub skipped: usize,
    /// Running or still to start.
    pub incomplete: usize,
}

impl Counts {
    /// Counts states.
    pub fn of(states: impl IntoIterator<Item = NodeState>) -> Self {
        let mut counts = Self::default();
        for state in states {
            match state {
                NodeState::Waiting | NodeState::Running => counts.incomplete += 1,
                NodeState::Succeeded => counts.succeeded += 1,
                NodeState::Failed => counts.failed += 1,
                NodeState::Cancelled => counts.cancelled += 1,
                NodeState::Skipped(_) => counts.skipped += 1,
            }
        }
        counts
    }
}

/// How the whole stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Not all tasks have ended.
    Running,
    /// All ended well.
    Succeeded,
    /// None failed, but some were skipped.
    Completed,
    /// At least one failed.
    Failed,
    /// None failed, but at least one was stopped.
    Cancelled,
}

/// The verdict on the counts of all tasks.
pub fn verdict(counts: &Counts) -> Verdict {
    if counts.incomplete > 0 {
        Verdict::Running
    } else if counts.failed > 0 {
        Verdict::Failed
    } else if counts.cancelled > 0 {
        Verdict::Cancelled
    } else if counts.skipped > 0 {
        Verdict::Completed
    } else {
        Verdict::Succeeded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_end_decides() {
        let of = |states: &[NodeState]| verdict(&Counts::of(states.iter().copied()));
        let skipped = NodeState::Skipped(crate::SkipCause::WhenExpressions);
        assert_eq!(of(&[NodeState::Succeeded]), Verdict::Succeeded);
        assert_eq!(of(&[NodeState::Succeeded, skipped]), Verdict::Completed);
        assert_eq!(of(&[NodeState::Cancelled, NodeState::Failed]), Verdict::Failed);
        assert_eq!(of(&[NodeState::Cancelled, skipped]), Verdict::Cancelled);
        assert_eq!(of(&[NodeState::Failed, NodeState::Waiting]), Verdict::Running);
    }
}
