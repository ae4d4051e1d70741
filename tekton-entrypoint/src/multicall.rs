//! One executable as any of the four programs, by the name it is called with.

use std::process::ExitCode;

use crate::{entrypoint, nop, sidecar_log_results, working_dir_init};

/// Runs the program whose name the first word ends in; nothing if it is none of the four.
///
/// For executables that can be copied to `/tekton/bin/entrypoint` and such:
///
/// ```
/// use tekton_entrypoint::multicall;
///
/// let argv: Vec<String> = vec!["/usr/bin/tekton".into(), "run".into()];
/// assert!(multicall(&argv).is_none());
/// ```
pub fn multicall(argv: &[String]) -> Option<ExitCode> {
    let (name, args) = argv.split_first()?;
    match name.rsplit('/').next().unwrap_or_default() {
        "entrypoint" => Some(entrypoint(args)),
        "nop" => Some(nop(args)),
        "sidecarlogresults" => Some(sidecar_log_results(args)),
        "workingdirinit" => Some(working_dir_init(args)),
        _ => None,
    }
}

/// Runs one of the programs with the arguments of this process. Text that is no UTF-8 is replaced.
pub fn run_program(program: fn(&[String]) -> ExitCode) -> ExitCode {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    program(&args)
}
