//! Checks on the variables in a Pipeline: parameters, context, execution status, artifacts.
//!
//! Upstream counterpart: the variable part of `pkg/apis/pipeline/v1/pipeline_validation.go`.

use std::collections::BTreeSet;

use super::params::{declared, enums, no_duplicate_values, no_duplicates, types, values_use_declared};
use super::variables::{Declared, names, no_unknown};
use super::{Context, matrix, merge, step, step_variables, when};
use crate::field_errors::FieldErrors;
use crate::quote::quote;
use crate::result_ref::{all_params, any_looks_like_task_result, value_expressions, when_expressions};
use crate::v1::{Param, ParamSpec, PipelineSpec, PipelineTask};

const PREFIXES: [&str; 6] = ["params", "tasks", "finally", "context", "workspaces", "results"];

/// All parameters that tasks use are declared by the Pipeline (or by the embedded Task).
pub(super) fn declared_params(spec: &PipelineSpec, context: &Context<'_>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (list, field) in [(&spec.tasks, "tasks"), (&spec.finally, "finally")] {
        for (index, task) in list.iter().enumerate() {
            if let Some(embedded) = &task.task_spec {
                let steps = merge::steps(&embedded.task_spec, context);
                let params: Vec<ParamSpec> = embedded
                    .task_spec
                    .params
                    .iter()
                    .chain(&spec.params)
                    .cloned()
                    .collect();
                let found = step_variables::declared_params(&steps, &params, context);
                errors.add(found.via_field_index(field, index));
            }
        }
        errors.add(task_params(list, &spec.params).via_field(field));
    }
    errors
}

/// The values that tasks are given use declared parameters, arrays and objects in the right places.
pub(super) fn task_params(tasks: &[PipelineTask], params: &[ParamSpec]) -> FieldErrors {
    let declared: Declared = declared(params, "params");
    let mut errors = FieldErrors::none();
    for (index, task) in tasks.iter().enumerate() {
        let mut found = values_use_declared(&task.params, "params", &declared);
        if let Some(matrix) = task.matrix.as_ref().filter(|_| task.is_matrixed()) {
            found.add(matrix::params(matrix, &declared));
        }
        found.add(when::params(&task.when, &declared));
        found.add(no_duplicate_values(&task.params).via_field("params"));
        errors.add(found.via_index(index));
    }
    errors
}

/// Parameters are declared well, and no task is given one twice.
pub(super) fn declarations(
    tasks: &[PipelineTask],
    params: &[ParamSpec],
    context: &Context<'_>,
) -> FieldErrors {
    let mut errors = types(params).via_field("params");
    errors.add(no_duplicates(params));
    errors.add(enums(params, context).via_field("params"));
    for (index, task) in tasks.iter().enumerate() {
        errors.add(
            no_duplicate_values(&task.params)
                .via_field("params")
                .via_index(index),
        );
    }
    errors
}

/// Context variables exist. As upstream, only the last task is looked at.
pub(super) fn context_variables(tasks: &[PipelineTask]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let Some(last) = tasks.last() else {
        return errors;
    };
    let known = [
        (r"context\.pipelineRun", names(["name", "namespace", "uid"])),
        (r"context\.pipeline", names(["name"])),
        (r"context\.pipelineTask", names(["retries"])),
    ];
    for text in all_params(last).flat_map(|param| param.value.texts()) {
        for (prefix, known) in &known {
            errors.add(no_unknown(text, prefix, known).via_field("value"));
        }
    }
    errors
}

