//! The reference controller: reconciles TaskRuns and PipelineRuns of a cluster.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    tekton_controller::program::main(tekton_controller::settings::Settings::parse())
}
