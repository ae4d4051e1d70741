//! Which fields of pipelines and pipeline tasks are subject to substitution.
//!
//! Upstream counterpart: `pkg/reconciler/pipelinerun/resources/apply.go`.

use std::collections::BTreeMap;

use super::{params, task_spec, when_expression};
use crate::substitute::Replacements;
use crate::v1::{OnError, Param, ParamValue, PipelineSpec, PipelineTask};

/// Replaces variables in all tasks of a pipeline, embedded Tasks included.
pub fn pipeline_spec(spec: &mut PipelineSpec, known: &Replacements) {
    for task in spec.tasks.iter_mut().chain(&mut spec.finally) {
        pipeline_task(task, known);
    }
}

/// Replaces variables in a pipeline task. Params of the task hide those of the pipeline in an embedded Task.
pub fn pipeline_task(task: &mut PipelineTask, known: &Replacements) {
    values(&mut task.params, known);
    if task.is_matrixed() {
        matrix(task, known);
    } else {
        known.apply_option(&mut task.display_name);
    }
    for workspace in &mut task.workspaces {
        known.apply_option(&mut workspace.sub_path);
    }
    for when in &mut task.when {
        when_expression(when, known);
    }
    if let Some(reference) = &mut task.task_ref {
        values(&mut reference.params, known);
        known.apply_option(&mut reference.name);
    }
    if let Some(on_error) = &mut task.on_error {
        *on_error = OnError::from(known.string(on_error.as_str()).as_str());
    }
    let scoped = scoped(&task.params, known);
    if let Some(embedded) = &mut task.task_spec {
        task_spec::task_spec(&mut embedded.task_spec, &scoped);
    }
}

/// Replaces results in a pipeline task that is about to run: also sub-paths of workspaces, not embedded Tasks.
pub fn task_results(task: &mut PipelineTask, known: &Replacements) {
    values(&mut task.params, known);
    if task.is_matrixed() {
        matrix(task, known);
    }
    for when in &mut task.when {
        when_expression(when, known);
    }
    if let Some(reference) = &mut task.task_ref {
        values(&mut reference.params, known);
        known.apply_option(&mut reference.name);
    }
    known.apply_option(&mut task.display_name);
    for workspace in &mut task.workspaces {
        known.apply_option(&mut workspace.sub_path);
    }
}

/// Replaces the states of other tasks in a finally task.
pub fn task_states(task: &mut PipelineTask, known: &Replacements) {
    values(&mut task.params, known);
    for when in &mut task.when {
        when_expression(when, known);
    }
    if let Some(reference) = &mut task.task_ref {
        values(&mut reference.params, known);
        known.apply_option(&mut reference.name);
    }
    known.apply_option(&mut task.display_name);
}

/// Replaces variables that only params, matrix and display name may hold.
pub fn task_context(task: &mut PipelineTask, known: &Replacements) {
    values(&mut task.params, known);
    if let Some(matrix) = &mut task.matrix {
        values(&mut matrix.params, known);
        for include in &mut matrix.include {
            values(&mut include.params, known);
        }
    }
    known.apply_option(&mut task.display_name);
}

/// Replaces variables in the values of params.
pub fn values(params: &mut [Param], known: &Replacements) {
    for param in params {
        param.value = known.param_value(&param.value);
    }
}

/// Params of a matrix take no objects, those of its includes strings only.
fn matrix(task: &mut PipelineTask, known: &Replacements) {
    let Some(matrix) = &mut task.matrix else { return };
    let lists = Replacements {
        objects: BTreeMap::new(),
        ..known.clone()
    };
    values(&mut matrix.params, &lists);
    let strings = Replacements {
        strings: known.strings.clone(),
        ..Replacements::default()
    };
    for include in &mut matrix.include {
        values(&mut include.params, &strings);
    }
}

/// The variables of a pipeline with those hidden that the params of a task take over.
fn scoped(task_params: &[Param], known: &Replacements) -> Replacements {
    let mut scoped = known.clone();
    for param in task_params {
        for name in params::names(&param.name) {
            if let Some(text) = scoped.strings.get_mut(&name) {
                param.value.as_str().unwrap_or_default().clone_into(text);
            }
            if let Some(list) = scoped.arrays.get_mut(&name) {
                *list = param.value.as_array().unwrap_or_default().to_vec();
            }
            if let Some(members) = scoped.objects.get_mut(&name) {
                *members = param.value.as_object().cloned().unwrap_or_default();
                if let ParamValue::Object(members) = &param.value {
                    for (key, text) in members {
                        scoped
                            .strings
                            .insert(format!("params.{}.{key}", param.name), text.clone());
                    }
                }
            }
        }
    }
    scoped
}
