//! The stages of the builder, each a function from drafts and configuration to containers and volumes.
//! Their order is in [`crate::build`].

pub(crate) mod assemble;
pub(crate) mod compute_resources;
pub(crate) mod credentials;
pub(crate) mod debug_scripts;
pub(crate) mod env;
pub(crate) mod image_command;
pub(crate) mod image_reference;
mod merge;
pub(crate) mod metadata;
pub(crate) mod mounts;
pub(crate) mod native_sidecars;
pub(crate) mod order;
pub(crate) mod prepare;
pub(crate) mod results_sidecar;
pub(crate) mod scripts;
mod scripts_windows;
pub(crate) mod security_context;
pub(crate) mod spire;
pub(crate) mod step_template;
pub(crate) mod volumes;
pub(crate) mod working_dirs;
