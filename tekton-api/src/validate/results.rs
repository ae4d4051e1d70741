//! Checks on declared results of Tasks and steps.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/result_validation.go`.

use super::names::{RESULT_NAME_FORMAT, is_dns_label, is_result_name};
use super::params::keys_that_are_no_strings;
use crate::field_errors::FieldErrors;
use crate::quote::quote;
use crate::v1::{ParamType, ParamValue, StepResult, TaskResult};

fn invalid_name(name: &str) -> FieldErrors {
    let details = format!(
        "Name must consist of alphanumeric characters, '-', '_', and must start and end with an alphanumeric character \
         (e.g. 'MyName',  or 'my-name',  or 'my_name', regex used for validation is '{RESULT_NAME_FORMAT}')"
    );
    FieldErrors::detailed(format!("invalid key name {}", quote(name)), details, &["name"])
}

pub(super) fn task_results(results: &[TaskResult]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (index, result) in results.iter().enumerate() {
        errors.add(task_result(result).via_index(index));
    }
    errors
}

fn task_result(result: &TaskResult) -> FieldErrors {
    if !is_result_name(&result.name) {
        return invalid_name(&result.name);
    }
    let mut errors = FieldErrors::none();
    match &result.type_ {
        Some(ParamType::Object) => {
            let properties = format!("{}.properties", result.name);
            if result.properties.is_none() {
                errors.add(FieldErrors::missing(&[&properties]));
            } else {
                let wrong = keys_that_are_no_strings(result.properties.as_ref()).join(" ");
                if !wrong.is_empty() {
                    let message = format!(
                        "The value type specified for these keys [{wrong}] is invalid, the type must be string"
                    );
                    errors.add(FieldErrors::new(message, &[&properties]));
                }
            }
        }
        Some(ParamType::Other(type_)) if !type_.is_empty() => {
            errors.add(FieldErrors::invalid_value_because(
                type_,
                "type",
                "type must be string",
            ));
        }
        _ => {}
    }
    errors.and(value(result))
}

/// A value repeats the result of a step.
fn value(result: &TaskResult) -> FieldErrors {
    let text = match &result.value {
        None => return FieldErrors::none(),
        Some(ParamValue::String(text)) => text,
        Some(other) => {
            let message = format!("Invalid Type. Wanted string but got: \"{}\"", other.param_type());
            return FieldErrors::new(message, &[&format!("{}.type", result.name)]);
        }
    };
    if text.is_empty() {
        return FieldErrors::none();
    }
    let path = format!("{}.value", result.name);
    let Some((step, name)) = step_result_reference(text) else {
        let message = format!(
            "Could not extract step name and result name. Expected value to look like \
             $(steps.<stepName>.results.<resultName>) but got \"{text}\""
        );
        return FieldErrors::new(message, &[&path]);
    };
    let mut errors = FieldErrors::none();
    if !is_dns_label(step) {
        errors.add(FieldErrors::detailed(
            format!("invalid extracted step name {}", quote(step)),
            "stepName in $(steps.<stepName>.results.<resultName>) must be a valid DNS Label, For more info refer to \
             https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names",
            &[&path],
        ));
    }
    if !is_result_name(name) {
        let details = format!(
            "resultName in $(steps.<stepName>.results.<resultName>) must consist of alphanumeric characters, '-', '_', \
             and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my-name',  or 'my_name', regex \
             used for validation is '{RESULT_NAME_FORMAT}')"
        );
        errors.add(FieldErrors::detailed(
            format!("invalid extracted result name {}", quote(name)),
            details,
            &[&path],
        ));
    }
    errors
}

/// Names of the step and the result in the first `$(steps.STEP.results.RESULT)` of a text.
fn step_result_reference(text: &str) -> Option<(&str, &str)> {
    text.split('\n').find_map(|line| {
        let (_, after) = line.split_once("$(steps.")?;
        let (step, after) = after.split_once(".results.")?;
        let (result, _) = after.split_once(')')?;
        Some((step, result))
    })
}

/// Whether a text refers to the result of a step.
pub(super) fn has_step_result_reference(text: &str) -> bool {
    step_result_reference(text).is_some()
}

pub(super) fn step_results(results: &[StepResult]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (index, result) in results.iter().enumerate() {
        errors.add(step_result(result).via_index(index));
    }
    errors
}

fn step_result(result: &StepResult) -> FieldErrors {
    if !is_result_name(&result.name) {
        return invalid_name(&result.name);
    }
    match &result.type_ {
        Some(ParamType::Object) => {
            let properties = format!("{}.properties", result.name);
            if result.properties.is_none() {
                return FieldErrors::missing(&[&properties]);
            }
            let wrong = keys_that_are_no_strings(result.properties.as_ref()).join(" ");
            if wrong.is_empty() {
                return FieldErrors::none();
            }
            let message = format!(
                "the value type specified for these keys [{wrong}] is invalid, the type must be string"
            );
            FieldErrors::new(message, &[&properties])
        }
        Some(ParamType::Other(type_)) if !type_.is_empty() => {
            FieldErrors::invalid_value_because(type_, "type", &format!("invalid type {type_}"))
        }
        _ => FieldErrors::none(),
    }
}
