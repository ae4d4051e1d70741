//! Pods on a node with the API in this process, at every isolation that works here.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test program with cases that are programs of their own"
)]

mod cases;
mod driver;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use tekton_local::node::{Isolation, shim};

fn main() -> ExitCode {
    if let Some(code) = shim::run_if_requested() {
        return code;
    }
    if let Some(base) = std::env::var_os(cases::VICTIM) {
        cases::be_a_victim(std::path::Path::new(&base));
    }
    let arguments = Arguments::from_args();
    if let Ok(filter) = std::env::var("RUST_LOG") {
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .init();
    }
    let available = driver::available();
    assert!(
        available.contains(&Isolation::None),
        "plain processes are always possible"
    );
    let trials = available.into_iter().flat_map(|isolation| {
        cases::ALL.iter().map(move |(name, case)| {
            Trial::test(format!("{isolation}::{name}"), move || {
                driver::run(isolation, *case);
                Ok(())
            })
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
