//! Checks on parameters that a run propagates into the definition written in it.
//!
//! Such a definition may use parameters that only the run declares, so both are looked at together.
//! Upstream counterpart: `validateInlineParameters` in `taskrun_validation.go` and
//! `pipelinerun_validation.go`.

use std::collections::BTreeMap;

use super::params::types;
use super::{Context, merge, pipeline_variables, step_variables, task};
use crate::field_errors::FieldErrors;
use crate::quote::quote;
use crate::v1::{Param, ParamSpec, ParamType, ParamValue, PipelineSpec, PropertySpec, Step, TaskSpec};

/// Parameters by name, as far as they are known.
type Known = BTreeMap<String, ParamSpec>;

/// A Task within a TaskRun.
pub(super) fn task_run(params: &[Param], spec: &TaskSpec, context: &Context<'_>) -> FieldErrors {
    let mut known = given(params);
    let mut errors = FieldErrors::none();
    for param in &spec.params {
        errors.add(declare(param, &mut known));
    }
    if !spec.steps.is_empty() {
        let steps = merge::steps(spec, context);
        let params: Vec<ParamSpec> = known.into_values().collect();
        errors.add(used_by_steps(&steps, &params, context));
    }
    errors
}

/// A Pipeline within a PipelineRun.
pub(super) fn pipeline_run(params: &[Param], spec: &PipelineSpec, context: &Context<'_>) -> FieldErrors {
    let mut known = given(params);
    let mut errors = FieldErrors::none();
    for param in &spec.params {
        errors.add(declare(param, &mut known));
    }
    for task in &spec.tasks {
        for param in &task.params {
            errors.add(extend(param, &mut known));
        }
        for param in task
            .task_spec
            .iter()
            .flat_map(|embedded| &embedded.task_spec.params)
        {
            errors.add(declare(param, &mut known));
        }
    }
    if spec.tasks.is_empty() {
        return errors;
    }
    let params: Vec<ParamSpec> = known.into_values().collect();
    for embedded in spec.tasks.iter().filter_map(|task| task.task_spec.as_ref()) {
        if !embedded.task_spec.steps.is_empty() {
            let steps = merge::steps(&embedded.task_spec, context);
            errors.add(used_by_steps(&steps, &params, context));
        }
    }
    errors
        .and(pipeline_variables::declarations(&spec.tasks, &params, context))
        .and(pipeline_variables::task_params(&spec.tasks, &params))
}

fn used_by_steps(steps: &[Step], params: &[ParamSpec], context: &Context<'_>) -> FieldErrors {
    types(params)
        .and(task::parameter_variables(steps, params, context))
        .and(step_variables::declared_params(steps, params, context))
}

fn given(params: &[Param]) -> Known {
    params
        .iter()
        .map(|param| (param.name.clone(), from_value(param)))
        .collect()
}

/// What a value tells about its parameter.
fn from_value(param: &Param) -> ParamSpec {
    let string = PropertySpec {
        type_: Some(ParamType::String),
    };
    ParamSpec {
        name: param.name.clone(),
        type_: Some(param.value.param_type()),
        properties: param
            .value
            .as_object()
            .map(|entries| entries.keys().map(|key| (key.clone(), string.clone())).collect()),
        default: Some(param.value.clone()),
        ..ParamSpec::default()
    }
}

/// Joins a declaration with what is known. Keys of objects must be declared completely.
fn declare(param: &ParamSpec, known: &mut Known) -> FieldErrors {
    let Some(value) = known.get_mut(&param.name) else {
        known.insert(param.name.clone(), param.clone());
        return FieldErrors::none();
    };
    let has_object_default = matches!(param.default, Some(ParamValue::Object(_)));
    let is_object = value.type_ == Some(ParamType::Object);
    if (has_object_default || is_object) && param.properties.is_none() {
        return FieldErrors::missing(&[&format!("{}.properties", param.name)]);
    }
    if is_object {
        value.properties.clone_from(&param.properties);
    }
    FieldErrors::none()
}

/// Joins a value that a task is given with what is known.
fn extend(param: &Param, known: &mut Known) -> FieldErrors {
    let Some(existing) = known.get_mut(&param.name) else {
        known.insert(param.name.clone(), from_value(param));
        return FieldErrors::none();
    };
    let keys: Vec<&String> = param
        .value
        .as_object()
        .into_iter()
        .flat_map(BTreeMap::keys)
        .collect();
    if keys.is_empty() {
        return FieldErrors::none();
    }
    // Upstream panics if what is known has no object to add the keys to.
    let has_object = matches!(existing.default, Some(ParamValue::Object(_)));
    match &mut existing.properties {
        Some(properties) if has_object => {
            for key in keys {
                let type_ = Some(ParamType::String);
                properties.insert(key.clone(), PropertySpec { type_ });
            }
            FieldErrors::none()
        }
        _ => FieldErrors::new(
            format!(
                "an object is passed to parameter {}, which is known as no object with a value",
                quote(&param.name)
            ),
            &[&format!("params[{}]", param.name)],
        ),
    }
}
