//! The program `nop`: ends at once, or waits to be ended. It replaces sidecars that shall stop.
//!
//! Upstream counterpart: `cmd/nop/main.go`.

use std::process::ExitCode;

use nix::sys::signal::{SigSet, Signal};

use crate::log::log;

const INDEFINITELY: &str = "tekton_run_indefinitely";

/// Runs the program with these arguments (without its name). It has always succeeded.
pub fn nop(argv: &[String]) -> ExitCode {
    if argv.first().is_some_and(|word| word == INDEFINITELY) {
        log!("Waiting indefinitely...");
        match wait_for_end() {
            Ok(signal) => log!("received signal: {signal}"),
            Err(error) => log!("cannot wait: {error}"),
        }
    }
    log!("Exiting...");
    ExitCode::SUCCESS
}

/// Waits for SIGINT or SIGTERM; other signals do what they always do.
pub(crate) fn wait_for_end() -> nix::Result<Signal> {
    let ends = block_end();
    ends.wait()
}

/// Keeps SIGINT and SIGTERM back until they are waited for.
pub(crate) fn block_end() -> SigSet {
    let ends: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
    let _ = ends.thread_block();
    ends
}
