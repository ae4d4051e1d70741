//! The program `entrypoint` of Tekton's steps.

use std::process::ExitCode;

fn main() -> ExitCode {
    tekton_entrypoint::run_program(tekton_entrypoint::entrypoint)
}
