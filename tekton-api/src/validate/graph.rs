//! Checks that the tasks of a Pipeline form a graph.
//!
//! Upstream counterpart: `validateGraph` in `pkg/apis/pipeline/v1/pipeline_validation.go`.

use tekton_dag::Graph;

use super::Context;
use crate::field_errors::FieldErrors;
use crate::result_ref::{
    ResultRef, all_params, dependencies, pipeline_task_refs, result_refs, value_expressions, when_expressions,
};
use crate::v1::PipelineTask;

/// Tasks have names of their own and depend on each other without a cycle.
pub(super) fn tasks(tasks: &[PipelineTask], context: &Context<'_>) -> FieldErrors {
    let nodes = tasks.iter().map(|task| {
        let parents = if context.is_v1() {
            dependencies(task)
        } else {
            let results = references(task, context)
                .into_iter()
                .map(|found| found.pipeline_task);
            results.chain(task.run_after.iter().cloned()).collect()
        };
        (task.name(), parents)
    });
    match Graph::build(nodes) {
        Ok(_) => FieldErrors::none(),
        Err(error) => FieldErrors::invalid_value(error, "tasks"),
    }
}

/// The results that a task refers to; v1beta1 does not look into embedded Tasks.
pub(super) fn references(task: &PipelineTask, context: &Context<'_>) -> Vec<ResultRef> {
    if context.is_v1() {
        return pipeline_task_refs(task);
    }
    let params = all_params(task).flat_map(|param| result_refs(&value_expressions(&param.value)));
    let when = task
        .when
        .iter()
        .flat_map(|when| result_refs(&when_expressions(when)));
    params.chain(when).collect()
}
