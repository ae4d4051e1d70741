#![doc = include_str!("../README.md")]

pub mod cli;
pub mod config_watch;
pub mod effects;
pub mod image_config;
pub mod images;
pub mod memory;
pub mod pipelinerun;
pub mod plan;
pub mod program;
mod refs;
mod server_version;
pub mod settings;
mod shutdown;
pub mod taskrun;
#[cfg(feature = "test-util")]
pub mod testing;
mod workspace;

/// Version of this controller, as it marks runs and pods.
pub const RELEASE: &str = concat!("v", env!("CARGO_PKG_VERSION"));
