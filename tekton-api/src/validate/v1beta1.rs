//! Objects of v1beta1 seen as those of v1, and the rules for what only v1beta1 has.
//!
//! Upstream counterpart: the `*_validation.go` files of `pkg/apis/pipeline/v1beta1`.

use super::spec_updates::{Change, check};
use super::{Context, Validate, pipeline_run, pipeline_task, task_run, text, timeouts};
use crate::defaults::{Defaults, Operation};
use crate::field_errors::FieldErrors;
use crate::v1;
use crate::v1beta1::{
    EmbeddedTask, Pipeline, PipelineRef, PipelineRun, PipelineRunSpec, PipelineSpec, PipelineTask,
    PipelineTaskRunSpec, Sidecar, Step, StepTemplate, Task, TaskRef, TaskRun, TaskRunSpec, TaskSpec,
};

impl Validate for Task {
    fn validate(&self, context: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        let view = v1::Task {
            metadata: self.metadata.clone(),
            spec: task_spec(&self.spec),
        };
        view.validate(context, None)
            .and(old_task_fields(&self.spec).via_field("spec"))
    }
}

impl Validate for TaskSpec {
    fn validate(&self, context: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        task_spec(self).validate(context, None).and(old_task_fields(self))
    }
}

impl Validate for Pipeline {
    fn validate(&self, context: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        let view = v1::Pipeline {
            metadata: self.metadata.clone(),
            spec: pipeline_spec(&self.spec),
        };
        let old_fields = old_pipeline_fields(&self.spec, &view.spec, context);
        view.validate(context, None).and(old_fields.via_field("spec"))
    }
}

impl Validate for PipelineSpec {
    fn validate(&self, context: &Context<'_>, _: Option<&Self>) -> FieldErrors {
        let view = pipeline_spec(self);
        view.validate(context, None)
            .and(old_pipeline_fields(self, &view, context))
    }
}

impl Validate for TaskRun {
    fn validate(&self, context: &Context<'_>, old: Option<&Self>) -> FieldErrors {
        let view = task_run_spec(&self.spec);
        let has_started = self
            .status
            .as_ref()
            .is_some_and(|status| status.start_time.is_some());
        let mut errors = super::names::object_metadata(&self.metadata);
        errors.add(task_run::pending(&view, has_started));
        let mut spec = task_run::spec(&view, context);
        if let Some(old) = old.filter(|_| context.operation == Operation::Update) {
            spec.add(task_run_update(self, old, context));
        }
        if let Some(reference) = &self.spec.task_ref {
            spec.add(bundle(reference.bundle.as_ref(), context).via_field("taskRef"));
        }
        if let Some(task) = &self.spec.task_spec {
            spec.add(old_task_fields(task).via_field("taskSpec"));
        }
        if self.spec.resources.is_some() {
            spec.add(FieldErrors::disallowed(&["resources"]));
        }
        errors.and(spec.via_field("spec"))
    }
}

fn task_run_update(run: &TaskRun, old: &TaskRun, context: &Context<'_>) -> FieldErrors {
    let mut with_defaults = old.spec.clone();
    with_defaults.set_defaults(context.config, context.operation);
    let mut with_changes = old.spec.clone();
    with_changes.status.clone_from(&run.spec.status);
    with_changes.status_message.clone_from(&run.spec.status_message);
    with_changes.managed_by.clone_from(&run.spec.managed_by);
    check(&Change {
        kind: "TaskRun",
        changeable: "status and statusMessage",
        old: &old.spec,
        new: &run.spec,
        old_with_defaults: &with_defaults,
        old_with_changes: &with_changes,
        managed_by: (old.spec.managed_by.as_ref(), run.spec.managed_by.as_ref()),
        was_done: old
            .status
            .as_ref()
            .is_some_and(|status| status.conditions.is_done()),
    })
}

impl Validate for PipelineRun {
    fn validate(&self, context: &Context<'_>, old: Option<&Self>) -> FieldErrors {
        let view = pipeline_run_spec(&self.spec);
        let has_started = self
            .status
            .as_ref()
            .is_some_and(|status| status.start_time.is_some());
        let mut errors = super::names::object_metadata(&self.metadata);
        errors.add(pipeline_run::pending(self.spec.status.as_ref(), has_started));
        let mut spec = pipeline_run::spec(&view, context);
        if let Some(old) = old.filter(|_| context.operation == Operation::Update) {
            spec.add(pipeline_run_update(self, old, context));
        }
        if let Some(reference) = &self.spec.pipeline_ref {
            spec.add(bundle(reference.bundle.as_ref(), context).via_field("pipelineRef"));
        }
        if let (Some(own), Some(view)) = (&self.spec.pipeline_spec, &view.pipeline_spec) {
            spec.add(old_pipeline_fields(own, view, context).via_field("pipelineSpec"));
        }
        spec.add(timeouts::not_negative(self.spec.timeout, "timeout"));
        if self.spec.timeout.is_some() && self.spec.timeouts.is_some() {
            spec.add(FieldErrors::disallowed(&["timeout", "timeouts"]));
        }
        if !self.spec.resources.is_empty() {
            spec.add(FieldErrors::disallowed(&["resources"]));
        }
        errors.and(spec.via_field("spec"))
    }
}

