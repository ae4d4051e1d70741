//! The group `resolution.tekton.dev`.

pub mod v1beta1;
