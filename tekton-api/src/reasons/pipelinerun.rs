//! Reasons of PipelineRuns.
//!
//! Upstream counterpart: `PipelineRunReason` in `pkg/apis/pipeline/v1/pipelinerun_types.go`.

use crate::wire::open_enum;

open_enum! {
    /// Why a PipelineRun is in its state.
    pub enum PipelineRunReason {
        /// It has just started.
        Started = "Started",
        /// It is running.
        Running = "Running",
        /// All tasks succeeded.
        Successful = "Succeeded",
        /// All tasks that ran succeeded, others were skipped.
        Completed = "Completed",
        /// A task failed.
        Failed = "Failed",
        /// It was cancelled.
        Cancelled = "Cancelled",
        /// It waits for the permission to start.
        Pending = "PipelineRunPending",
        /// It ran out of time.
        TimedOut = "PipelineRunTimeout",
        /// No more tasks start, the running ones finish.
        Stopping = "PipelineRunStopping",
        /// It ran out of time, and the finally tasks run.
        TimedOutRunningFinally = "PipelineRunTimeoutRunningFinally",
        /// It was cancelled, and the finally tasks run.
        CancelledRunningFinally = "CancelledRunningFinally",
        /// It was stopped, and the finally tasks run.
        StoppedRunningFinally = "StoppedRunningFinally",
        /// The Pipeline could not be found or fetched.
        CouldntGetPipeline = "CouldntGetPipeline",
        /// Bindings of resources are not valid.
        InvalidBindings = "InvalidPipelineResourceBindings",
        /// The workspaces do not fit the Pipeline.
        InvalidWorkspaceBinding = "InvalidWorkspaceBindings",
        /// Settings are given for tasks that do not exist.
        InvalidTaskRunSpec = "InvalidTaskRunSpecs",
        /// A parameter has the wrong type.
        ParameterTypeMismatch = "ParameterTypeMismatch",
        /// An object parameter lacks keys.
        ObjectParameterMissKeys = "ObjectParameterMissKeys",
        /// An index is beyond the end of an array.
        ParamArrayIndexingInvalid = "ParamArrayIndexingInvalid",
        /// A Task could not be found or fetched.
        CouldntGetTask = "CouldntGetTask",
        /// A parameter is missing.
        ParameterMissing = "ParameterMissing",
        /// The Pipeline is not valid.
        FailedValidation = "PipelineValidationFailed",
        /// A result refers to something that does not exist.
        CouldntGetPipelineResult = "CouldntGetPipelineResult",
        /// The tasks do not form a graph without cycles.
        InvalidGraph = "PipelineInvalidGraph",
        /// Its runs could not be cancelled.
        CouldntCancel = "PipelineRunCouldntCancel",
        /// Its runs could not be stopped after the time ran out.
        CouldntTimeOut = "PipelineRunCouldntTimeOut",
        /// A parameter of a matrix has the wrong type.
        InvalidMatrixParameterTypes = "InvalidMatrixParameterTypes",
        /// A reference to a result is not valid.
        InvalidTaskResultReference = "InvalidTaskResultReference",
        /// A reference to a result of the Pipeline is not valid.
        InvalidPipelineResultReference = "InvalidPipelineResultReference",
        /// A task needs a workspace that may be left unbound.
        RequiredWorkspaceMarkedOptional = "RequiredWorkspaceMarkedOptional",
        /// Its Pipeline is being fetched.
        ResolvingPipelineRef = "ResolvingPipelineRef",
        /// The signature of the Pipeline is not accepted.
        ResourceVerificationFailed = "ResourceVerificationFailed",
        /// A run could not be created.
        CreateRunFailed = "CreateRunFailed",
        /// An expression could not be evaluated.
        CelEvaluationFailed = "CELEvaluationFailed",
        /// A value is not among those allowed.
        InvalidParamValue = "InvalidParamValue",
    }
}
