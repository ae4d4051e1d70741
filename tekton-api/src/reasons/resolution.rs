//! Reasons of ResolutionRequests.
//!
//! Upstream counterpart: `pkg/resolution/common/errors.go` and the life cycle of the request.

use crate::wire::open_enum;

open_enum! {
    /// Why a ResolutionRequest is in its state.
    pub enum ResolutionReason {
        /// It has not been looked at.
        Started = "Started",
        /// A resolver is at work.
        InProgress = "ResolutionInProgress",
        /// The definition has been fetched.
        Successful = "ResolutionSuccessful",
        /// The definition could not be fetched.
        Failed = "ResolutionFailed",
        /// It took too long.
        TimedOut = "ResolutionTimedOut",
    }
}
