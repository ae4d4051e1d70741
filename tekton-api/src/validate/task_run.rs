//! Checks on TaskRuns.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/taskrun_validation.go`.

use k8s_openapi::api::core::v1::ResourceRequirements;

use super::params::{no_duplicate_names, values};
use super::spec_updates::{Change, check};
use super::{Context, Validate, names, propagated, refs, task, text, timeouts, workspaces};
use crate::config::ApiFields;
use crate::defaults::{Defaults, Operation};
use crate::field_errors::FieldErrors;
use crate::v1::{
    BREAKPOINT_ENABLED, PodTemplate, TaskBreakpoints, TaskRun, TaskRunSpec, TaskRunSpecStatus,
    TaskRunStepSpec,
};

impl Validate for TaskRun {
    fn validate(&self, context: &Context<'_>, old: Option<&Self>) -> FieldErrors {
        let has_started = self
            .status
            .as_ref()
            .is_some_and(|status| status.start_time.is_some());
        let mut errors = names::object_metadata(&self.metadata);
        errors.add(pending(&self.spec, has_started));
        if let Some(old) = old.filter(|_| context.operation == Operation::Update) {
            let mut with_defaults = old.spec.clone();
            with_defaults.set_defaults(context.config, context.operation);
            let mut with_changes = old.spec.clone();
            with_changes.status.clone_from(&self.spec.status);
            with_changes.status_message.clone_from(&self.spec.status_message);
            with_changes.managed_by.clone_from(&self.spec.managed_by);
            let status = old.status.as_ref();
            let change = Change {
                kind: "TaskRun",
                changeable: "status and statusMessage",
                old: &old.spec,
                new: &self.spec,
                old_with_defaults: &with_defaults,
                old_with_changes: &with_changes,
                managed_by: (old.spec.managed_by.as_ref(), self.spec.managed_by.as_ref()),
                was_done: status.is_some_and(|status| status.conditions.is_done()),
            };
            errors.add(check(&change).via_field("spec"));
        }
        errors.and(spec(&self.spec, context).via_field("spec"))
    }
}

/// A run that has started cannot wait any more.
pub(super) fn pending(spec: &TaskRunSpec, has_started: bool) -> FieldErrors {
    if !has_started || spec.status != Some(TaskRunSpecStatus::Pending) {
        return FieldErrors::none();
    }
    FieldErrors::invalid_value("TaskRun cannot be Pending after it is started", "spec.status")
}

/// Checks what a TaskRun executes, and how.
pub(super) fn spec(spec: &TaskRunSpec, context: &Context<'_>) -> FieldErrors {
    let mut errors = what(spec, context);
    errors.add(values(&spec.params).via_field("params"));
    if let Some(task) = &spec.task_spec {
        errors.add(propagated::task_run(&spec.params, task, context));
    }
    errors.add(workspaces::bindings(&spec.workspaces).via_field("workspaces"));
    if let Some(debug) = &spec.debug {
        errors.add(context.requires("debug", ApiFields::Alpha).via_field("debug"));
        if let Some(breakpoints) = &debug.breakpoints {
            errors.add(self::breakpoints(breakpoints).via_field("debug"));
        }
    }
    let sidecars: Vec<&str> = spec
        .sidecar_specs
        .iter()
        .map(|sidecar| sidecar.name.as_str())
        .collect();
    errors.add(overrides(
        &spec.step_specs,
        &sidecars,
        spec.compute_resources.as_ref(),
        context,
    ));
    errors.add(status(spec));
    let retries = spec.retries.unwrap_or(0);
    if context.is_v1() && retries < 0 {
        errors.add(FieldErrors::invalid_value(
            format!("{retries} should be >= 0"),
            "retries",
        ));
    }
    errors.add(forbidden_env(spec.pod_template.as_ref(), context));
    errors.and(timeouts::not_negative(spec.timeout, "timeout"))
}

fn what(spec: &TaskRunSpec, context: &Context<'_>) -> FieldErrors {
    let mut errors = match (&spec.task_ref, &spec.task_spec) {
        (None, None) => FieldErrors::missing_one_of(&["taskRef", "taskSpec"]),
        (Some(_), Some(_)) => FieldErrors::multiple_one_of(&["taskRef", "taskSpec"]),
        _ => FieldErrors::none(),
    };
    if let Some(reference) = &spec.task_ref {
        errors.add(refs::task(reference, context).via_field("taskRef"));
    }
    if let Some(task) = &spec.task_spec {
        if context.config.features.is_inline_spec_disabled("taskrun") {
            errors.add(FieldErrors::disallowed(&["taskSpec"]));
        }
        errors.add(task::spec(task, context).via_field("taskSpec"));
    }
    errors
}

