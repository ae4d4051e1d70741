//! Whether a task is skipped, and why.
//!
//! Results that a task refers to are put in place on the way, as soon as all its parents are done; a decision
//! made before that may change, so it is then made again. Upstream counterpart: `skip…` in
//! `pkg/reconciler/pipelinerun/resources/pipelinerunresolution.go`.

use tekton_api::reasons::SkippingReason;
use tekton_api::result_ref::{any_looks_like_task_result, value_expressions, when_expressions};
use tekton_api::substitute::apply::pipeline_spec;
use tekton_api::v1::{ParamValue, PipelineRunSpecStatus};
use tekton_api::when;

use super::facts::Facts;
use super::results::{self, Tasks};
use super::state::{TaskKind, TaskState};

impl Facts {
    /// Why a task is skipped; `None` if it is not. Always `None` for finally tasks.
    pub(super) fn skip_reason(&mut self, position: usize) -> SkippingReason {
        let Some(name) = self.state.get(position).map(|task| task.name().to_owned()) else {
            return SkippingReason::None;
        };
        if let Some(known) = self.skipped.get(&name) {
            return known.clone();
        }
        let reason = self.decide(position);
        self.skipped.insert(name, reason.clone());
        reason
    }

    fn decide(&mut self, position: usize) -> SkippingReason {
        let Some(task) = self.state.get(position) else {
            return SkippingReason::None;
        };
        if task.is_final || task.is_scheduled() || self.is_invalid(task) {
            return SkippingReason::None;
        }
        if self.is_stopping() {
            return SkippingReason::Stopping;
        }
        if self.asks_for(&PipelineRunSpecStatus::CancelledRunFinally) {
            return SkippingReason::GracefullyCancelled;
        }
        if self.asks_for(&PipelineRunSpecStatus::StoppedRunFinally) {
            return SkippingReason::GracefullyStopped;
        }
        let parents_done = self.parents_done(position);
        if parents_done && !self.is_allowed(position) {
            return SkippingReason::WhenExpressions;
        }
        if self.parent_skipped(position) {
            return SkippingReason::ParentTasks;
        }
        if self.results_missing(position) {
            return SkippingReason::MissingResults;
        }
        if self.parents_done(position) && self.timeouts.is_over() {
            return SkippingReason::PipelineTimedOut;
        }
        if self.parents_done(position) && self.timeouts.tasks_over() {
            return SkippingReason::TasksTimedOut;
        }
        if self.state.get(position).is_some_and(has_empty_matrix) {
            return SkippingReason::EmptyArrayInMatrixParams;
        }
        SkippingReason::None
    }

    /// Why a finally task is skipped once all other tasks are done.
    pub(super) fn finally_skip_reason(&mut self, position: usize) -> SkippingReason {
        let Some(task) = self.state.get(position) else {
            return SkippingReason::None;
        };
        if task.is_scheduled() || !task.is_final || !self.all_done(false) {
            return SkippingReason::None;
        }
        if self.results_missing(position) {
            SkippingReason::MissingResults
        } else if !self.is_allowed(position) {
            SkippingReason::WhenExpressions
        } else if self.timeouts.is_over() {
            SkippingReason::PipelineTimedOut
        } else if self.timeouts.finally_over() {
            SkippingReason::FinallyTimedOut
        } else if self.state.get(position).is_some_and(has_empty_matrix) {
            SkippingReason::EmptyArrayInMatrixParams
        } else {
            SkippingReason::None
        }
    }

    fn is_allowed(&self, position: usize) -> bool {
        self.state
            .get(position)
            .is_none_or(|task| when::allows(&task.task.when, &task.evaluated_cel))
    }

    fn parents(&self, position: usize) -> Vec<usize> {
        let Some(task) = self.state.get(position).filter(|task| !task.is_final) else {
            return Vec::new();
        };
        self.graph
            .dependencies(task.name())
            .into_iter()
            .filter_map(|parent| self.position(parent))
            .collect()
    }

    fn parents_done(&mut self, position: usize) -> bool {
        self.parents(position)
            .into_iter()
            .all(|parent| self.is_done(parent))
    }

    /// A parent was skipped, and not merely because its own conditions were false.
    fn parent_skipped(&mut self, position: usize) -> bool {
        let harmless = [SkippingReason::None, SkippingReason::WhenExpressions];
        self.parents(position)
            .into_iter()
            .any(|parent| !harmless.contains(&self.skip_reason(parent)))
    }

    /// Puts results in place; true if the task is to be skipped because they are missing.
    fn results_missing(&mut self, position: usize) -> bool {
        if !self.parents_done(position) {
            return false;
        }
        let Some(task) = self.state.get(position).filter(|task| refers_to_results(task)) else {
            return false;
        };
        let resolved = match results::resolve(self, &task.task) {
            Ok(resolved) => resolved,
            Err(unresolved) => {
                let (may_go_on, is_final) = (task.ignores_failure(), task.is_final);
                if let Some(source) = self.position(&unresolved.task)
                    && (may_go_on || is_final || self.skip_reason(source) == SkippingReason::WhenExpressions)
                {
                    return true;
                }
                Vec::new()
            }
        };
        let matrix_sources: Vec<String> = resolved
            .iter()
            .map(|found| found.reference.pipeline_task.clone())
            .collect();
        self.remember_matrix_results(&matrix_sources);
        let known = results::replacements(&resolved);
        if let Some(task) = self.state.get_mut(position) {
            pipeline_spec::task_results(&mut task.task, &known);
        }
        self.skipped.clear();
        false
    }

    /// Keeps the results of matrices that have been referred to: only those count as results of the pipeline.
    pub(super) fn remember_matrix_results(&mut self, names: &[String]) {
        for name in names {
            let is_matrix = |task: &TaskState| task.kind == TaskKind::Task && task.task.is_matrixed();
            if !self.task(name).is_some_and(is_matrix) {
                continue;
            }
            if let Some(task) = self
                .position(name)
                .and_then(|position| self.state.get_mut(position))
                && task
                    .matrix_results
                    .as_ref()
                    .is_none_or(std::collections::BTreeMap::is_empty)
            {
                task.matrix_results = Some(task.results_of_matrix());
            }
        }
    }
}

/// Params or conditions of the task refer to results.
fn refers_to_results(task: &TaskState) -> bool {
    let refers = |names: Vec<String>| any_looks_like_task_result(&names);
    task.task
        .params
        .iter()
        .any(|param| refers(value_expressions(&param.value)))
        || task.task.when.iter().any(|when| refers(when_expressions(when)))
}

fn has_empty_matrix(task: &TaskState) -> bool {
    let params = task.task.matrix.iter().flat_map(|matrix| &matrix.params);
    task.task.is_matrixed()
        && params
            .into_iter()
            .any(|param| matches!(&param.value, ParamValue::Array(list) if list.is_empty()))
}
