//! The program `sidecarlogresults` of Tekton's steps.

use std::process::ExitCode;

fn main() -> ExitCode {
    tekton_entrypoint::run_program(tekton_entrypoint::sidecar_log_results)
}
