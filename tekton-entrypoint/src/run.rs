//! The life of one step, in order: wait, hold, fill in, decide, run, mark, report.
//!
//! Upstream counterpart: `Entrypointer.Go` in `pkg/entrypoint/entrypointer.go`.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use tekton_pod::contract::args::EntrypointArgs;
use tekton_pod::contract::files;
use tekton_pod::contract::result::{ResultType, RunResult};
use tekton_pod::contract::termination::Compression;

use crate::artifacts;
use crate::breakpoint;
use crate::clock;
use crate::environment::Environment;
use crate::error::StepError;
use crate::exec::{Execution, execute};
use crate::go_path;
use crate::log::log;
use crate::outcome::{self, Outcome, Post, SKIPPED};
use crate::places::Places;
use crate::results;
use crate::signals::Signals;
use crate::template::{self, Unresolved};
use crate::wait::{Expect, OnErrorFile, wait};
use crate::when::{self, StepWhen};

const CONTINUE: &str = "continue";
const HERMETIC_VARIABLE: &str = "TEKTON_HERMETIC";
const RESOURCE_VARIABLE: &str = "TEKTON_RESOURCE_NAME";

/// Runs a step as its flags say.
///
/// The program `entrypoint` does it in a process of its own; a runner of steps may do it in a thread.
#[derive(Debug)]
pub struct StepRunner {
    args: EntrypointArgs,
    command: Vec<String>,
    when: Vec<StepWhen>,
    places: Places,
    environment: Environment,
    signals: Option<Signals>,
}

/// How the part up to the end of the command went.
enum Ran {
    Finished(Result<(), StepError>),
    SkippedByWhen,
}

impl StepRunner {
    /// A runner for parsed flags. Refused if the when expressions are not readable.
    ///
    /// The command is `-entrypoint` with the arguments behind `--`; an environment and places other than those
    /// of this process can be set with the other methods.
    pub fn new(args: EntrypointArgs) -> Result<Self, StepError> {
        let when =
            when::parse(args.when_expressions.as_deref().unwrap_or_default()).map_err(StepError::When)?;
        let program = args.entrypoint.iter().filter(|program| !program.is_empty());
        let command = program.chain(&args.command_args).cloned().collect();
        Ok(Self {
            args,
            command,
            when,
            places: Places::from_env(),
            environment: Environment::inherited(),
            signals: None,
        })
    }

    /// Runs this command instead of the one that the flags tell.
    #[must_use]
    pub fn command(mut self, command: Vec<String>) -> Self {
        self.command = command;
        self
    }

    /// Looks for results, steps and cancellation in these places.
    #[must_use]
    pub fn places(mut self, places: Places) -> Self {
        self.places = places;
        self
    }

    /// Gives the command this environment.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Passes signals on to the command; for programs with one thread.
    pub(crate) fn signals(mut self, signals: Option<Signals>) -> Self {
        self.signals = signals;
        self
    }

    /// Runs the step to its end, the termination message included, and then through a breakpoint if it failed
    /// and has one.
    pub fn run(mut self) -> Outcome {
        let mut entries = Vec::new();
        let outcome = self.live(&mut entries);
        let reported = self.report(&entries);
        let error = match (outcome, reported) {
            (_, Err(StepError::MessageTooLong(words))) => StepError::Message(words),
            (_, Err(error)) | (Err(error), Ok(())) => error,
            (Ok(()), Ok(())) => return Outcome::Succeeded,
        };
        self.conclude(error)
    }

    /// Everything but the last entries of the message.
    fn live(&mut self, entries: &mut Vec<RunResult>) -> Result<(), StepError> {
        for directory in [files::RESULTS, files::ARTIFACTS] {
            let path = go_path::join(&self.args.step_metadata_dir, directory);
            outcome::make_dirs(Path::new(&path)).map_err(StepError::Bookkeeping)?;
        }
        self.wait(entries)?;
        let held = if self.args.debug_before_step {
            breakpoint::before_step(&self.args.post_file, self.signals.as_ref())
        } else {
            Ok(())
        };
        entries.push(started_now());
        let finished = match held.and_then(|()| self.execute()) {
            Ok(Ran::SkippedByWhen) => {
                log!("Step was skipped due to when expressions were evaluated to false.");
                entries.push(RunResult::internal("Reason", SKIPPED));
                outcome::write_post(&self.args.post_file, Post::Success)?;
                return outcome::write_exit_code(&self.args.step_metadata_dir, "0");
            }
            Ok(Ran::Finished(finished)) => finished,
            Err(error) => Err(error),
        };
        self.mark(finished.as_ref().err(), entries)?;
        self.report_results()?;
        if self.args.reports_results() {
            entries.extend(artifacts::outputs(&self.places, &self.args.step_metadata_dir)?);
        }
        finished
    }

