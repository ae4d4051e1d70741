//! A pipeline task in the course of a run: its definition as far as substituted, and its children.
//!
//! Upstream counterpart: `ResolvedPipelineTask` in
//! `pkg/reconciler/pipelinerun/resources/pipelinerunresolution.go`.

use std::collections::BTreeMap;

use tekton_api::v1::{OnError, PipelineSpec, PipelineTask, TaskSpec};

use super::child::Child;

/// What a pipeline task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskKind {
    /// A Task.
    Task,
    /// A custom task.
    Custom,
    /// A pipeline.
    Pipeline,
}

/// The Task of a pipeline task.
#[derive(Clone, Debug)]
pub(super) struct ResolvedTask {
    /// Name of a referenced Task; empty if it is embedded.
    pub(super) name: String,
    /// Its spec.
    pub(super) spec: TaskSpec,
}

/// The pipeline of a pipeline task.
#[derive(Clone, Debug, Default)]
pub(super) struct ResolvedPipeline {
    /// Name of a referenced Pipeline; empty if it is embedded.
    pub(super) name: String,
    /// Its spec.
    pub(super) spec: PipelineSpec,
}

/// A pipeline task and its children.
#[derive(Clone, Debug)]
pub(super) struct TaskState {
    /// The pipeline task, results replaced as far as they are known.
    pub(super) task: PipelineTask,
    /// What it runs.
    pub(super) kind: TaskKind,
    /// Whether it stands in `finally`.
    pub(super) is_final: bool,
    /// Names that its children have or shall have.
    pub(super) names: Vec<String>,
    /// Its children, in the order of their names.
    pub(super) children: Vec<Child>,
    /// Its Task; absent for custom tasks, pipelines, and empty matrices.
    pub(super) resolved: Option<ResolvedTask>,
    /// Its pipeline.
    pub(super) pipeline: Option<ResolvedPipeline>,
    /// Results of a matrix by name, over all children.
    pub(super) matrix_results: Option<BTreeMap<String, Vec<String>>>,
    /// CEL expressions of its conditions, evaluated.
    pub(super) evaluated_cel: BTreeMap<String, bool>,
}

impl TaskState {
    pub(super) fn name(&self) -> &str {
        self.task.name()
    }

    /// A failure does not stop the run.
    pub(super) fn ignores_failure(&self) -> bool {
        self.task.on_error == Some(OnError::Continue)
    }

    /// There are children of a TaskRun or CustomRun; upstream does not count pipelines.
    pub(super) fn is_scheduled(&self) -> bool {
        self.kind != TaskKind::Pipeline && !self.children.is_empty()
    }

    pub(super) fn is_successful(&self) -> bool {
        !self.children.is_empty() && self.children.iter().all(Child::is_successful)
    }

    /// All children have ended, at least one of them badly.
    pub(super) fn is_failure(&self) -> bool {
        self.all_done() && self.has_failed_child()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.is_successful() || self.is_failure()
    }

    pub(super) fn is_running(&self) -> bool {
        !self.children.is_empty() && !self.has_ended()
    }

    pub(super) fn has_failed_child(&self) -> bool {
        self.children.iter().any(Child::is_failure)
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.all_done() && self.children.iter().any(Child::is_cancelled)
    }

    pub(super) fn is_cancelled_for_timeout(&self) -> bool {
        self.all_done() && self.children.iter().any(Child::is_cancelled_for_timeout)
    }

    /// Reason of the first child that has not succeeded, or of the first child.
    pub(super) fn reason(&self) -> &str {
        let mut unsuccessful = self.children.iter().filter(|child| !child.is_successful());
        let reason = unsuccessful.find_map(Child::first_reason);
        reason
            .or_else(|| self.children.first().and_then(Child::first_reason))
            .unwrap_or_default()
    }

    /// Results of a matrix by name: the values of all children, in the order of their names.
    pub(super) fn results_of_matrix(&self) -> BTreeMap<String, Vec<String>> {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut runs: Vec<_> = self.children.iter().collect();
        runs.sort_by(|a, b| a.name().cmp(b.name()));
        for child in runs {
            let Child::Task(run) = child else { continue };
            for result in run.status.iter().flat_map(|status| &status.results) {
                let value = result.value.as_str().unwrap_or_default().to_owned();
                found.entry(result.name.clone()).or_default().push(value);
            }
        }
        found
    }

    fn all_done(&self) -> bool {
        !self.children.is_empty() && self.children.iter().all(Child::is_done)
    }
}
