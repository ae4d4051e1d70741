//! What can be wrong with what the steps of a finished pod left behind.

use crate::contract::frames::FrameError;
use crate::contract::termination::TerminationError;

/// A complaint about a termination message or a log; the status is derived all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatusError {
    /// The log of the results sidecar could not be read.
    #[error("{0}")]
    Log(String),
    /// The log of the results sidecar holds something else than results, or a result above the limit.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A Task result refers to something that is not a step result.
    #[error(
        "Could not extract step name and result name. Expected value to look like $(steps.<stepName>.results.<resultName>) but got \"{0}\""
    )]
    StepResultReference(String),
    /// A termination message is not what an entrypoint writes.
    #[error(transparent)]
    Message(#[from] TerminationError),
    /// Artifacts are not the JSON of artifacts.
    #[error("{0}")]
    Artifacts(String),
    /// The start time of a step is not a time.
    #[error("could not parse time value {value} in StartedAt field: {cause}")]
    StartedAt {
        /// The value, quoted.
        value: String,
        /// Why not.
        cause: String,
    },
    /// The exit code of a step is not a number.
    #[error("could not parse int value {value} in ExitCode field: {cause}")]
    ExitCode {
        /// The value, quoted.
        value: String,
        /// Why not.
        cause: String,
    },
}

impl StatusError {
    /// True if a result is above the limit: the run has to fail.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::Frame(FrameError::SizeExceeded { .. }))
    }
}
