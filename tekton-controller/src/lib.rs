#![doc = include_str!("../README.md")]

pub mod image_config;
pub mod images;
pub mod memory;
pub mod plan;
mod refs;
mod server_version;
pub mod taskrun;
#[cfg(feature = "test-util")]
pub mod testing;
mod workspace;

/// Version of this controller, as it marks runs and pods.
pub const RELEASE: &str = concat!("v", env!("CARGO_PKG_VERSION"));