    fn wait(&self, entries: &mut Vec<RunResult>) -> Result<(), StepError> {
        let expect = if self.args.wait_file_content {
            Expect::HasContent
        } else {
            Expect::Exists
        };
        let breakpoint = self.args.breakpoint_on_failure;
        let on_error = if breakpoint {
            OnErrorFile::GoOn
        } else {
            OnErrorFile::Skip
        };
        for file in &self.args.wait_files {
            if let Err(error) = wait(file, expect, on_error, self.signals.as_ref()) {
                if !breakpoint {
                    outcome::write_post(&self.args.post_file, Post::Failure)?;
                }
                entries.push(started_now());
                if matches!(error, StepError::Skipped) {
                    entries.push(RunResult::internal("Reason", SKIPPED));
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Fills in references, decides whether to run, and runs.
    fn execute(&mut self) -> Result<Ran, StepError> {
        let timeout = self.args.timeout.unwrap_or_default();
        if timeout.0 < 0 {
            return Err(StepError::NegativeTimeout);
        }
        let steps = self.places.steps();
        match template::fill_in_results(&steps, &mut self.environment, &mut self.when, &mut self.command) {
            Ok(()) => {}
            Err(Unresolved::Logged(cause)) => log!("Error while substituting step results: {cause}"),
            Err(Unresolved::Fatal(error)) => return Err(error),
        }
        if let Err(cause) = artifacts::fill_in(&self.places, &mut self.environment, &mut self.command) {
            log!("Error while substituting step artifacts: {cause}");
        }
        let deadline = timeout
            .positive()
            .and_then(|timeout| Instant::now().checked_add(timeout));
        if !when::allows(&self.when)? {
            return Ok(Ran::SkippedByWhen);
        }
        let is = |name: &str, value: &str| self.environment.get(name).unwrap_or_default() == value;
        Ok(Ran::Finished(execute(&Execution {
            command: &self.command,
            environment: &self.environment,
            stdout_copy: path(self.args.stdout_path.as_deref()),
            stderr_copy: path(self.args.stderr_path.as_deref()),
            hermetic: is(RESOURCE_VARIABLE, "") && is(HERMETIC_VARIABLE, "1"),
            deadline,
            cancel_file: self.places.cancel_file(),
            signals: self.signals.as_ref(),
        })))
    }

    /// Leaves the marks that the end of the command asks for.
    fn mark(&self, error: Option<&StepError>, entries: &mut Vec<RunResult>) -> Result<(), StepError> {
        let marks = outcome::marks(error, self.args.breakpoint_on_failure, self.continues());
        entries.extend(marks.entry);
        if let Some(post) = marks.post {
            outcome::write_post(&self.args.post_file, post)?;
        }
        marks.exit_code.map_or(Ok(()), |content| {
            outcome::write_exit_code(&self.args.step_metadata_dir, &content)
        })
    }

    /// Results of the Task and of the step, each group as a whole.
    fn report_results(&self) -> Result<(), StepError> {
        let of_step = PathBuf::from(go_path::join(&self.args.step_metadata_dir, files::RESULTS));
        let groups = [
            (&self.args.results, self.places.results(), ResultType::TaskRun),
            (&self.args.step_results, of_step, ResultType::Step),
        ];
        for (names, directory, result_type) in groups {
            let Some(names) = names
                .as_ref()
                .filter(|names| names.first().is_some_and(|name| !name.is_empty()))
            else {
                continue;
            };
            let found = results::read(&directory, names, result_type)?;
            if found.is_empty() {
                continue;
            }
            if self.args.enable_spire {
                return Err(StepError::Results(
                    "results cannot be signed: this build has no SPIRE client".to_owned(),
                ));
            }
            if self.args.reports_results() {
                self.report(&found)?;
            }
        }
        Ok(())
    }

    fn report(&self, entries: &[RunResult]) -> Result<(), StepError> {
        let compress = self.args.compress_termination_message;
        let compression = if compress {
            Compression::WhenShorter
        } else {
            Compression::Never
        };
        let path = match &self.args.termination_path {
            Some(path) => PathBuf::from(path),
            None => self.places.path(self.args.termination_path()),
        };
        results::report(&path, entries, compression)
    }

    fn continues(&self) -> bool {
        self.args.on_error.as_deref() == Some(CONTINUE)
    }

    /// Exit code and log line for an error; holds the step where a breakpoint asks for it.
    fn conclude(&self, error: StepError) -> Outcome {
        let holds = !matches!(
            error,
            StepError::RefusedBeforeStep
                | StepError::Skipped
                | StepError::Cancelled
                | StepError::TimedOut
                | StepError::Message(_)
                | StepError::MessageTooLong(_)
        );
        if holds && self.args.breakpoint_on_failure {
            let code = breakpoint::on_failure(&self.args.post_file, self.signals.as_ref());
            return Outcome::Released {
                code: u8::try_from(code.rem_euclid(256)).unwrap_or_default(),
            };
        }
        if matches!(error, StepError::Exit(_)) && self.continues() {
            return Outcome::Succeeded;
        }
        log!("{}", outcome::log_line(&error));
        Outcome::Failed {
            code: outcome::exit_code(&error),
            error,
        }
    }
}

fn started_now() -> RunResult {
    RunResult::internal("StartedAt", clock::started_at(SystemTime::now()))
}

fn path(text: Option<&str>) -> Option<PathBuf> {
    text.filter(|text| !text.is_empty()).map(PathBuf::from)
}