fn pipeline_run_update(run: &PipelineRun, old: &PipelineRun, context: &Context<'_>) -> FieldErrors {
    let mut with_defaults = old.spec.clone();
    with_defaults.set_defaults(context.config, context.operation);
    let mut with_changes = old.spec.clone();
    with_changes.status.clone_from(&run.spec.status);
    with_changes.managed_by.clone_from(&run.spec.managed_by);
    check(&Change {
        kind: "PipelineRun",
        changeable: "status",
        old: &old.spec,
        new: &run.spec,
        old_with_defaults: &with_defaults,
        old_with_changes: &with_changes,
        managed_by: (old.spec.managed_by.as_ref(), run.spec.managed_by.as_ref()),
        was_done: old
            .status
            .as_ref()
            .is_some_and(|status| status.conditions.is_done()),
    })
}

/// Bundles can no longer be named in new objects.
fn bundle(bundle: Option<&String>, context: &Context<'_>) -> FieldErrors {
    if context.operation != Operation::Create || text(bundle).is_empty() {
        return FieldErrors::none();
    }
    FieldErrors::disallowed(&["bundle"])
}

fn old_task_fields(spec: &TaskSpec) -> FieldErrors {
    if spec.resources.is_none() {
        return FieldErrors::none();
    }
    FieldErrors::disallowed(&["resources"])
}

fn old_pipeline_fields(spec: &PipelineSpec, view: &v1::PipelineSpec, context: &Context<'_>) -> FieldErrors {
    let mut errors = FieldErrors::none();
    if !spec.resources.is_empty() {
        errors.add(FieldErrors::disallowed(&["resources"]));
    }
    for (own, views, field) in [
        (&spec.tasks, &view.tasks, "tasks"),
        (&spec.finally, &view.finally, "finally"),
    ] {
        for (index, (task, view)) in own.iter().zip(views).enumerate() {
            errors.add(old_pipeline_task_fields(task, view, context).via_field_index(field, index));
        }
    }
    errors
}

fn old_pipeline_task_fields(
    task: &PipelineTask,
    view: &v1::PipelineTask,
    context: &Context<'_>,
) -> FieldErrors {
    let mut errors = FieldErrors::none();
    if task.resources.is_some() {
        errors.add(FieldErrors::disallowed(&["resources"]));
    }
    if pipeline_task::is_custom(view) {
        return errors;
    }
    if let Some(reference) = &task.task_ref {
        errors.add(bundle(reference.bundle.as_ref(), context).via_field("taskRef"));
    }
    if let Some(embedded) = &task.task_spec {
        errors.add(old_task_fields(&embedded.task_spec).via_field("taskSpec"));
    }
    errors
}

fn task_spec(spec: &TaskSpec) -> v1::TaskSpec {
    v1::TaskSpec {
        params: spec.params.clone(),
        display_name: spec.display_name.clone(),
        description: spec.description.clone(),
        steps: spec.steps.iter().map(step).collect(),
        volumes: spec.volumes.clone(),
        step_template: spec.step_template.as_ref().map(step_template),
        sidecars: spec.sidecars.iter().map(sidecar).collect(),
        workspaces: spec.workspaces.clone(),
        results: spec.results.clone(),
    }
}

fn step(step: &Step) -> v1::Step {
    v1::Step {
        name: step.name.clone(),
        image: step.image.clone(),
        command: step.command.clone(),
        args: step.args.clone(),
        working_dir: step.working_dir.clone(),
        env_from: step.env_from.clone(),
        env: step.env.clone(),
        volume_mounts: step.volume_mounts.clone(),
        volume_devices: step.volume_devices.clone(),
        image_pull_policy: step.image_pull_policy.clone(),
        script: step.script.clone(),
        timeout: step.timeout,
        workspaces: step.workspaces.clone(),
        on_error: step.on_error.clone(),
        stdout_config: step.stdout_config.clone(),
        stderr_config: step.stderr_config.clone(),
        ref_: step.ref_.clone(),
        params: step.params.clone(),
        results: step.results.clone(),
        when: step.when.clone(),
        ..v1::Step::default()
    }
}

fn step_template(template: &StepTemplate) -> v1::StepTemplate {
    v1::StepTemplate {
        image: template.image.clone(),
        command: template.command.clone(),
        args: template.args.clone(),
        working_dir: template.working_dir.clone(),
        env_from: template.env_from.clone(),
        env: template.env.clone(),
        volume_mounts: template.volume_mounts.clone(),
        volume_devices: template.volume_devices.clone(),
        image_pull_policy: template.image_pull_policy.clone(),
        ..v1::StepTemplate::default()
    }
}

fn sidecar(sidecar: &Sidecar) -> v1::Sidecar {
    v1::Sidecar {
        name: sidecar.name.clone(),
        workspaces: sidecar.workspaces.clone(),
        ..v1::Sidecar::default()
    }
}

