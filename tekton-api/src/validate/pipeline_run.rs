//! Checks on PipelineRuns.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/pipelinerun_validation.go`.

use std::collections::{BTreeMap, BTreeSet};

use super::params::values;
use super::spec_updates::{Change, check};
use super::task_run::{forbidden_env, overrides};
use super::{Context, Validate, names, pipeline, propagated, refs, timeouts, workspaces};
use crate::defaults::{Defaults, Operation};
use crate::field_errors::FieldErrors;
use crate::quote::quote;
use crate::result_ref::{looks_like_task_result, result_refs, value_expressions};
use crate::v1::{
    Param, PipelineRun, PipelineRunSpec, PipelineRunSpecStatus, PipelineSpec, PipelineTaskRunSpec,
    TimeoutFields, WorkspaceBinding,
};

impl Validate for PipelineRun {
    fn validate(&self, context: &Context<'_>, old: Option<&Self>) -> FieldErrors {
        let has_started = self
            .status
            .as_ref()
            .is_some_and(|status| status.start_time.is_some());
        let mut errors = names::object_metadata(&self.metadata);
        errors.add(pending(self.spec.status.as_ref(), has_started));
        if let Some(old) = old.filter(|_| context.operation == Operation::Update) {
            let mut with_defaults = old.spec.clone();
            with_defaults.set_defaults(context.config, context.operation);
            let mut with_changes = old.spec.clone();
            with_changes.status.clone_from(&self.spec.status);
            with_changes.managed_by.clone_from(&self.spec.managed_by);
            let status = old.status.as_ref();
            let change = Change {
                kind: "PipelineRun",
                changeable: "status",
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
pub(super) fn pending(status: Option<&PipelineRunSpecStatus>, has_started: bool) -> FieldErrors {
    if !has_started || status != Some(&PipelineRunSpecStatus::Pending) {
        return FieldErrors::none();
    }
    FieldErrors::invalid_value("PipelineRun cannot be Pending after it is started", "spec.status")
}

/// Checks what a PipelineRun executes, and how.
pub(super) fn spec(spec: &PipelineRunSpec, context: &Context<'_>) -> FieldErrors {
    let mut errors = what(spec, context);
    errors.add(params(&spec.params));
    if let Some(pipeline) = &spec.pipeline_spec {
        errors.add(propagated::pipeline_run(&spec.params, pipeline, context));
        if !context.is_v1() {
            errors.add(propagated_workspaces(&spec.workspaces, pipeline));
        }
    }
    if let Some(timeouts) = &spec.timeouts {
        errors.add(timeouts::of_run(timeouts, context));
    }
    for (index, settings) in spec.task_run_specs.iter().enumerate() {
        let found = task_run_spec(settings, spec.timeouts.as_ref(), context);
        errors.add(found.via_field_index("taskRunSpecs", index));
    }
    errors.add(status(spec.status.as_ref()));
    errors.add(bindings(&spec.workspaces));
    let env = forbidden_env(spec.task_run_template.pod_template.as_ref(), context);
    errors.and(if context.is_v1() {
        env.via_field("taskRunTemplate")
    } else {
        env
    })
}

fn what(spec: &PipelineRunSpec, context: &Context<'_>) -> FieldErrors {
    let mut errors = match (&spec.pipeline_ref, &spec.pipeline_spec) {
        (None, None) => FieldErrors::missing_one_of(&["pipelineRef", "pipelineSpec"]),
        (Some(_), Some(_)) => FieldErrors::multiple_one_of(&["pipelineRef", "pipelineSpec"]),
        _ => FieldErrors::none(),
    };
    if let Some(reference) = &spec.pipeline_ref {
        errors.add(refs::pipeline(reference, context).via_field("pipelineRef"));
    }
    if let Some(pipeline) = &spec.pipeline_spec {
        if context.config.features.is_inline_spec_disabled("pipelinerun") {
            errors.add(FieldErrors::disallowed(&["pipelineSpec"]));
        }
        errors.add(pipeline::spec(pipeline, context).via_field("pipelineSpec"));
    }
    errors
}

/// Names are unique, and there are no results yet that values could use.
fn params(params: &[Param]) -> FieldErrors {
    let mut errors = values(params).via_field("params");
    for param in params {
        let mut expressions = value_expressions(&param.value);
        expressions.retain(|expression| looks_like_task_result(expression));
        if result_refs(&expressions).is_empty() {
            continue;
        }
        let message = format!(
            "cannot use result expressions in [{}] as PipelineRun parameter values",
            expressions.join(" ")
        );
        errors.add(FieldErrors::invalid_value(message, "value").via_field_key("params", &param.name));
    }
    errors
}

/// v1beta1 looks at workspaces of tasks together with those that the run propagates. Each task's own are taken
/// for known, so that only those behind another name can be missing.
fn propagated_workspaces(bindings: &[WorkspaceBinding], spec: &PipelineSpec) -> FieldErrors {
    let mut known: BTreeSet<&str> = bindings.iter().map(|binding| binding.name.as_str()).collect();
    known.extend(spec.workspaces.iter().map(|workspace| workspace.name.as_str()));
    let mut errors = FieldErrors::none();
    for list in [&spec.tasks, &spec.finally] {
        for (index, task) in list.iter().enumerate() {
            known.extend(task.workspaces.iter().map(|binding| binding.name.as_str()));
            errors.add(workspaces::pipeline_task(task, &known).via_index(index));
        }
    }
    errors
}

fn task_run_spec(
    settings: &PipelineTaskRunSpec,
    timeouts: Option<&TimeoutFields>,
    context: &Context<'_>,
) -> FieldErrors {
    let sidecars: Vec<&str> = settings
        .sidecar_specs
        .iter()
        .map(|sidecar| sidecar.name.as_str())
        .collect();
    let resources = settings.compute_resources.as_ref();
    overrides(&settings.step_specs, &sidecars, resources, context)
        .and(forbidden_env(settings.pod_template.as_ref(), context))
        .and(timeouts::of_task_run_spec(settings.timeout, timeouts, context))
}

fn status(status: Option<&PipelineRunSpecStatus>) -> FieldErrors {
    match status {
        Some(PipelineRunSpecStatus::Other(status)) if !status.is_empty() => {
            let message = format!(
                "{status} should be {}, {}, {} or {}",
                PipelineRunSpecStatus::Cancelled,
                PipelineRunSpecStatus::CancelledRunFinally,
                PipelineRunSpecStatus::StoppedRunFinally,
                PipelineRunSpecStatus::Pending
            );
            FieldErrors::invalid_value(message, "status")
        }
        _ => FieldErrors::none(),
    }
}

fn bindings(bindings: &[WorkspaceBinding]) -> FieldErrors {
    let mut errors = FieldErrors::none();
    let mut seen = BTreeMap::new();
    for (index, binding) in bindings.iter().enumerate() {
        let mut found = workspaces::binding(binding);
        if let Some(previous) = seen.insert(&binding.name, index) {
            let message = format!(
                "workspace {} provided by pipelinerun more than once, at index {previous} and {index}",
                quote(&binding.name)
            );
            found.add(FieldErrors::new(message, &["name"]));
        }
        errors.add(found.via_field_index("workspaces", index));
    }
    errors
}
