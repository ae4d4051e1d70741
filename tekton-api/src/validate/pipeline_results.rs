//! Checks on results that a Pipeline declares, and on references to results of its tasks.
//!
//! Upstream counterpart: the result part of `pkg/apis/pipeline/v1/pipeline_validation.go`.

use std::collections::BTreeSet;

use super::{Context, graph};
use crate::field_errors::FieldErrors;
use crate::result_ref::{
    ResultRef, any_looks_like_task_result, looks_like_task_result, result_refs, value_expressions,
    when_expressions,
};
use crate::substitute::scan::strip_expression;
use crate::v1::{PipelineResult, PipelineTask};

fn names(tasks: &[PipelineTask]) -> BTreeSet<&str> {
    tasks.iter().map(PipelineTask::name).collect()
}

/// Results of a Pipeline are made of results of its tasks.
pub(super) fn declared(
    results: &[PipelineResult],
    tasks: &[PipelineTask],
    finally: &[PipelineTask],
) -> FieldErrors {
    let (tasks, finally) = (names(tasks), names(finally));
    let mut errors = FieldErrors::none();
    for (index, result) in results.iter().enumerate() {
        errors.add(one(result, &tasks, &finally).via_field_index("results", index));
    }
    errors
}

fn one(result: &PipelineResult, tasks: &BTreeSet<&str>, finally: &BTreeSet<&str>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let mut problem = |message: &str| errors.add(FieldErrors::invalid_value(message, "value"));
    let expressions = value_expressions(&result.value);
    if expressions.is_empty() {
        problem("expected pipeline results to be task result expressions but no expressions were found");
    }
    if !any_looks_like_task_result(&expressions) {
        problem(
            "expected pipeline results to be task result expressions but an invalid expressions was found",
        );
    }
    let references: Vec<&str> = expressions
        .iter()
        .map(String::as_str)
        .filter(|expression| looks_like_task_result(expression))
        .collect();
    let parsed = references
        .iter()
        .filter(|expression| ResultRef::parse_task(expression).is_some());
    let parsed = parsed.count();
    if parsed != references.len() {
        // Upstream prints the addresses of those that are; their number is all that can be known of them.
        problem(&format!(
            "expected all of the expressions [{}] to be result expressions but only [{}] were",
            references.join(" "),
            vec!["&{}"; parsed].join(" ")
        ));
    }
    let text = result.value.as_str().unwrap_or_default();
    if !refers_to_tasks(text, tasks, finally) {
        problem("referencing a nonexistent task");
    }
    errors
}

/// Whether each `$…` in a text is a reference to a result of a task that exists. Text before the first
/// `$` counts as one, text behind a reference belongs to it.
fn refers_to_tasks(text: &str, tasks: &BTreeSet<&str>, finally: &BTreeSet<&str>) -> bool {
    text.split('$').filter(|part| !part.is_empty()).all(|part| {
        let expression = format!("${part}");
        let expression = strip_expression(&expression);
        let Some(reference) = ResultRef::parse_task(expression) else {
            return false;
        };
        let name = reference.pipeline_task.as_str();
        let known = if expression.starts_with("tasks") {
            tasks
        } else {
            finally
        };
        known.contains(name)
    })
}

/// Results of child pipelines cannot be used yet.
pub(super) fn none_of_child_pipelines(
    tasks: &[PipelineTask],
    finally: &[PipelineTask],
    context: &Context<'_>,
) -> FieldErrors {
    let children: BTreeSet<&str> = tasks
        .iter()
        .filter(|task| task.pipeline_ref.is_some() || task.pipeline_spec.is_some())
        .map(PipelineTask::name)
        .collect();
    let mut errors = FieldErrors::none();
    if children.is_empty() {
        return errors;
    }
    for (list, field) in [(tasks, "tasks"), (finally, "finally")] {
        for (index, task) in list.iter().enumerate() {
            for reference in graph::references(task, context) {
                if children.contains(reference.pipeline_task.as_str()) {
                    let message = format!(
                        "result reference to pipelineTask {} is not supported: referenced task uses pipelineRef or \
                         pipelineSpec and result propagation from child Pipelines is not yet implemented",
                        crate::quote::quote(&reference.pipeline_task)
                    );
                    errors.add(FieldErrors::invalid_value(message, "").via_field_index(field, index));
                }
            }
        }
    }
    errors
}

/// Finally tasks use results of tasks that are not finally tasks, and that exist.
pub(super) fn used_by_finally(tasks: &[PipelineTask], finally: &[PipelineTask]) -> FieldErrors {
    let (tasks, final_names) = (names(tasks), names(finally));
    let check = |expressions: &[String], path: &str| {
        let mut errors = FieldErrors::none();
        for reference in result_refs(expressions) {
            let name = reference.pipeline_task.as_str();
            if final_names.contains(name) {
                let message = format!(
                    "invalid task result reference, final task has task result reference from a final task {name}"
                );
                errors.add(FieldErrors::invalid_value(message, path));
            } else if !tasks.contains(name) {
                let message = format!(
                    "invalid task result reference, final task has task result reference from a task {name} which is \
                     not defined in the pipeline"
                );
                errors.add(FieldErrors::invalid_value(message, path));
            }
        }
        errors
    };
    let mut errors = FieldErrors::none();
    for (index, task) in finally.iter().enumerate() {
        for param in &task.params {
            let found = check(&value_expressions(&param.value), "value").via_field_key("params", &param.name);
            errors.add(found.via_field_index("finally", index));
        }
        for (position, when) in task.when.iter().enumerate() {
            let found = check(&when_expressions(when), "").via_field_index("when", position);
            errors.add(found.via_field_index("finally", index));
        }
    }
    errors
}
