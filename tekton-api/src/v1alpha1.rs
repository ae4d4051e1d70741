//! The group `tekton.dev`, version `v1alpha1`: StepAction, VerificationPolicy and Run.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1alpha1`.

mod run;
mod stepaction;
mod verification_policy;

pub use run::{Run, RunSpec};
pub use stepaction::{StepAction, StepActionSpec};
pub use verification_policy::{
    Authority, HashAlgorithm, KeyRef, ModeType, ResourcePattern, VerificationPolicy, VerificationPolicySpec,
};
