//! Checks on matrices.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/matrix_types.go`, and the matrix part of
//! `pipeline_validation.go`.

use std::collections::BTreeMap;

use super::Context;
use super::params::no_duplicate_values;
use super::variables::{Declared, array_variable, string_variable};
use crate::config::ApiFields;
use crate::field_errors::FieldErrors;
use crate::result_ref::{ResultRef, looks_like_task_result, value_expressions};
use crate::v1::{Matrix, Param, ParamType, ParamValue, PipelineTask, TaskResult};

/// Checks the matrices of a list of tasks, and who uses results of matrixed tasks.
pub(super) fn tasks(tasks: &[PipelineTask], context: &Context<'_>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (index, task) in tasks.iter().enumerate() {
        errors.add(of_task(task, context).via_index(index));
    }
    errors.and(consumed_results(tasks))
}

fn of_task(task: &PipelineTask, context: &Context<'_>) -> FieldErrors {
    let Some(matrix) = &task.matrix else {
        return FieldErrors::none();
    };
    let mut errors = FieldErrors::none();
    if task.is_matrixed() {
        errors.add(context.requires("matrix", ApiFields::Beta));
        errors.add(size(matrix, context));
        errors.add(unique_names(matrix));
    }
    let names: Vec<&String> = all_params(matrix).map(|param| &param.name).collect();
    for param in task.params.iter().filter(|param| names.contains(&&param.name)) {
        let name = &param.name;
        errors.add(FieldErrors::multiple_one_of(&[
            &format!("matrix[{name}]"),
            &format!("params[{name}]"),
        ]));
    }
    errors
}

fn all_params(matrix: &Matrix) -> impl Iterator<Item = &Param> {
    let included = matrix.include.iter().flat_map(|include| &include.params);
    matrix.params.iter().chain(included)
}

fn size(matrix: &Matrix, context: &Context<'_>) -> FieldErrors {
    let count = matrix.count_combinations();
    let most = context.config.defaults.max_matrix_combinations_count;
    if count <= most {
        return FieldErrors::none();
    }
    FieldErrors::new(format!("expected 0 <= {count} <= {most}"), &["matrix"])
}

fn unique_names(matrix: &Matrix) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (index, include) in matrix.include.iter().enumerate() {
        let path = format!("matrix.include[{index}].params");
        errors.add(no_duplicate_values(&include.params).via_field(&path));
    }
    errors.and(no_duplicate_values(&matrix.params).via_field("matrix.params"))
}

/// Values in a matrix use only declared parameters.
pub(super) fn params(matrix: &Matrix, declared: &Declared) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for include in &matrix.include {
        for (index, param) in include.params.iter().enumerate() {
            let text = param.value.as_str().unwrap_or_default();
            let error = string_variable(text, "params", declared).via_field_index("", index);
            errors.add(error.via_field("").via_field("matrix.include.params"));
        }
    }
    for param in &matrix.params {
        for (index, item) in param.value.as_array().unwrap_or_default().iter().enumerate() {
            let error = array_variable(item, "params", declared).via_field_index("value", index);
            errors.add(error.via_field_key("matrix.params", &param.name));
        }
    }
    errors
}

/// Results of a matrixed task are consumed as a whole, and are strings.
fn consumed_results(tasks: &[PipelineTask]) -> FieldErrors {
    let by_name: BTreeMap<&str, &PipelineTask> = tasks.iter().map(|task| (task.name(), task)).collect();
    // As upstream does, only the references of the last parameter that has any are looked at further.
    let mut consumed = Vec::new();
    for param in tasks.iter().flat_map(|task| &task.params) {
        let expressions = value_expressions(&param.value);
        if expressions
            .iter()
            .any(|expression| looks_like_task_result(expression))
        {
            match from_matrices(&expressions, &by_name) {
                Ok(references) => consumed = references,
                Err(errors) => return errors,
            }
        }
    }
    let mut errors = FieldErrors::none();
    for reference in &consumed {
        errors.add(is_string(reference, &by_name));
    }
    errors
}

fn from_matrices(
    expressions: &[String],
    by_name: &BTreeMap<&str, &PipelineTask>,
) -> Result<Vec<ResultRef>, FieldErrors> {
    let mut errors = FieldErrors::none();
    let mut found = Vec::new();
    for expression in expressions
        .iter()
        .filter(|expression| looks_like_task_result(expression))
    {
        let name = expression.split('.').nth(1).unwrap_or_default();
        if !by_name.get(name).is_some_and(|task| task.is_matrixed()) {
            continue;
        }
        if !expression.ends_with("[*]") {
            errors.add(FieldErrors::new(
                format!(
                    "A matrixed pipelineTask can only be consumed in aggregate using [*] notation, but is currently \
                     set to {expression}"
                ),
                &[],
            ));
        }
        found.extend(ResultRef::parse_task(expression));
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

fn is_string(reference: &ResultRef, by_name: &BTreeMap<&str, &PipelineTask>) -> FieldErrors {
    let Some(task) = by_name.get(reference.pipeline_task.as_str()) else {
        return FieldErrors::none();
    };
    let spec = match &task.task_ref {
        Some(task_ref) => {
            let name = task_ref.name.as_deref().unwrap_or_default();
            by_name.get(name).and_then(|task| task.task_spec.as_ref())
        }
        None => task.task_spec.as_ref(),
    };
    let results = spec.map_or(&[][..], |spec| spec.task_spec.results.as_slice());
    let mut errors = FieldErrors::none();
    for result in results.iter().filter(|result| result.name == reference.result) {
        errors.add(string_result(result));
    }
    errors
}

fn string_result(result: &TaskResult) -> FieldErrors {
    let type_ = result.type_.as_ref().map_or("", ParamType::as_str);
    if type_ == ParamType::String.as_str() {
        return FieldErrors::none();
    }
    let message = format!(
        "Matrixed PipelineTasks emitting results must have an underlying type string, but result {} has type \
         {type_} in pipelineTask",
        result.name
    );
    FieldErrors::invalid_value(message, "")
}

/// All texts of parameter values, as upstream collects them.
pub(super) fn texts(params: &[Param]) -> impl Iterator<Item = &str> {
    params.iter().flat_map(|param| ParamValue::texts(&param.value))
}