/// The execution status of tasks is known to finally tasks only.
pub(super) fn execution_status(tasks: &[PipelineTask], finally: &[PipelineTask]) -> FieldErrors {
    let names: BTreeSet<&str> = tasks.iter().map(PipelineTask::name).collect();
    let mut errors = FieldErrors::none();
    for (index, task) in tasks.iter().enumerate() {
        let found = in_expressions(task, &|expressions, path| {
            if !status_references(expressions).is_empty() {
                return FieldErrors::invalid_value(
                    "pipeline tasks can not refer to execution status of any other pipeline task or aggregate status \
                     of tasks",
                    path,
                );
            }
            FieldErrors::none()
        });
        errors.add(found.via_field_index("tasks", index));
    }
    for (index, task) in finally.iter().enumerate() {
        let found = in_expressions(task, &|expressions, path| {
            let mut errors = FieldErrors::none();
            for name in status_references(expressions).into_iter().flatten() {
                if !names.contains(name) {
                    let message = format!("pipeline task {name} is not defined in the pipeline");
                    errors.add(FieldErrors::invalid_value(message, path));
                }
            }
            errors
        });
        errors.add(found.via_field_index("finally", index));
    }
    errors
}

/// Applies a check to the variables of each parameter and each condition.
fn in_expressions(task: &PipelineTask, check: &dyn Fn(&[String], &str) -> FieldErrors) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for param in &task.params {
        let found = check(&value_expressions(&param.value), "value");
        errors.add(found.via_field_key("params", &param.name));
    }
    for (index, when) in task.when.iter().enumerate() {
        errors.add(check(&when_expressions(when), "").via_field_index("when", index));
    }
    errors
}

/// The tasks whose status or reason is referred to; nothing stands for all tasks together. If there is a
/// reference to a result as well, upstream does not look.
fn status_references(expressions: &[String]) -> Vec<Option<&str>> {
    if any_looks_like_task_result(expressions) {
        return Vec::new();
    }
    expressions
        .iter()
        .filter_map(|expression| {
            let rest = expression.strip_prefix("tasks.")?;
            if rest == "status" {
                return Some(None);
            }
            if !expression.ends_with(".status") && !expression.ends_with(".reason") {
                return None;
            }
            let name = rest
                .strip_suffix(".status")
                .or_else(|| rest.strip_suffix(".reason"));
            Some(Some(name.unwrap_or(rest)))
        })
        .collect()
}

/// Artifacts are used only if they are switched on; the first violation is reported.
pub(super) fn artifacts(
    tasks: &[PipelineTask],
    finally: &[PipelineTask],
    context: &Context<'_>,
) -> FieldErrors {
    if context.config.features.enable_artifacts {
        return FieldErrors::none();
    }
    for (list, field) in [(tasks, "tasks"), (finally, "finally")] {
        for (index, task) in list.iter().enumerate() {
            if matrix::texts(&task.params).any(step::has_named_task_artifact) {
                let error = step::artifacts_are_off().via_field("params");
                return error.via_field_index(field, index);
            }
        }
    }
    FieldErrors::none()
}

/// Variables start with a known word; others are probably meant for a shell.
pub(super) fn prefixes(tasks: &[PipelineTask], field: &str) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (index, task) in tasks.iter().enumerate() {
        let mut found = of_params(&task.params, "params");
        for (position, when) in task.when.iter().enumerate() {
            found.add(unknown_prefixes(&when_expressions(when), "").via_field_index("when", position));
        }
        if let Some(matrix) = task.matrix.as_ref().filter(|_| task.is_matrixed()) {
            found.add(of_params(&matrix.params, "matrix.params"));
            for (position, include) in matrix.include.iter().enumerate() {
                let of_include = of_params(&include.params, "params");
                found.add(of_include.via_field_index("matrix.include", position));
            }
        }
        errors.add(found.via_field_index(field, index));
    }
    errors
}

fn of_params(params: &[Param], field: &str) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for param in params {
        let found = unknown_prefixes(&value_expressions(&param.value), "value");
        errors.add(found.via_field_key(field, &param.name));
    }
    errors
}

fn unknown_prefixes(expressions: &[String], path: &str) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for expression in expressions {
        let prefix = expression.split('.').next().unwrap_or_default();
        if !PREFIXES.contains(&prefix) {
            let message = format!(
                "invalid variable reference {}, must start with a valid prefix: params, tasks, finally, context, \
                 workspaces, or results; if you meant a shell variable, use ${{VAR}} instead",
                quote(&format!("$({expression})"))
            );
            errors.add(FieldErrors::invalid_value(message, path));
        }
    }
    errors
}
