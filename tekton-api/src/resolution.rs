//! The group `resolution.tekton.dev`.

pub mod v1alpha1;
pub mod v1beta1;
