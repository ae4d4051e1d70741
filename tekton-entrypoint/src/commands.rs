//! Subcommands of the entrypoint, for init containers: placing itself, links to steps, scripts.
//!
//! A subcommand counts only with the right number of words; otherwise the words mean nothing.
//! Upstream counterpart: `cmd/entrypoint/subcommands`.

mod copy_self;
mod decode_script;
mod step_init;

use std::path::Path;

use crate::places::Places;

/// What became of the words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CommandOutcome {
    /// They name no subcommand.
    NotACommand,
    /// The subcommand succeeded; the text is for the log.
    Done(String),
    /// The subcommand failed; the text is for the log.
    Failed(String),
}

/// Runs the subcommand that the words name, if they name one.
pub fn run_command(words: &[String], places: &Places) -> CommandOutcome {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (name, outcome) = match words.as_slice() {
        ["init", source, target, steps @ ..] => {
            let outcome = copy_self::copy(Path::new(source), Path::new(target));
            let outcome = outcome.and_then(|()| step_init::link(steps, places));
            ("init", outcome.map(|()| "Entrypoint initialization".to_owned()))
        }
        ["cp", source, target] => {
            let outcome = copy_self::copy(Path::new(source), Path::new(target));
            ("cp", outcome.map(|()| format!("Copied {source} to {target}")))
        }
        ["decode-script", script] => {
            let outcome = decode_script::decode(Path::new(script));
            (
                "decode-script",
                outcome.map(|()| format!("Decoded script {script}")),
            )
        }
        ["step-init", steps @ ..] => (
            "step-init",
            step_init::link(steps, places).map(|()| "Setup /step directories".to_owned()),
        ),
        _ => return CommandOutcome::NotACommand,
    };
    match outcome {
        Ok(message) => CommandOutcome::Done(message),
        Err(cause) => CommandOutcome::Failed(format!("{name} error: {cause}")),
    }
}
