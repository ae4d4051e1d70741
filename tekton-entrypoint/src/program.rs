//! The program `entrypoint`: flags, subcommands, credentials, then the step.
//!
//! Upstream counterpart: `cmd/entrypoint/main.go`.

use std::process::ExitCode;

use tekton_pod::contract::args::{self, EntrypointArgs};
use tekton_pod::contract::flags::{self, FlagError};

use crate::commands::{CommandOutcome, run_command};
use crate::credentials::Credentials;
use crate::environment::Environment;
use crate::log::{self, log};
use crate::places::Places;
use crate::platform;
use crate::run::StepRunner;
use crate::signals::Signals;

/// Exit code for mistakes in flags.
const USAGE: u8 = 2;

/// Runs the program with these arguments (without its name).
pub fn entrypoint(argv: &[String]) -> ExitCode {
    let signals = Signals::block().ok();
    let places = Places::from_env();
    let parsed = match EntrypointArgs::parse(argv) {
        Ok(parsed) => parsed,
        Err(error) => return refuse("entrypoint", args::FLAGS, &error),
    };
    let credentials = match Credentials::load(&parsed.args.credentials, &places) {
        Ok(credentials) => credentials,
        Err(error) => return refuse("entrypoint", args::FLAGS, &error),
    };
    match run_command(&parsed.words, &places) {
        CommandOutcome::NotACommand => step(parsed.args, &credentials, places, signals),
        CommandOutcome::Done(message) => {
            log!("{message}");
            ExitCode::SUCCESS
        }
        CommandOutcome::Failed(message) => {
            log!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn step(
    args: EntrypointArgs,
    credentials: &Credentials,
    places: Places,
    signals: Option<Signals>,
) -> ExitCode {
    credentials.write(&places.credentials());
    let environment = Environment::inherited();
    let command = match &args.entrypoint {
        Some(program) if !program.is_empty() => Ok(None),
        _ => {
            let variable = environment
                .get(platform::VARIABLE)
                .unwrap_or_default()
                .to_string_lossy();
            platform::command(&variable).map(Some)
        }
    };
    let command_args = args.command_args.clone();
    let runner = command.and_then(|command| {
        let runner = StepRunner::new(args).map_err(|error| error.to_string())?;
        Ok(match command {
            None => runner,
            Some(command) => runner.command(command.into_iter().chain(command_args).collect()),
        })
    });
    match runner {
        Ok(runner) => {
            crate::credentials::copy_to_home(&places.credentials(), &environment);
            let runner = runner.places(places).environment(environment).signals(signals);
            ExitCode::from(runner.run().code())
        }
        Err(message) => {
            log!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Tells what is wrong with a command line. Asking for help is fine.
pub(crate) fn refuse(program: &str, known: &[flags::Flag], error: &FlagError) -> ExitCode {
    let usage = flags::usage(program, known);
    if *error == FlagError::Help {
        log::plain(&usage);
        return ExitCode::SUCCESS;
    }
    log::plain(&format!("{error}\n{usage}"));
    ExitCode::from(USAGE)
}
