//! The `tekton` command. Started under the name of a step program, or as a node's shim, it acts as that.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let argv: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if let Some(code) = tekton_entrypoint::multicall(&argv) {
        return code;
    }
    if let Some(code) = tekton_local::node::shim::run_if_requested() {
        return code;
    }
    tekton_controller::cli::main(tekton_controller::cli::Cli::parse())
}
