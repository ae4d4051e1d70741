//! Integration tests of the controller: golden traces, and the `tekton` command as a whole process.

#![cfg(feature = "test-util")]
#![allow(
    clippy::print_stdout,
    clippy::needless_pass_by_value,
    reason = "tests say which cases fail, and take what is at hand"
)]

mod command;
mod golden;
mod input;
mod machine;
mod stopping;
mod taskrun_properties;
mod taskrun_remote;