fn breakpoints(breakpoints: &TaskBreakpoints) -> FieldErrors {
    let mut errors = FieldErrors::none();
    match text(breakpoints.on_failure.as_ref()) {
        "" => errors.add(FieldErrors::invalid_value(
            "onFailure breakpoint is empty, it is only allowed to be set as enabled",
            "breakpoints.onFailure",
        )),
        BREAKPOINT_ENABLED => {}
        other => errors.add(FieldErrors::invalid_value(
            format!(
                "{other} is not a valid onFailure breakpoint value, onFailure breakpoint is only allowed to be set as \
                 enabled"
            ),
            "breakpoints.onFailure",
        )),
    }
    let steps = &breakpoints.before_steps;
    let mut seen = std::collections::BTreeSet::new();
    for (index, step) in steps.iter().enumerate() {
        if !seen.insert(step) {
            let message =
                format!("before step must be unique, the same step: {step} is defined multiple times at");
            errors.add(FieldErrors::new(
                message,
                &[&format!("breakpoints.beforeSteps[{index}]")],
            ));
        }
    }
    errors
}

/// Changes to steps and sidecars: they need beta fields and names, and exclude requests for the whole pod.
pub(super) fn overrides(
    steps: &[TaskRunStepSpec],
    sidecars: &[&str],
    whole: Option<&ResourceRequirements>,
    context: &Context<'_>,
) -> FieldErrors {
    let (step_field, sidecar_field) = if context.is_v1() {
        ("stepSpecs", "sidecarSpecs")
    } else {
        ("stepOverrides", "sidecarOverrides")
    };
    let step_names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    let mut errors = FieldErrors::none();
    for (names, field) in [(step_names.as_slice(), step_field), (sidecars, sidecar_field)] {
        if !names.is_empty() {
            errors.add(context.requires(field, ApiFields::Beta).via_field(field));
            errors.add(override_names(names).via_field(field));
        }
    }
    if whole.is_some() {
        let field = "computeResources";
        errors.add(context.requires(field, ApiFields::Beta).via_field(field));
        if steps
            .iter()
            .any(|step| step.compute_resources != ResourceRequirements::default())
        {
            errors.add(FieldErrors::multiple_one_of(&[
                &format!("{step_field}.resources"),
                field,
            ]));
        }
    }
    errors
}

fn override_names(names: &[&str]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    for (index, _) in names.iter().enumerate().filter(|(_, name)| name.is_empty()) {
        errors.add(FieldErrors::missing(&["name"]).via_index(index));
    }
    // As upstream, indices of doubled names are counted among those that are given.
    let given = names.iter().copied().filter(|name| !name.is_empty());
    errors.and(no_duplicate_names(given, true))
}

fn status(spec: &TaskRunSpec) -> FieldErrors {
    let mut errors = FieldErrors::none();
    match &spec.status {
        Some(TaskRunSpecStatus::Other(status)) if !status.is_empty() => {
            let message = format!(
                "{status} should be {} or {}",
                TaskRunSpecStatus::Cancelled,
                TaskRunSpecStatus::Pending
            );
            errors.add(FieldErrors::invalid_value(message, "status"));
        }
        Some(TaskRunSpecStatus::Other(_)) | None => {
            errors.add(message_without_status(text(spec.status_message.as_ref())));
        }
        Some(_) => {}
    }
    errors
}

/// There is no reason to give for what is not wanted.
pub(super) fn message_without_status(message: &str) -> FieldErrors {
    if message.is_empty() {
        return FieldErrors::none();
    }
    let message =
        format!("statusMessage should not be set if status is not set, but it is currently set to {message}");
    FieldErrors::invalid_value(message, "statusMessage")
}

/// Pod templates do not set variables that the configuration forbids.
pub(super) fn forbidden_env(template: Option<&PodTemplate>, context: &Context<'_>) -> FieldErrors {
    let forbidden = &context.config.defaults.forbidden_env;
    let mut errors = FieldErrors::none();
    for env in template.iter().flat_map(|template| &template.env) {
        if forbidden.contains(&env.name) {
            let message = format!("PodTemplate cannot update a forbidden env: {}", env.name);
            errors.add(FieldErrors::invalid_value(message, "PodTemplate.Env"));
        }
    }
    errors
}
