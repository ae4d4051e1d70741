//! The program `sidecarlogresults`: waits for the steps and prints their results and artifacts, a line each.
//!
//! Results of the Task come first, in the order of the flag, then those of steps; the original prints them in
//! any order. Upstream counterparts: `cmd/sidecarlogresults`, `internal/sidecarlogresults`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use std::os::fd::AsFd as _;
use tekton_pod::contract::duration::GoDuration;
use tekton_pod::contract::frames::Frame;
use tekton_pod::contract::sidecar_args::{self, SidecarArgs};
use tekton_pod::contract::{files, json};
use thiserror::Error;

use crate::artifacts;
use crate::error::path_words;
use crate::log::log;
use crate::nop;
use crate::places::Places;
use crate::program::refuse;
use crate::wait::poll_timeout;

const INTERVAL_VARIABLE: &str = "SIDECAR_LOG_POLLING_INTERVAL";
const INTERVAL: Duration = Duration::from_millis(100);

/// Why nothing, or not everything, can be reported.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum SidecarError {
    /// The polling interval is no duration.
    #[error("error getting polling interval: time: invalid duration {0:?}")]
    Interval(String),
    /// The state of the steps cannot be looked at.
    #[error("error while waiting for the steps to finish  {0}")]
    Steps(String),
    /// A result cannot be read.
    #[error("error parsing results: error reading the results file {0}")]
    Results(String),
    /// Artifacts cannot be read.
    #[error("{0}")]
    Artifacts(String),
    /// A line cannot be written.
    #[error("error writing results: {0}")]
    Write(String),
    /// The names of the steps' results are no JSON object of lists.
    #[error("{0}")]
    StepResults(String),
}

/// Runs the program with these arguments (without its name).
pub fn sidecar_log_results(argv: &[String]) -> ExitCode {
    let args = match SidecarArgs::parse(argv) {
        Ok(args) => args,
        Err(error) => return refuse("sidecarlogresults", sidecar_args::FLAGS, &error),
    };
    // Kept back from here on, so that the end may be asked for at any time.
    let ends = args.kubernetes_sidecar_mode.then(nop::block_end);
    let interval = std::env::var(INTERVAL_VARIABLE).unwrap_or_default();
    if let Err(error) = report(&args, &interval, &Places::from_env(), &mut io::stdout().lock()) {
        log!("{error}");
        return ExitCode::FAILURE;
    }
    if let Some(ends) = ends {
        let _ = ends.wait();
    }
    ExitCode::SUCCESS
}

/// Waits for the steps and writes what they left. An empty interval is the usual one.
pub fn report(
    args: &SidecarArgs,
    interval: &str,
    places: &Places,
    output: &mut impl Write,
) -> Result<(), SidecarError> {
    let step_results = args.step_result_names().map_err(SidecarError::StepResults)?;
    let interval = polling_interval(interval)?;
    wait_for_steps(&places.run(), interval)?;
    let results_dir = match args.results_dir.as_str() {
        usual if usual == tekton_pod::contract::paths::RESULTS_DIR => places.results(),
        other => PathBuf::from(other),
    };
    for name in &args.result_names {
        if let Some(value) = read(&results_dir.join(name.trim_start_matches('/')))? {
            write(output, &Frame::task_result(name, value))?;
        }
    }
    for (step, names) in &step_results {
        let directory = places.steps().join(step).join(files::RESULTS);
        for name in names {
            if let Some(value) = read(&directory.join(name.trim_start_matches('/')))? {
                write(output, &Frame::step_result(step, name, value))?;
            }
        }
    }
    for container in &args.step_names {
        let path = places
            .steps()
            .join(container)
            .join(files::ARTIFACTS)
            .join(files::PROVENANCE);
        if is_file(&path).map_err(SidecarError::Artifacts)? {
            let artifacts = artifacts::load(&path)
                .and_then(|artifacts| json::to_string(&artifacts).map_err(|error| error.to_string()))
                .map_err(|cause| SidecarError::Artifacts(format!("invalid artifacts : {cause}")))?;
            write(output, &Frame::step_artifacts(container, artifacts))?;
        }
    }
    Ok(())
}

fn polling_interval(text: &str) -> Result<Duration, SidecarError> {
    if text.is_empty() {
        return Ok(INTERVAL);
    }
    let interval: GoDuration = text
        .parse()
        .map_err(|_| SidecarError::Interval(text.to_owned()))?;
    Ok(interval.positive().unwrap_or(Duration::from_millis(1)))
}

/// Waits until every step has ended, or one has failed.
fn wait_for_steps(run_dir: &Path, interval: Duration) -> Result<(), SidecarError> {
    let failed = SidecarError::Steps;
    let listed = fs::read_dir(run_dir).map_err(|error| {
        failed(format!(
            "error parsing the run dir  {}",
            path_words("open", run_dir, &error)
        ))
    })?;
    let mut open: Vec<PathBuf> = listed
        .filter_map(|entry| Some(entry.ok()?.path().join(files::POST_FILE)))
        .collect();
    open.sort();
    let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK).ok();
    if let Some(inotify) = &inotify {
        for directory in open.iter().filter_map(|file| file.parent()) {
            let _ = inotify.add_watch(directory, AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MOVED_TO);
        }
    }
    loop {
        let mut still_open = Vec::new();
        for file in open {
            if is_file(&file).map_err(failed)? {
                continue;
            }
            if is_file(Path::new(&files::error_file(&file.display().to_string()))).map_err(failed)? {
                return Ok(());
            }
            still_open.push(file);
        }
        if still_open.is_empty() {
            return Ok(());
        }
        open = still_open;
        let mut polled: Vec<_> = inotify
            .iter()
            .map(|inotify| PollFd::new(inotify.as_fd(), PollFlags::POLLIN))
            .collect();
        let _ = poll(&mut polled, poll_timeout(Some(interval)));
        if let Some(inotify) = &inotify {
            while inotify.read_events().is_ok_and(|events| !events.is_empty()) {}
        }
    }
}

fn is_file(path: &Path) -> Result<bool, String> {
    match fs::metadata(path) {
        Ok(facts) => Ok(!facts.is_dir()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(format!(
            "error checking for file existence {}",
            path_words("stat", path, &error)
        )),
    }
}

fn read(path: &Path) -> Result<Option<String>, SidecarError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(json::text(bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SidecarError::Results(path_words("read", path, &error))),
    }
}

fn write(output: &mut impl Write, frame: &Frame) -> Result<(), SidecarError> {
    let line = frame
        .encode()
        .map_err(|error| SidecarError::Write(error.to_string()))?;
    output
        .write_all(line.as_bytes())
        .and_then(|()| output.flush())
        .map_err(|error| SidecarError::Write(error.to_string()))
}
