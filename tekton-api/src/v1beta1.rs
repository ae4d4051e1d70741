//! The group `tekton.dev`, version `v1beta1`: CustomRun and StepAction, and the predecessors of v1.
//!
//! Types whose JSON equals that of v1 are those of v1. Upstream counterpart: `pkg/apis/pipeline/v1beta1`.

mod customrun;
mod stepaction;

pub use crate::v1::{
    Artifact, ArtifactValue, Artifacts, IncludeParams, Matrix, OnError, Param, ParamSpec, ParamType,
    ParamValue, PipelineTaskMetadata, PipelineWorkspaceDeclaration, PropertySpec, ResultValue, ResultsType,
    StepOutputConfig, StepResult, TaskRef, WhenOperator, WorkspaceBinding, WorkspaceDeclaration,
    WorkspacePipelineTaskBinding, WorkspaceUsage,
};
pub use customrun::{
    CUSTOM_RUN_CANCELLED_BY_PIPELINE, CUSTOM_RUN_CANCELLED_BY_PIPELINE_TIMEOUT, CustomRun, CustomRunResult,
    CustomRunSpec, CustomRunSpecStatus, CustomRunStatus, EmbeddedCustomRunSpec,
};
pub use stepaction::{StepAction, StepActionSpec};
