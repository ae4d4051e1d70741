//! The group `tekton.dev`, version `v1beta1`: CustomRun and StepAction, and the predecessors of v1.
//!
//! Types whose JSON equals that of v1 are those of v1. Upstream counterpart: `pkg/apis/pipeline/v1beta1`.

mod customrun;
mod pipeline;
mod pipelinerun;
mod provenance;
mod refs;
mod resource;
mod step;
mod stepaction;
mod task;
mod taskrun;

pub use crate::v1::{
    Artifact, ArtifactValue, Artifacts, ChildStatusReference, IncludeParams, Matrix, OnError, Param,
    ParamSpec, ParamType, ParamValue, PipelineResult, PipelineRunResult, PipelineRunSpecStatus,
    PipelineTaskMetadata, PipelineWorkspaceDeclaration, PodTemplate, PropertySpec, Ref, RefSource,
    ResultValue, ResultsType, SkippedTask, StepOutputConfig, StepResult, TaskBreakpoints, TaskResult,
    TaskRunDebug, TaskRunResult, TaskRunSpecStatus, TimeoutFields, WhenExpression, WhenOperator,
    WorkspaceBinding, WorkspaceDeclaration, WorkspacePipelineTaskBinding, WorkspaceUsage,
};
pub use customrun::{
    CUSTOM_RUN_CANCELLED_BY_PIPELINE, CUSTOM_RUN_CANCELLED_BY_PIPELINE_TIMEOUT, CustomRun, CustomRunResult,
    CustomRunSpec, CustomRunSpecStatus, CustomRunStatus, EmbeddedCustomRunSpec,
};
pub use pipeline::{EmbeddedTask, Pipeline, PipelineSpec, PipelineTask};
pub use pipelinerun::{
    PipelineRun, PipelineRunRunStatus, PipelineRunSpec, PipelineRunStatus, PipelineRunTaskRunStatus,
    PipelineTaskRunSpec,
};
pub use provenance::Provenance;
pub use refs::{PipelineRef, TaskRef};
pub use resource::{
    PipelineDeclaredResource, PipelineResourceBinding, PipelineResourceRef, PipelineResourceResult,
    PipelineResourceSpec, PipelineTaskInputResource, PipelineTaskOutputResource, PipelineTaskResources,
    ResourceDeclaration, ResourceParam, ResultType, SecretParam, TaskResourceBinding, TaskResources,
    TaskRunResources,
};
pub use step::{Sidecar, Step, StepTemplate};
pub use stepaction::{StepAction, StepActionSpec};
pub use task::{Task, TaskSpec};
pub use taskrun::{
    CloudEventDelivery, CloudEventDeliveryState, SidecarState, StepState, TaskRun, TaskRunSidecarOverride,
    TaskRunSpec, TaskRunStatus, TaskRunStepOverride,
};
