//! Conditions under which tasks and steps run.
//!
//! Replacing variables in them is done by [`crate::substitute`]; this decides what they say afterwards.
//! Upstream counterparts: `pkg/apis/pipeline/v1/when_types.go` and `EvaluateCEL` of the PipelineRun
//! reconciler.

mod cel;
#[cfg(feature = "cel")]
mod check;
mod eval;

pub use cel::{CelError, compile, evaluate};
pub use eval::{allows, allows_without_cel, evaluate_all};
