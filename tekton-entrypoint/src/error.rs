//! Why a step did not end well, and the exit code that says so.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a step did not end well.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StepError {
    /// A step before this one failed, so this one was not started.
    #[error("error file present, bail and skip the step")]
    Skipped,
    /// Somebody decided at the breakpoint that the step should not be started.
    #[error("before step breakpoint error file, user decided to skip the current step execution")]
    RefusedBeforeStep,
    /// The run was cancelled.
    #[error("context canceled")]
    Cancelled,
    /// The command took longer than the step allows.
    #[error("context deadline exceeded")]
    TimedOut,
    /// The command ended with a failure.
    #[error("{}", exit_words(*.0))]
    Exit(Exit),
    /// The command cannot be started.
    #[error("{0}")]
    Start(String),
    /// The awaited file cannot be looked at.
    #[error("waiting for {:?}: stat {}: {}", .path.display().to_string(), .path.display(), os_words(.source))]
    Wait {
        /// The awaited file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A negative timeout was asked for.
    #[error("negative timeout specified")]
    NegativeTimeout,
    /// The index of a reference is beyond the end of the list.
    #[error("index out of range [{index}] with length {length} in {reference}")]
    IndexOutOfRange {
        /// The reference.
        reference: String,
        /// The index in it.
        index: usize,
        /// Length of the list.
        length: usize,
    },
    /// A when expression cannot be evaluated.
    #[error("{0}")]
    When(String),
    /// Results cannot be read or reported.
    #[error("{0}")]
    Results(String),
    /// The termination message cannot be written.
    #[error("Error while writing message: {0}")]
    Message(String),
    /// The termination message would be too long.
    #[error("{0}")]
    MessageTooLong(String),
    /// A file or directory of the step itself cannot be written.
    #[error("{0}")]
    Bookkeeping(String),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exit {
    /// With a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl Exit {
    /// The code, with −1 for a signal.
    pub fn code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(_) => -1,
        }
    }
}

fn exit_words(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit status {code}"),
        Exit::Signal(number) => format!("signal: {}", signal_words(number)),
    }
}

fn signal_words(number: i32) -> String {
    let words = match number {
        1 => "hangup",
        2 => "interrupt",
        3 => "quit",
        4 => "illegal instruction",
        6 => "aborted",
        7 => "bus error",
        8 => "floating point exception",
        9 => "killed",
        11 => "segmentation fault",
        13 => "broken pipe",
        14 => "alarm clock",
        15 => "terminated",
        other => return format!("signal {other}"),
    };
    words.to_owned()
}

/// What the system says about an error, in the words that Go users know.
pub(crate) fn os_words(error: &io::Error) -> String {
    match error.raw_os_error() {
        None => error.to_string(),
        Some(number) => {
            let words = nix::errno::Errno::from_raw(number).desc();
            let mut letters = words.chars();
            letters
                .next()
                .map(|first| first.to_ascii_lowercase().to_string() + letters.as_str())
                .unwrap_or_default()
        }
    }
}

/// `OPERATION PATH: WORDS`, as Go prints errors on paths.
pub(crate) fn path_words(operation: &str, path: &std::path::Path, error: &io::Error) -> String {
    format!("{operation} {}: {}", path.display(), os_words(error))
}
