//! Defaults of v1beta1's Task, TaskRun, Pipeline and PipelineRun, where they differ from v1's.
//!
//! Step references get no default resolver, and a PipelineRun has its timeout in an older field.
//! Upstream counterpart: the `*_defaults.go` files of `pkg/apis/pipeline/v1beta1`.

use super::{Defaults, Operation};
use super::{
    drop_reserved_annotations, merge_pod_template, param_spec, set_managed_by_label,
    set_optional_service_account, set_resolver, set_service_account, set_task_ref, task_result,
};
use crate::config::Config;
use crate::v1beta1::{
    Pipeline, PipelineRun, PipelineRunSpec, PipelineSpec, PipelineTask, Task, TaskRun, TaskRunSpec, TaskSpec,
};

impl Defaults for Task {
    fn set_defaults(&mut self, config: &Config, operation: Operation) {
        self.spec.set_defaults(config, operation);
    }
}

impl Defaults for TaskSpec {
    fn set_defaults(&mut self, _: &Config, _: Operation) {
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
        match &mut self.timeouts {
            Some(timeouts) => {
                timeouts.pipeline.get_or_insert_with(|| config.defaults.timeout());
            }
            None => {
                self.timeout.get_or_insert_with(|| config.defaults.timeout());
            }
        }
        set_optional_service_account(&mut self.service_account_name, config);
        self.pod_template =
            merge_pod_template(self.pod_template.take(), config.defaults.pod_template.as_ref());
        if let Some(spec) = &mut self.pipeline_spec {
            spec.set_defaults(config, operation);
        }
    }
}
