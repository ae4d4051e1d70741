//! The group `tekton.dev`, version `v1`: Task, TaskRun, Pipeline and PipelineRun.
//!
//! Types are read as Go reads them (`null` counts as absent, empty optional values are dropped) and
//! written as Go writes them. Upstream counterpart: `pkg/apis/pipeline/v1`.

mod artifact;
mod matrix;
mod param;
mod param_value;
mod pipeline;
mod pipeline_task;
mod pipelinerun;
mod pipelinerun_status;
mod pod_template;
mod provenance;
mod refs;
mod result;
mod sidecar;
mod step;
mod task;
mod taskrun;
mod taskrun_status;
mod when;
mod workspace;

pub use artifact::{Artifact, ArtifactValue, Artifacts, TaskRunStepArtifact};
pub use matrix::{IncludeParams, Matrix};
pub use param::{Param, ParamSpec, ParamType, PropertySpec};
pub use param_value::ParamValue;
pub use pipeline::{Pipeline, PipelineSpec};
pub use pipeline_task::{EmbeddedTask, PipelineTask, PipelineTaskMetadata};
pub use pipelinerun::{
    PipelineRun, PipelineRunSpec, PipelineRunSpecStatus, PipelineTaskRunSpec, PipelineTaskRunTemplate,
    TimeoutFields,
};
pub use pipelinerun_status::{ChildStatusReference, PipelineRunStatus, SkippedTask};
pub use pod_template::{AffinityAssistantTemplate, PodTemplate};
pub use provenance::{Provenance, RefSource};
pub use refs::{PipelineRef, Ref, TaskRef};
pub use result::{
    PipelineResult, PipelineRunResult, ResultValue, ResultsType, StepResult, TaskResult, TaskRunResult,
    TaskRunStepResult,
};
pub use sidecar::Sidecar;
pub use step::{OnError, Step, StepOutputConfig, StepTemplate};
pub use task::{Task, TaskSpec};
pub use taskrun::{
    BREAKPOINT_ENABLED, CANCELLED_BY_PIPELINE, CANCELLED_BY_PIPELINE_TIMEOUT, TaskBreakpoints, TaskRun,
    TaskRunDebug, TaskRunSidecarSpec, TaskRunSpec, TaskRunSpecStatus, TaskRunStepSpec,
};
pub use taskrun_status::{SidecarState, StepState, TaskRunStatus};
pub use when::{WhenExpression, WhenOperator};
pub use workspace::{
    PipelineWorkspaceDeclaration, WorkspaceBinding, WorkspaceDeclaration, WorkspacePipelineTaskBinding,
    WorkspaceUsage,
};
