//! Whether a task runs, waits or is skipped, and when the finally tasks begin.
//!
//! Upstream counterpart: `pkg/reconciler/pipelinerun/resources/pipelinerunresolution.go` (`skip`,
//! `shouldSkip…`) and `pipelinerunstate.go` (`DAGExecutionQueue`, `GetFinalTasks`).

/// State of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// Not started.
    Waiting,
    /// Started, not ended.
    Running,
    /// Ended well (or its failure is ignored).
    Succeeded,
    /// Ended badly.
    Failed,
    /// Stopped.
    Cancelled,
    /// Will never start.
    Skipped(SkipCause),
}

impl NodeState {
    /// Ended or skipped.
    pub fn is_done(self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }
}

/// Why a task is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipCause {
    /// Its own when expressions are false.
    WhenExpressions,
    /// A task that it must follow was skipped.
    ParentSkipped,
    /// A task whose result it needs gave none.
    MissingResults,
    /// The run is stopping after a failure.
    Stopping,
    /// The run was cancelled and goes over to its finally tasks.
    GracefullyCancelled,
    /// The run was stopped and goes over to its finally tasks.
    GracefullyStopped,
    /// The time for tasks is over.
    TasksTimedOut,
    /// The time for finally tasks is over.
    FinallyTimedOut,
    /// The time for the whole run is over.
    TimedOut,
}

/// How a task depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// It runs after it (`runAfter`).
    Ordering,
    /// It needs a result of it.
    Resource,
}

/// What the whole run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Starting tasks as they become ready.
    Running,
    /// Starting none; letting those that run end: a task has failed.
    Stopping,
    /// Cancelled, finally tasks still to come.
    GracefullyCancelled,
    /// Stopped, finally tasks still to come.
    GracefullyStopped,
    /// Time for tasks is over.
    TasksTimedOut,
    /// Time for the whole run is over.
    TimedOut,
}

/// What to do with a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Start it.
    Run,
    /// Leave it.
    Wait,
    /// Never start it.
    Skip(SkipCause),
}

/// Decides on a task that has not started, from the states of the tasks it depends on.
///
/// `allowed` is the value of its when expressions, `None` while they cannot be known. A skipped parent takes its
/// ordering-dependents along only if it was skipped for its parents or their results itself: a task that was
/// merely not wanted does not keep those from running that only come after it.
pub fn decide(
    mode: Mode,
    allowed: Option<bool>,
    parents: impl IntoIterator<Item = (Dependency, NodeState)>,
) -> Decision {
    match mode {
        Mode::Running => {}
        Mode::Stopping => return Decision::Skip(SkipCause::Stopping),
        Mode::GracefullyCancelled => return Decision::Skip(SkipCause::GracefullyCancelled),
        Mode::GracefullyStopped => return Decision::Skip(SkipCause::GracefullyStopped),
        Mode::TasksTimedOut => return Decision::Skip(SkipCause::TasksTimedOut),
        Mode::TimedOut => return Decision::Skip(SkipCause::TimedOut),
    }
    let mut decision = Decision::Run;
    for (dependency, state) in parents {
        match (dependency, state) {
            (_, NodeState::Waiting | NodeState::Running) => return Decision::Wait,
            (_, NodeState::Succeeded)
            | (Dependency::Ordering, NodeState::Skipped(SkipCause::WhenExpressions)) => {}
            (Dependency::Resource, NodeState::Skipped(SkipCause::WhenExpressions)) => {
                decision = Decision::Skip(SkipCause::MissingResults);
            }
            (_, NodeState::Skipped(_)) => return Decision::Skip(SkipCause::ParentSkipped),
            (_, NodeState::Failed | NodeState::Cancelled) => decision = Decision::Skip(SkipCause::Stopping),
        }
    }
    match (decision, allowed) {
        (Decision::Run, Some(false)) => Decision::Skip(SkipCause::WhenExpressions),
        (Decision::Run, None) => Decision::Wait,
        (decision, _) => decision,
    }
}

/// Whether the finally tasks may start: every other task has ended or will never start.
pub fn finally_may_start(tasks: impl IntoIterator<Item = NodeState>) -> bool {
    tasks.into_iter().all(NodeState::is_done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_waits_for_its_parents_and_follows_their_fate() {
        use Dependency::{Ordering, Resource};
        let when = NodeState::Skipped(SkipCause::WhenExpressions);
        let decide =
            |parents: &[(Dependency, NodeState)]| decide(Mode::Running, Some(true), parents.iter().copied());
        assert_eq!(decide(&[]), Decision::Run);
        assert_eq!(decide(&[(Ordering, NodeState::Running)]), Decision::Wait);
        assert_eq!(decide(&[(Ordering, when)]), Decision::Run);
        assert_eq!(
            decide(&[(Resource, when)]),
            Decision::Skip(SkipCause::MissingResults)
        );
        let skipped = NodeState::Skipped(SkipCause::ParentSkipped);
        assert_eq!(
            decide(&[(Ordering, skipped)]),
            Decision::Skip(SkipCause::ParentSkipped)
        );
        assert_eq!(
            decide(&[(Ordering, NodeState::Failed)]),
            Decision::Skip(SkipCause::Stopping)
        );
    }

    #[test]
    fn modes_start_nothing() {
        assert_eq!(
            decide(Mode::TimedOut, Some(true), []),
            Decision::Skip(SkipCause::TimedOut)
        );
        assert_eq!(
            decide(Mode::Running, Some(false), []),
            Decision::Skip(SkipCause::WhenExpressions)
        );
        assert_eq!(decide(Mode::Running, None, []), Decision::Wait);
    }

    #[test]
    fn finally_waits_for_all() {
        assert!(finally_may_start([
            NodeState::Succeeded,
            NodeState::Skipped(SkipCause::Stopping)
        ]));
        assert!(!finally_may_start([NodeState::Running]));
    }
}
