//! Runs the step's command: starts it in a process group of its own, passes signals on, watches for the end,
//! the time limit and cancellation, and copies its output where that is asked for.
//!
//! One thread and one `poll`. Upstream counterpart: `cmd/entrypoint/runner.go`.

mod hermetic;
mod look_path;
mod spawn;
mod streams;
mod too_big;

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::environment::Environment;
use crate::error::{Exit, StepError};
use crate::signals::{self, Signals};
use crate::wait::{Expect, Watch, is_there, left_until, poll_timeout};
use streams::Streams;

/// How often to ask for the end of the command where no signal tells it.
const CHECK_CHILD: Duration = Duration::from_millis(10);

/// A command and the conditions under which it runs.
#[derive(Debug)]
pub(crate) struct Execution<'a> {
    pub(crate) command: &'a [String],
    pub(crate) environment: &'a Environment,
    pub(crate) stdout_copy: Option<PathBuf>,
    pub(crate) stderr_copy: Option<PathBuf>,
    /// Fresh namespaces without network.
    pub(crate) hermetic: bool,
    pub(crate) deadline: Option<Instant>,
    pub(crate) cancel_file: PathBuf,
    pub(crate) signals: Option<&'a Signals>,
}

/// Why the command was killed.
#[derive(Clone, Copy, Debug)]
enum Killed {
    Cancelled,
    TimedOut,
}

impl From<Killed> for StepError {
    fn from(killed: Killed) -> Self {
        match killed {
            Killed::Cancelled => Self::Cancelled,
            Killed::TimedOut => Self::TimedOut,
        }
    }
}

/// Runs the command to its end. An empty command does nothing.
pub(crate) fn execute(execution: &Execution<'_>) -> Result<(), StepError> {
    let Some((program, args)) = execution.command.split_first() else {
        return Ok(());
    };
    let mut cancel = Watch::new(&execution.cancel_file);
    cancel.refresh();
    let mut streams = Streams::open(execution.stdout_copy.as_deref(), execution.stderr_copy.as_deref())?;
    if is_cancelled(execution) {
        return Err(StepError::Cancelled);
    }
    if execution
        .deadline
        .is_some_and(|deadline| left_until(deadline).is_zero())
    {
        return Err(StepError::TimedOut);
    }
    let path = look_path::find(program, execution.environment)?;
    let start = spawn::Start {
        path: &path,
        program,
        args,
        environment: execution.environment,
    };
    let child = if execution.hermetic {
        hermetic::start(&start, &mut streams)?
    } else {
        start.start(&mut streams)?
    };
    let (exit, killed) = supervise(child, execution, &mut cancel, &mut streams);
    if let Some(killed) = killed {
        return Err(killed.into());
    }
    match exit {
        Exit::Code(0) => streams.outcome(),
        exit => Err(StepError::Exit(exit)),
    }
}

/// Waits for the end of the command and then of the copied streams, whoever still holds them.
fn supervise(
    child: Pid,
    execution: &Execution<'_>,
    cancel: &mut Watch,
    streams: &mut Streams,
) -> (Exit, Option<Killed>) {
    let (mut exit, mut killed) = (None, None);
    loop {
        if let Some(signals) = execution.signals {
            pass_on(signals, child, &mut exit);
        }
        exit = exit.or_else(|| ended(child));
        if let Some(exit) = exit
            && streams.are_closed()
        {
            return (exit, killed);
        }
        let mut timeout = None;
        if exit.is_none() {
            if killed.is_none() {
                cancel.refresh();
                killed = reason_to_kill(execution);
                if killed.is_some() {
                    let _ = kill(child, Signal::SIGKILL);
                }
            }
            timeout = next_look(execution, cancel, killed);
        }
        let mut polled = Vec::with_capacity(4);
        polled.extend(
            execution
                .signals
                .map(|signals| PollFd::new(signals.as_fd(), PollFlags::POLLIN)),
        );
        if killed.is_none() && exit.is_none() {
            polled.extend(
                cancel
                    .as_fd()
                    .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN)),
            );
        }
        polled.extend(
            streams
                .descriptors()
                .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN)),
        );
        let _ = poll(&mut polled, poll_timeout(timeout));
        drop(polled);
        streams.copy();
    }
}

/// How long nothing has to be looked at.
fn next_look(execution: &Execution<'_>, cancel: &Watch, killed: Option<Killed>) -> Option<Duration> {
    let unsignalled = execution.signals.is_none().then_some(CHECK_CHILD);
    if killed.is_some() {
        return unsignalled;
    }
    let deadline = execution.deadline.map(left_until);
    [unsignalled, deadline, Some(cancel.check_interval())]
        .into_iter()
        .flatten()
        .min()
}

fn is_cancelled(execution: &Execution<'_>) -> bool {
    is_there(&execution.cancel_file, Expect::HasContent).unwrap_or(false)
}

fn reason_to_kill(execution: &Execution<'_>) -> Option<Killed> {
    if execution
        .deadline
        .is_some_and(|deadline| left_until(deadline).is_zero())
    {
        Some(Killed::TimedOut)
    } else if is_cancelled(execution) {
        Some(Killed::Cancelled)
    } else {
        None
    }
}

/// Hands every signal but the one about children to the whole process group of the command.
fn pass_on(signals: &Signals, child: Pid, exit: &mut Option<Exit>) {
    while let Some(signal) = signals.next() {
        if signal == Signal::SIGCHLD {
            if exit.is_none() {
                *exit = signals::reap_orphans(Some(child)).and_then(exit_of);
            } else {
                signals::reap_orphans(None);
            }
        } else {
            let _ = killpg(child, signal);
        }
    }
}

fn ended(child: Pid) -> Option<Exit> {
    match waitpid(child, Some(WaitPidFlag::WNOHANG)) {
        Ok(status) => exit_of(status),
        // Somebody else in this process collected it; how it ended is lost.
        Err(nix::errno::Errno::ECHILD) => Some(Exit::Code(1)),
        Err(_) => None,
    }
}

fn exit_of(status: WaitStatus) -> Option<Exit> {
    match status {
        WaitStatus::Exited(_, code) => Some(Exit::Code(code)),
        WaitStatus::Signaled(_, signal, _) => Some(Exit::Signal(signal as i32)),
        _ => None,
    }
}
