#![doc = include_str!("../README.md")]

pub mod contract;

#[cfg(feature = "builder")]
mod build;
#[cfg(feature = "builder")]
mod draft;
#[cfg(feature = "builder")]
mod error;
#[cfg(feature = "builder")]
mod go_path;
#[cfg(feature = "builder")]
mod input;
#[cfg(feature = "builder")]
pub mod needs;
#[cfg(feature = "builder")]
pub mod patch;
#[cfg(feature = "builder")]
mod quantity;
#[cfg(feature = "builder")]
mod settings;
#[cfg(feature = "builder")]
mod stages;
#[cfg(feature = "builder")]
pub mod status;
#[cfg(feature = "builder")]
mod transform;
#[cfg(feature = "builder")]
pub mod workspace;

#[cfg(feature = "test-util")]
pub mod testing;

#[cfg(feature = "builder")]
pub use build::build_pod;
#[cfg(feature = "builder")]
pub use error::BuildError;
#[cfg(feature = "builder")]
pub use input::{
    ImageCommands, Images, Looked, LookupFailure, Lookups, PlatformCommand, PodInput, ServerVersion,
};
#[cfg(feature = "builder")]
pub use stages::security_context::SecurityContextConfig;
