#![doc = include_str!("../README.md")]

pub mod admission;
pub mod condition;
pub mod config;
pub mod convert;
#[cfg(feature = "schema")]
pub mod crd;
pub mod decode;
pub mod defaults;
pub mod duration;
pub mod field_errors;
pub mod labels;
mod matrix;
pub mod names;
pub mod params;
pub mod paths;
pub mod quantity;
pub mod quote;
pub mod reasons;
pub mod resolution;
pub mod result_ref;
pub mod substitute;
#[cfg(feature = "test-util")]
pub mod testing;
pub mod v1;
pub mod v1alpha1;
pub mod v1beta1;
pub mod validate;
pub mod when;
mod wire;
pub mod yaml;

pub use {jiff, k8s_openapi, kube, serde_json};
