//! Integration tests of the controller: golden traces, and the `tekton` command as a whole process.

#![cfg(feature = "test-util")]

mod command;
mod golden;
mod input;
mod machine;
mod stopping;
mod taskrun_properties;
mod taskrun_remote;
