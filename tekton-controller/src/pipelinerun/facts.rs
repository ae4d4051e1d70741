//! All pipeline tasks of a run with their graph: what runs next, and how the whole stands.
//!
//! Upstream counterpart: `pkg/reconciler/pipelinerun/resources/pipelinerunstate.go`.

use std::collections::{BTreeMap, HashMap};

use tekton_api::reasons::SkippingReason;
use tekton_api::v1::PipelineRunSpecStatus;
use tekton_dag::{Graph, GraphError};

use super::child::Child;
use super::results::Tasks;
use super::state::{TaskKind, TaskState};
use super::timeouts::Timeouts;

/// State of a task that has not run, as finally tasks see it.
const STATE_NONE: &str = "None";

/// The tasks of a run.
#[derive(Debug)]
pub(super) struct Facts {
    /// Tasks with children first, then the others, each in the order of the spec.
    pub(super) state: Vec<TaskState>,
    /// `spec.status` of the run.
    pub(super) spec_status: Option<PipelineRunSpecStatus>,
    /// Graph of the tasks, without the finally ones.
    pub(super) graph: Graph,
    /// Limits.
    pub(super) timeouts: Timeouts,
    /// Tasks that could not start because a result is missing, with the reason.
    pub(super) invalid: BTreeMap<String, String>,
    /// Why tasks are skipped, as far as decided; any change of the state empties it.
    pub(super) skipped: HashMap<String, SkippingReason>,
    index: HashMap<String, usize>,
}

impl Tasks for Facts {
    fn task(&self, name: &str) -> Option<&TaskState> {
        self.index.get(name).and_then(|index| self.state.get(*index))
    }
}

/// Numbers of tasks by how they stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) succeeded: usize,
    pub(super) failed: usize,
    pub(super) ignored_failed: usize,
    pub(super) cancelled: usize,
    pub(super) skipped: usize,
    pub(super) skipped_for_timeout: usize,
    pub(super) invalid: usize,
    pub(super) incomplete: usize,
}

impl Facts {
    pub(super) fn new(
        state: Vec<TaskState>,
        spec_status: Option<PipelineRunSpecStatus>,
        graph: Graph,
        timeouts: Timeouts,
    ) -> Self {
        let index = state
            .iter()
            .enumerate()
            .map(|(index, task)| (task.name().to_owned(), index))
            .collect();
        Self {
            state,
            spec_status,
            graph,
            timeouts,
            invalid: BTreeMap::new(),
            skipped: HashMap::new(),
            index,
        }
    }

    pub(super) fn asks_for(&self, status: &PipelineRunSpecStatus) -> bool {
        self.spec_status.as_ref() == Some(status)
    }

    pub(super) fn is_before_first_child(&self) -> bool {
        self.state.iter().all(|task| task.children.is_empty())
    }

    /// Names of tasks that run now, of the finally ones or of the others.
    pub(super) fn running(&self, finally: bool) -> Vec<String> {
        let running = self
            .state
            .iter()
            .filter(|task| task.is_final == finally && task.is_running());
        running.map(|task| task.name().to_owned()).collect()
    }

    /// The task could not start because a result is missing. Upstream tells such tasks apart by their Task, so
    /// that all without one share the fate of the first.
    pub(super) fn is_invalid(&self, task: &TaskState) -> bool {
        if self.invalid.is_empty() {
            return false;
        }
        let lacks_task = |name: &String| self.task(name).is_some_and(|invalid| invalid.resolved.is_none());
        self.invalid.contains_key(task.name())
            || (task.resolved.is_none() && self.invalid.keys().any(lacks_task))
    }

    /// A task has failed, and its failure is not to be ignored: no other is started.
    pub(super) fn is_stopping(&self) -> bool {
        let fails = |task: &&TaskState| task.is_failure() || self.is_invalid(task);
        self.state
            .iter()
            .filter(|task| !task.is_final)
            .any(|task| fails(&task) && !task.ignores_failure())
    }

    /// Ended, skipped or unable to start.
    pub(super) fn is_done(&mut self, position: usize) -> bool {
        let skipped = self.skip_reason(position) != SkippingReason::None;
        let Some(task) = self.state.get(position) else {
            return true;
        };
        skipped || task.has_ended() || self.is_invalid(task)
    }

    /// Whether all tasks of one kind are done.
    pub(super) fn all_done(&mut self, finally: bool) -> bool {
        let positions: Vec<usize> = self.positions(finally);
        positions.into_iter().all(|position| self.is_done(position))
    }

