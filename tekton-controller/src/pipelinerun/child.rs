//! What the children of a pipeline task have in common, be they TaskRuns, CustomRuns or PipelineRuns.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use tekton_api::condition::Conditions;
use tekton_api::reasons::{CustomRunReason, TaskRunReason};
use tekton_api::v1::{CANCELLED_BY_PIPELINE_TIMEOUT, Param, PipelineRun, TaskRun};
use tekton_api::v1beta1::{CUSTOM_RUN_CANCELLED_BY_PIPELINE_TIMEOUT, CustomRun};

/// A child of a PipelineRun.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "most children are TaskRuns")]
pub(super) enum Child {
    /// Of a Task.
    Task(TaskRun),
    /// Of a custom task.
    Custom(CustomRun),
    /// Of a pipeline in the pipeline.
    Pipeline(PipelineRun),
}

impl Child {
    pub(super) fn metadata(&self) -> &ObjectMeta {
        match self {
            Self::Task(run) => &run.metadata,
            Self::Custom(run) => &run.metadata,
            Self::Pipeline(run) => &run.metadata,
        }
    }

    pub(super) fn name(&self) -> &str {
        self.metadata().name.as_deref().unwrap_or_default()
    }

    pub(super) fn created(&self) -> Option<&Time> {
        self.metadata().creation_timestamp.as_ref()
    }

    /// API version and kind as child references show them.
    pub(super) fn type_of(&self) -> (&'static str, &'static str) {
        match self {
            Self::Task(_) => ("tekton.dev/v1", "TaskRun"),
            Self::Custom(_) => ("tekton.dev/v1beta1", "CustomRun"),
            Self::Pipeline(_) => ("tekton.dev/v1", "PipelineRun"),
        }
    }

    pub(super) fn conditions(&self) -> Option<&Conditions> {
        match self {
            Self::Task(run) => run.status.as_ref().map(|status| &status.conditions),
            Self::Custom(run) => run.status.as_ref().map(|status| &status.conditions),
            Self::Pipeline(run) => run.status.as_ref().map(|status| &status.conditions),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.conditions().is_some_and(Conditions::is_done)
    }

    pub(super) fn is_successful(&self) -> bool {
        self.conditions().is_some_and(Conditions::is_successful)
    }

    pub(super) fn is_failure(&self) -> bool {
        self.conditions().is_some_and(Conditions::is_failure)
    }

    /// Reason of the first condition, if there is one.
    pub(super) fn first_reason(&self) -> Option<&str> {
        self.conditions()?
            .first()
            .map(tekton_api::condition::Condition::reason)
    }

    /// Failed because it was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        let failed_with = |reason: &str| {
            let condition = self.conditions().and_then(Conditions::succeeded);
            condition.is_some_and(|condition| condition.is_false() && condition.reason() == reason)
        };
        match self {
            Self::Task(_) => failed_with(TaskRunReason::Cancelled.as_str()),
            Self::Custom(_) => failed_with(CustomRunReason::Cancelled.as_str()),
            Self::Pipeline(_) => false,
        }
    }

    /// Cancelled by its PipelineRun because time was over.
    pub(super) fn is_cancelled_for_timeout(&self) -> bool {
        let message = match self {
            Self::Task(run) => run.spec.status_message.as_deref() == Some(CANCELLED_BY_PIPELINE_TIMEOUT),
            Self::Custom(run) => {
                run.spec.status_message.as_deref() == Some(CUSTOM_RUN_CANCELLED_BY_PIPELINE_TIMEOUT)
            }
            Self::Pipeline(_) => false,
        };
        message && self.is_cancelled()
    }

    /// String params by name.
    pub(super) fn string_params(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Task(run) => strings(&run.spec.params),
            Self::Pipeline(run) => strings(&run.spec.params),
            Self::Custom(run) => strings(&run.spec.params),
        }
    }
}

fn strings(params: &[Param]) -> Vec<(&str, &str)> {
    params
        .iter()
        .filter_map(|param| Some((param.name.as_str(), param.value.as_str()?)))
        .collect()
}