fn pipeline_spec(spec: &PipelineSpec) -> v1::PipelineSpec {
    v1::PipelineSpec {
        display_name: spec.display_name.clone(),
        description: spec.description.clone(),
        tasks: spec.tasks.iter().map(pipeline_task).collect(),
        params: spec.params.clone(),
        workspaces: spec.workspaces.clone(),
        results: spec.results.clone(),
        finally: spec.finally.iter().map(pipeline_task).collect(),
    }
}

fn pipeline_task(task: &PipelineTask) -> v1::PipelineTask {
    v1::PipelineTask {
        name: task.name.clone(),
        display_name: task.display_name.clone(),
        description: task.description.clone(),
        task_ref: task.task_ref.as_ref().map(task_ref),
        task_spec: task.task_spec.as_ref().map(embedded_task),
        when: task.when.clone(),
        retries: task.retries,
        run_after: task.run_after.clone(),
        params: task.params.clone(),
        matrix: task.matrix.clone(),
        workspaces: task.workspaces.clone(),
        timeout: task.timeout,
        pipeline_ref: task.pipeline_ref.as_ref().map(pipeline_ref),
        pipeline_spec: task.pipeline_spec.as_ref().map(pipeline_spec),
        on_error: task.on_error.clone(),
    }
}

fn embedded_task(task: &EmbeddedTask) -> v1::EmbeddedTask {
    v1::EmbeddedTask {
        api_version: task.api_version.clone(),
        kind: task.kind.clone(),
        task_spec: task_spec(&task.task_spec),
        ..v1::EmbeddedTask::default()
    }
}

fn task_ref(reference: &TaskRef) -> v1::TaskRef {
    v1::TaskRef {
        name: reference.name.clone(),
        kind: reference.kind.clone(),
        api_version: reference.api_version.clone(),
        resolver: reference.resolver.clone(),
        params: reference.params.clone(),
    }
}

fn pipeline_ref(reference: &PipelineRef) -> v1::PipelineRef {
    v1::PipelineRef {
        name: reference.name.clone(),
        api_version: reference.api_version.clone(),
        resolver: reference.resolver.clone(),
        params: reference.params.clone(),
    }
}

fn task_run_spec(spec: &TaskRunSpec) -> v1::TaskRunSpec {
    v1::TaskRunSpec {
        debug: spec.debug.clone(),
        params: spec.params.clone(),
        service_account_name: spec.service_account_name.clone(),
        task_ref: spec.task_ref.as_ref().map(task_ref),
        task_spec: spec.task_spec.as_ref().map(task_spec),
        status: spec.status.clone(),
        status_message: spec.status_message.clone(),
        retries: spec.retries,
        timeout: spec.timeout,
        pod_template: spec.pod_template.clone(),
        workspaces: spec.workspaces.clone(),
        step_specs: spec.step_overrides.iter().map(step_spec).collect(),
        sidecar_specs: spec.sidecar_overrides.iter().map(sidecar_spec).collect(),
        compute_resources: spec.compute_resources.clone(),
        managed_by: spec.managed_by.clone(),
    }
}

fn step_spec(changes: &crate::v1beta1::TaskRunStepOverride) -> v1::TaskRunStepSpec {
    v1::TaskRunStepSpec {
        name: changes.name.clone(),
        compute_resources: changes.resources.clone(),
    }
}

fn sidecar_spec(changes: &crate::v1beta1::TaskRunSidecarOverride) -> v1::TaskRunSidecarSpec {
    v1::TaskRunSidecarSpec {
        name: changes.name.clone(),
        compute_resources: changes.resources.clone(),
    }
}

fn pipeline_run_spec(spec: &PipelineRunSpec) -> v1::PipelineRunSpec {
    v1::PipelineRunSpec {
        pipeline_ref: spec.pipeline_ref.as_ref().map(pipeline_ref),
        pipeline_spec: spec.pipeline_spec.as_ref().map(pipeline_spec),
        params: spec.params.clone(),
        status: spec.status.clone(),
        timeouts: spec.timeouts.clone(),
        task_run_template: v1::PipelineTaskRunTemplate {
            pod_template: spec.pod_template.clone(),
            service_account_name: spec.service_account_name.clone(),
        },
        workspaces: spec.workspaces.clone(),
        task_run_specs: spec.task_run_specs.iter().map(settings).collect(),
        managed_by: spec.managed_by.clone(),
    }
}

fn settings(settings: &PipelineTaskRunSpec) -> v1::PipelineTaskRunSpec {
    v1::PipelineTaskRunSpec {
        pipeline_task_name: settings.pipeline_task_name.clone(),
        service_account_name: settings.task_service_account_name.clone(),
        pod_template: settings.task_pod_template.clone(),
        step_specs: settings.step_overrides.iter().map(step_spec).collect(),
        sidecar_specs: settings.sidecar_overrides.iter().map(sidecar_spec).collect(),
        metadata: settings.metadata.clone(),
        compute_resources: settings.compute_resources.clone(),
        timeout: settings.timeout,
    }
}
