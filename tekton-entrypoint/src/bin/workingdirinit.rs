//! The program `workingdirinit` of Tekton's steps.

use std::process::ExitCode;

fn main() -> ExitCode {
    tekton_entrypoint::run_program(tekton_entrypoint::working_dir_init)
}
