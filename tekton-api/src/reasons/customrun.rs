//! Reasons of CustomRuns.
//!
//! Upstream counterpart: `CustomRunReason` in `pkg/apis/pipeline/v1beta1/customrun_types.go`.

use crate::wire::open_enum;

open_enum! {
    /// Why a CustomRun is in its state.
    pub enum CustomRunReason {
        /// It has just started.
        Started = "Started",
        /// It is running.
        Running = "Running",
        /// It succeeded.
        Successful = "Succeeded",
        /// It failed.
        Failed = "Failed",
        /// It was cancelled.
        Cancelled = "CustomRunCancelled",
        /// It ran out of time.
        TimedOut = "CustomRunTimedOut",
        /// Its controller knows no workspaces.
        WorkspaceNotSupported = "CustomRunWorkspaceNotSupported",
    }
}
