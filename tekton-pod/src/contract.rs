//! What the builder of a pod and the programs inside its steps have agreed on. No Kubernetes types.
//!
//! - [`args`], [`sidecar_args`]: flags of the programs, written and parsed by one struct each.
//! - [`result`], [`termination`]: what a step reports when it ends.
//! - [`frames`]: the same, as lines of a sidecar's log.
//! - [`paths`], [`files`]: where things are.
//! - [`flags`], [`duration`], [`json`]: the syntax below these.

pub mod args;
pub mod duration;
pub mod files;
pub mod flags;
pub mod frames;
pub mod json;
pub mod paths;
pub mod result;
pub mod sidecar_args;
pub mod termination;
