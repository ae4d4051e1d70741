//! Checks on one task of a Pipeline: what it runs, and how.
//!
//! Upstream counterpart: the methods of `PipelineTask` in `pipeline_validation.go`.

use super::names::is_dns_label;
use super::step::is_param_reference;
use super::{Context, pipeline, refs, task, text};
use crate::config::ApiFields;
use crate::field_errors::FieldErrors;
use crate::quote::quote;
use crate::v1::{OnError, PipelineTask};

/// References by resolver need beta fields.
pub(super) fn beta_fields(task: &PipelineTask, context: &Context<'_>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    if let Some(reference) = &task.task_ref {
        if !text(reference.resolver.as_ref()).is_empty() {
            errors.add(context.requires("taskref.resolver", ApiFields::Beta));
        }
        if !reference.params.is_empty() {
            errors.add(context.requires("taskref.params", ApiFields::Beta));
        }
    }
    errors
}

/// The name is a DNS label.
pub(super) fn name(task: &PipelineTask) -> FieldErrors {
    if is_dns_label(task.name()) {
        return FieldErrors::none();
    }
    FieldErrors::detailed(
        format!("invalid value {}", quote(task.name())),
        "Pipeline Task name must be a valid DNS Label.For more info refer to \
         https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names",
        &["name"],
    )
}

/// Checks what the task runs.
pub(super) fn task(task: &PipelineTask, context: &Context<'_>) -> FieldErrors {
    let mut errors = one_of_ref_and_spec(task, context);
    errors.add(inline_spec(task, context));
    errors.add(embedded_or_custom(task));
    errors.add(on_error(task, context));
    if is_custom(task) {
        return errors.and(custom(task));
    }
    if let Some(embedded) = &task.task_spec {
        errors.add(task::spec(&embedded.task_spec, context).via_field("taskSpec"));
    }
    if let Some(reference) = &task.task_ref {
        errors.add(refs::task(reference, context).via_field("taskRef"));
    }
    if context.is_v1() {
        if let Some(reference) = &task.pipeline_ref {
            errors.add(refs::pipeline(reference, context).via_field("pipelineRef"));
        }
        if let Some(spec) = &task.pipeline_spec {
            errors.add(pipeline::spec(spec, context).via_field("pipelineSpec"));
        }
    }
    errors
}

fn one_of_ref_and_spec(task: &PipelineTask, context: &Context<'_>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let given: Vec<&str> = [
        (task.task_ref.is_some(), "taskRef"),
        (task.task_spec.is_some(), "taskSpec"),
        (task.pipeline_ref.is_some(), "pipelineRef"),
        (task.pipeline_spec.is_some(), "pipelineSpec"),
    ]
    .into_iter()
    .filter_map(|(is_given, field)| is_given.then_some(field))
    .collect();
    for field in given.iter().filter(|field| field.starts_with("pipeline")) {
        errors.add(context.requires(field, ApiFields::Alpha));
    }
    if given.len() > 1 {
        errors.add(FieldErrors::new("expected exactly one, got multiple", &given));
    } else if given.is_empty() {
        errors.add(if context.config.features.enable_api_fields == ApiFields::Alpha {
            FieldErrors::missing_one_of(&["taskRef", "taskSpec", "pipelineRef", "pipelineSpec"])
        } else {
            FieldErrors::missing_one_of(&["taskRef", "taskSpec"])
        });
    }
    errors
}

fn inline_spec(task: &PipelineTask, context: &Context<'_>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    if context.config.features.is_inline_spec_disabled("pipeline") {
        if task.task_spec.is_some() {
            errors.add(FieldErrors::disallowed(&["taskSpec"]));
        }
        if task.pipeline_spec.is_some() {
            errors.add(FieldErrors::disallowed(&["pipelineSpec"]));
        }
    }
    errors
}

/// An embedded Task with steps is not a custom one.
fn embedded_or_custom(task: &PipelineTask) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let Some(embedded) = task
        .task_spec
        .as_ref()
        .filter(|embedded| !embedded.task_spec.steps.is_empty())
    else {
        return errors;
    };
    for (value, field) in [
        (&embedded.api_version, "taskSpec.apiVersion"),
        (&embedded.kind, "taskSpec.kind"),
    ] {
        if !text(value.as_ref()).is_empty() {
            let message = format!("{field} cannot be specified when using taskSpec.steps");
            errors.add(FieldErrors::new(message, &[field]));
        }
    }
    errors
}

fn on_error(task: &PipelineTask, context: &Context<'_>) -> FieldErrors {
    let Some(on_error) = &task.on_error else {
        return FieldErrors::none();
    };
    if on_error.as_str().is_empty() || is_param_reference(on_error.as_str()) {
        return FieldErrors::none();
    }
    let mut errors = context.requires("OnError", ApiFields::Beta);
    if !on_error.is_known() {
        errors.add(FieldErrors::invalid_value_because(
            on_error,
            "OnError",
            "PipelineTask OnError must be either \"continue\" or \"stopAndFail\"",
        ));
    }
    if *on_error == OnError::Continue && task.retries.unwrap_or(0) > 0 {
        errors.add(FieldErrors::new(
            "PipelineTask OnError cannot be set to \"continue\" when Retries is greater than 0",
            &[],
        ));
    }
    errors
}

/// Whether the task is meant for another controller: it has an apiVersion, or a kind that is not Tekton's.
pub(super) fn is_custom(task: &PipelineTask) -> bool {
    let is_foreign = |api_version: &Option<String>, kind: &Option<String>| {
        !text(api_version.as_ref()).is_empty() || !matches!(text(kind.as_ref()), "" | "Task")
    };
    task.task_ref
        .as_ref()
        .is_some_and(|reference| is_foreign(&reference.api_version, &reference.kind))
        || task
            .task_spec
            .as_ref()
            .is_some_and(|embedded| is_foreign(&embedded.api_version, &embedded.kind))
}

fn custom(task: &PipelineTask) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let reference = task.task_ref.as_ref();
    let embedded = task.task_spec.as_ref();
    let parts = [
        reference.map(|reference| ("ref", "taskRef", &reference.api_version, &reference.kind)),
        embedded.map(|embedded| ("spec", "taskSpec", &embedded.api_version, &embedded.kind)),
    ];
    for (what, field, api_version, kind) in parts.into_iter().flatten() {
        if text(kind.as_ref()).is_empty() {
            let message = format!("custom task {what} must specify kind");
            errors.add(FieldErrors::invalid_value(message, &format!("{field}.kind")));
        }
        let path = format!("{field}.apiVersion");
        match text(api_version.as_ref()) {
            "" => {
                let message = format!("custom task {what} must specify apiVersion");
                errors.add(FieldErrors::invalid_value(message, &path));
            }
            version if !is_group_and_version(version) => {
                let message = format!(
                    "invalid apiVersion format {}, must be in the format \"group/version\"",
                    quote(version)
                );
                errors.add(FieldErrors::invalid_value(message, &path));
            }
            _ => {}
        }
    }
    errors
}

fn is_group_and_version(api_version: &str) -> bool {
    api_version
        .split_once('/')
        .is_some_and(|(group, version)| !group.is_empty() && !version.is_empty() && !version.contains('/'))
}
