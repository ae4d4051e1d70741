#![doc = include_str!("../README.md")]

mod artifacts;
mod breakpoint;
mod clock;
mod commands;
mod credentials;
mod environment;
mod error;
mod exec;
mod go_path;
mod log;
mod multicall;
mod nop;
mod outcome;
mod places;
mod platform;
mod program;
mod results;
mod run;
mod sidecar_logs;
mod signals;
mod template;
mod wait;
mod when;
mod working_dirs;

pub use commands::{CommandOutcome, run_command};
pub use environment::Environment;
pub use error::StepError;
pub use multicall::{multicall, run_program};
pub use nop::nop;
pub use outcome::Outcome;
pub use places::{PATH_PREFIX_VARIABLE, Places};
pub use program::entrypoint;
pub use run::StepRunner;
pub use sidecar_logs::{SidecarError, report, sidecar_log_results};
pub use working_dirs::working_dir_init;

pub use tekton_pod::contract;
