//! Defaults of the objects of v1, and of those whose spec is the same in every version.
//!
//! Upstream counterpart: the `*_defaults.go` files of `pkg/apis/pipeline/v1`, `v1beta1` (CustomRun,
//! StepAction) and `pkg/apis/resolution`.

use super::{Defaults, Operation};
use super::{
    drop_reserved_annotations, merge_pod_template, param_spec, set_managed_by_label,
    set_optional_service_account, set_resolver, set_service_account, set_task_ref, step_result, task_result,
};
use crate::config::Config;
use crate::resolution;
use crate::v1::{
    Pipeline, PipelineRun, PipelineRunSpec, PipelineSpec, PipelineTask, Task, TaskRun, TaskRunSpec, TaskSpec,
};
use crate::v1alpha1;
use crate::v1beta1;

impl Defaults for Task {
    fn set_defaults(&mut self, config: &Config, operation: Operation) {
        self.spec.set_defaults(config, operation);
    }
}

impl Defaults for TaskSpec {
    fn set_defaults(&mut self, config: &Config, _: Operation) {
        for reference in self.steps.iter_mut().filter_map(|step| step.ref_.as_mut()) {
            set_resolver(reference.name.as_ref(), &mut reference.resolver, config);
        }
        self.params.iter_mut().for_each(param_spec);
        self.results.iter_mut().for_each(task_result);
    }
}

impl Defaults for TaskRun {
    fn set_defaults(&mut self, config: &Config, operation: Operation) {
        self.spec.set_defaults(config, operation);
        drop_reserved_annotations(&mut self.metadata, operation);
        set_managed_by_label(&mut self.metadata, config);
    }
}

impl Defaults for TaskRunSpec {
    fn set_defaults(&mut self, config: &Config, operation: Operation) {
        if let Some(task) = &mut self.task_ref {
            set_task_ref(task.name.as_ref(), &mut task.resolver, &mut task.kind, config);
        }
        self.timeout.get_or_insert_with(|| config.defaults.timeout());
        set_service_account(&mut self.service_account_name, config);
        self.pod_template =
            merge_pod_template(self.pod_template.take(), config.defaults.pod_template.as_ref());
        if let Some(spec) = &mut self.task_spec {
            spec.set_defaults(config, operation);
        }
    }
}

impl Defaults for Pipeline {
    fn set_defaults(&mut self, config: &Config, operation: Operation) {
        self.spec.set_defaults(config, operation);
    }
}

impl Defaults for PipelineSpec {
    fn set_defaults(&mut self, config: &Config, operation: Operation) {
        self.params.iter_mut().for_each(param_spec);
        for task in self.tasks.iter_mut().chain(&mut self.finally) {
            task.set_defaults(config, operation);
        }
    }
}

impl Defaults for PipelineTask {
    /// Specs of child pipelines are left alone, as upstream does.
    fn set_defaults(&mut self, config: &Config, operation: Operation) {
        if let Some(task) = &mut self.task_ref {
            set_task_ref(task.name.as_ref(), &mut task.resolver, &mut task.kind, config);
        }
        if let Some(task) = &mut self.task_spec {
            task.task_spec.set_defaults(config, operation);
        }
    }
}

impl Defaults for PipelineRun {
    fn set_defaults(&mut self, config: &Config, operation: Operation) {
        self.spec.set_defaults(config, operation);
        drop_reserved_annotations(&mut self.metadata, operation);
    }
}

impl Defaults for PipelineRunSpec {
    fn set_defaults(&mut self, config: &Config, operation: Operation) {
        if let Some(pipeline) = &mut self.pipeline_ref {
            set_resolver(pipeline.name.as_ref(), &mut pipeline.resolver, config);
        }
        let timeouts = self.timeouts.get_or_insert_default();
        timeouts.pipeline.get_or_insert_with(|| config.defaults.timeout());
        let template = &mut self.task_run_template;
        set_optional_service_account(&mut template.service_account_name, config);
        template.pod_template = merge_pod_template(
            template.pod_template.take(),
            config.defaults.pod_template.as_ref(),
        );
        if let Some(spec) = &mut self.pipeline_spec {
            spec.set_defaults(config, operation);
        }
    }
}

impl Defaults for v1beta1::CustomRun {
    fn set_defaults(&mut self, config: &Config, _: Operation) {
        set_service_account(&mut self.spec.service_account_name, config);
    }
}

impl Defaults for v1alpha1::Run {
    fn set_defaults(&mut self, config: &Config, _: Operation) {
        set_service_account(&mut self.spec.service_account_name, config);
        if self.spec.pod_template.is_none() {
            self.spec.pod_template.clone_from(&config.defaults.pod_template);
        }
    }
}

impl Defaults for v1beta1::StepActionSpec {
    fn set_defaults(&mut self, _: &Config, _: Operation) {
        self.params.iter_mut().for_each(param_spec);
        self.results.iter_mut().for_each(step_result);
    }
}

impl Defaults for v1beta1::StepAction {
    fn set_defaults(&mut self, config: &Config, operation: Operation) {
        self.spec.set_defaults(config, operation);
    }
}

impl Defaults for v1alpha1::StepAction {
    fn set_defaults(&mut self, config: &Config, operation: Operation) {
        self.spec.set_defaults(config, operation);
    }
}

impl Defaults for v1alpha1::VerificationPolicy {
    fn set_defaults(&mut self, _: &Config, _: Operation) {}
}

impl Defaults for resolution::v1beta1::ResolutionRequest {
    fn set_defaults(&mut self, _: &Config, _: Operation) {}
}

impl Defaults for resolution::v1alpha1::ResolutionRequest {
    fn set_defaults(&mut self, _: &Config, _: Operation) {}
}
