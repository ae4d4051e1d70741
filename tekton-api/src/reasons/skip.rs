//! Why tasks of a Pipeline are skipped.
//!
//! Upstream counterpart: `SkippingReason` in `pkg/apis/pipeline/v1/pipelinerun_types.go`.

use crate::wire::open_enum;

open_enum! {
    /// Why a task was not run.
    pub enum SkippingReason {
        /// A condition did not hold.
        WhenExpressions = "When Expressions evaluated to false",
        /// A task it depends on was skipped.
        ParentTasks = "Parent Tasks were skipped",
        /// A task failed, and no more are started.
        Stopping = "PipelineRun was stopping",
        /// The run was cancelled, but for finally tasks.
        GracefullyCancelled = "PipelineRun was gracefully cancelled",
        /// The run was stopped, but for finally tasks.
        GracefullyStopped = "PipelineRun was gracefully stopped",
        /// A result it needs does not exist.
        MissingResults = "Results were missing",
        /// The run ran out of time.
        PipelineTimedOut = "PipelineRun timeout has been reached",
        /// The tasks ran out of time.
        TasksTimedOut = "PipelineRun Tasks timeout has been reached",
        /// The finally tasks ran out of time.
        FinallyTimedOut = "PipelineRun Finally timeout has been reached",
        /// There is nothing to fan out over.
        EmptyArrayInMatrixParams = "Matrix Parameters have an empty array",
        /// It was not skipped.
        None = "None",
    }
}

#[expect(clippy::derivable_impls, reason = "the enum is declared by a macro")]
impl Default for SkippingReason {
    fn default() -> Self {
        Self::None
    }
}
