//! Reasons in conditions and skipped tasks, as types. Their texts are what upstream writes.

mod customrun;
mod pipelinerun;
mod resolution;
mod skip;
mod taskrun;

pub use customrun::CustomRunReason;
pub use pipelinerun::PipelineRunReason;
pub use resolution::ResolutionReason;
pub use skip::SkippingReason;
pub use taskrun::TaskRunReason;