    pub(super) fn has_finally(&self) -> bool {
        self.state.iter().any(|task| task.is_final)
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    pub(super) fn positions(&self, finally: bool) -> Vec<usize> {
        let kind = |(_, task): &(usize, &TaskState)| task.is_final == finally;
        self.state
            .iter()
            .enumerate()
            .filter(kind)
            .map(|(position, _)| position)
            .collect()
    }

    /// Tasks to start now, the finally ones left out.
    pub(super) fn queue(&mut self) -> Result<Vec<usize>, GraphError> {
        let cancelled = [
            PipelineRunSpecStatus::Cancelled,
            PipelineRunSpecStatus::CancelledRunFinally,
        ];
        if cancelled.iter().any(|status| self.asks_for(status)) {
            return Ok(Vec::new());
        }
        let mut done = Vec::new();
        for position in self.positions(false) {
            if self.is_done(position)
                && let Some(task) = self.state.get(position)
            {
                done.push(task.name().to_owned());
            }
        }
        let candidates: Vec<String> = self
            .graph
            .candidates(&done)?
            .into_iter()
            .map(str::to_owned)
            .collect();
        if self.is_stopping() || self.asks_for(&PipelineRunSpecStatus::StoppedRunFinally) {
            return Ok(Vec::new());
        }
        let is_next = |(_, task): &(usize, &TaskState)| {
            task.children.is_empty()
                && candidates
                    .binary_search_by(|name| name.as_str().cmp(task.name()))
                    .is_ok()
        };
        Ok(self
            .state
            .iter()
            .enumerate()
            .filter(is_next)
            .map(|(position, _)| position)
            .collect())
    }

    /// Finally tasks to start now: none before all others are done.
    pub(super) fn finally_queue(&mut self) -> Vec<usize> {
        if !self.all_done(false) {
            return Vec::new();
        }
        let is_next = |position: &usize| {
            self.state
                .get(*position)
                .is_some_and(|task| task.children.is_empty())
        };
        self.positions(true).into_iter().filter(is_next).collect()
    }

    /// All other tasks are done, and a finally task has children.
    pub(super) fn finally_started(&mut self) -> bool {
        self.all_done(false) && self.state.iter().any(|task| task.is_final && task.is_scheduled())
    }

    pub(super) fn counts(&mut self) -> Counts {
        let mut counts = Counts::default();
        for position in 0..self.state.len() {
            let skip = self.skip_reason(position);
            let finally_skip = self.finally_skip_reason(position);
            let Some(task) = self.state.get(position) else {
                continue;
            };
            if task.is_successful() {
                counts.succeeded += 1;
            } else if task.is_cancelled_for_timeout() {
                counts.failed += 1;
            } else if task.is_cancelled() {
                counts.cancelled += 1;
            } else if task.is_failure() {
                if task.ignores_failure() {
                    counts.ignored_failed += 1;
                } else {
                    counts.failed += 1;
                }
            } else if self.is_invalid(task) {
                counts.invalid += 1;
            } else if matches!(
                skip,
                SkippingReason::PipelineTimedOut | SkippingReason::TasksTimedOut
            ) || finally_skip == SkippingReason::FinallyTimedOut
            {
                counts.skipped += 1;
                counts.skipped_for_timeout += 1;
            } else if skip != SkippingReason::None || finally_skip != SkippingReason::None {
                counts.skipped += 1;
            } else {
                counts.incomplete += 1;
            }
        }
        counts
    }

    /// `tasks.NAME.status` and `tasks.NAME.reason` of the tasks, and `tasks.status` of all together.
    pub(super) fn task_states(&mut self) -> BTreeMap<String, String> {
        let mut states = BTreeMap::new();
        for task in self.state.iter().filter(|task| !task.is_final) {
            states.insert(format!("tasks.{}.status", task.name()), state_of(task).to_owned());
            states.insert(format!("tasks.{}.reason", task.name()), task.reason().to_owned());
        }
        states.insert("tasks.status".to_owned(), self.aggregate_state().to_owned());
        states
    }

    /// `tasks.NAME.status` of the finally tasks.
    pub(super) fn finally_states(&self) -> BTreeMap<String, String> {
        let finally = self.state.iter().filter(|task| task.is_final);
        finally
            .map(|task| (format!("tasks.{}.status", task.name()), state_of(task).to_owned()))
            .collect()
    }

    fn aggregate_state(&mut self) -> &'static str {
        if !self.all_done(false) {
            return STATE_NONE;
        }
        let mut state = "Succeeded";
        for position in self.positions(false) {
            let skipped = self.skip_reason(position) != SkippingReason::None;
            if self.state.get(position).is_some_and(TaskState::has_failed_child) {
                return "Failed";
            }
            if skipped {
                state = "Completed";
            }
        }
        state
    }

    /// All children of tasks, in order.
    pub(super) fn children(&self) -> impl Iterator<Item = &Child> {
        self.state.iter().flat_map(|task| &task.children)
    }
}

fn state_of(task: &TaskState) -> &'static str {
    if task.is_successful() {
        "Succeeded"
    } else if task.has_failed_child() {
        "Failed"
    } else {
        STATE_NONE
    }
}

/// The kind of what a task runs.
pub(super) fn kind_of(task: &tekton_api::v1::PipelineTask) -> TaskKind {
    let custom = task
        .task_ref
        .as_ref()
        .is_some_and(tekton_api::v1::TaskRef::is_custom_task)
        || task
            .task_spec
            .as_ref()
            .is_some_and(tekton_api::v1::EmbeddedTask::is_custom_task);
    if task.pipeline_spec.is_some() || task.pipeline_ref.is_some() {
        TaskKind::Pipeline
    } else if custom {
        TaskKind::Custom
    } else {
        TaskKind::Task
    }
}
