//! Checks on Pipelines: the order in which their parts are looked at.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/pipeline_validation.go`.

use std::collections::BTreeSet;

use super::{
    Context, Validate, graph, matrix, names, pipeline_results, pipeline_task, pipeline_variables, when,
    workspaces,
};
use crate::field_errors::FieldErrors;
use crate::v1::{Pipeline, PipelineSpec, PipelineTask};

impl Validate for Pipeline {
    fn validate(&self, context: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        let spec = spec(&self.spec, context)
            // Parameters and workspaces are not propagated into a Pipeline of its own.
            .and(pipeline_variables::declared_params(&self.spec, context))
            .and(workspace_usage(&self.spec));
        names::object_metadata(&self.metadata).and(spec.via_field("spec"))
    }
}

impl Validate for PipelineSpec {
    fn validate(&self, context: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        spec(self, context)
    }
}

/// Checks what a Pipeline does.
pub(super) fn spec(spec: &PipelineSpec, context: &Context<'_>) -> FieldErrors {
    let (tasks, finally) = (&spec.tasks, &spec.finally);
    let mut errors = beta_fields(spec, context);
    if *spec == PipelineSpec::default() {
        errors.add(FieldErrors::new(
            "expected at least one, got none",
            &["description", "params", "resources", "tasks", "workspaces"],
        ));
    }
    errors.add(task_lists(tasks, finally, context));
    errors.add(graph::tasks(tasks, context));
    for (list, field) in [(tasks, "tasks"), (finally, "finally")] {
        errors.add(pipeline_variables::declarations(list, &spec.params, context).via_field(field));
        errors.add(pipeline_variables::context_variables(list).via_field(field));
    }
    errors.add(pipeline_variables::execution_status(tasks, finally));
    errors.add(workspaces::pipeline_declared(&spec.workspaces));
    errors.add(pipeline_results::declared(&spec.results, tasks, finally));
    errors.add(pipeline_results::none_of_child_pipelines(tasks, finally, context));
    if tasks.is_empty() && !finally.is_empty() {
        let message = format!("spec.tasks is empty but spec.finally has {} tasks", finally.len());
        errors.add(FieldErrors::invalid_value(message, "finally"));
    }
    errors.add(final_tasks(tasks, finally));
    for (list, field) in [(tasks, "tasks"), (finally, "finally")] {
        for (index, task) in list.iter().enumerate() {
            errors.add(when::expressions(&task.when, context).via_field_index(field, index));
        }
    }
    errors.add(pipeline_variables::artifacts(tasks, finally, context));
    for (list, field) in [(tasks, "tasks"), (finally, "finally")] {
        errors.add(matrix::tasks(list, context).via_field(field));
        errors.add(pipeline_variables::prefixes(list, field));
    }
    errors
}

/// References by resolver need beta fields. v1 reports those of finally tasks among the tasks.
fn beta_fields(spec: &PipelineSpec, context: &Context<'_>) -> FieldErrors {
    let finally = if context.is_v1() { "tasks" } else { "finally" };
    let mut errors = FieldErrors::none();
    for (list, field) in [(&spec.tasks, "tasks"), (&spec.finally, finally)] {
        for (index, task) in list.iter().enumerate() {
            errors.add(pipeline_task::beta_fields(task, context).via_field_index(field, index));
        }
    }
    errors
}

/// Names are unique in the whole Pipeline, and each task is complete.
fn task_lists(tasks: &[PipelineTask], finally: &[PipelineTask], context: &Context<'_>) -> FieldErrors {
    let mut names = BTreeSet::new();
    let mut errors = FieldErrors::none();
    for (list, field) in [(tasks, "tasks"), (finally, "finally")] {
        for (index, task) in list.iter().enumerate() {
            let mut found = pipeline_task::name(task);
            if !names.insert(task.name()) {
                found.add(FieldErrors::multiple_one_of(&["name"]));
            }
            found.add(pipeline_task::task(task, context));
            errors.add(found.via_field_index(field, index));
        }
    }
    errors
}

/// Finally tasks run together, and use no results of each other.
fn final_tasks(tasks: &[PipelineTask], finally: &[PipelineTask]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (index, task) in finally.iter().enumerate() {
        if !task.run_after.is_empty() {
            let message = format!(
                "no runAfter allowed under spec.finally, final task {} has runAfter specified",
                task.name()
            );
            errors.add(FieldErrors::invalid_value(message, "").via_field_index("finally", index));
        }
    }
    errors.and(pipeline_results::used_by_finally(tasks, finally))
}

fn workspace_usage(spec: &PipelineSpec) -> FieldErrors {
    let known: BTreeSet<&str> = spec
        .workspaces
        .iter()
        .map(|workspace| workspace.name.as_str())
        .collect();
    let mut errors = FieldErrors::none();
    for (list, field) in [(&spec.tasks, "tasks"), (&spec.finally, "finally")] {
        for (index, task) in list.iter().enumerate() {
            errors.add(workspaces::pipeline_task(task, &known).via_field_index(field, index));
        }
    }
    errors
}
