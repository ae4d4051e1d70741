//! What a finished step leaves behind: the marker for the next step, the exit code file, entries for the
//! termination message, and its own exit code.
//!
//! Upstream counterparts: the `switch` at the end of `Entrypointer.Go`, and `cmd/entrypoint/main.go`.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use tekton_pod::contract::files;
use tekton_pod::contract::result::RunResult;

use crate::error::{StepError, path_words};
use crate::go_path;

/// Value of the entry that says why a step has no success.
pub(crate) const SKIPPED: &str = "Skipped";
const CANCELLED: &str = "Cancelled";
const TIMED_OUT: &str = "TimeoutExceeded";
/// What the exit code file of a cancelled step says.
const KILLED: &str = "killed";
/// Exit code of a cancelled step: the number of SIGKILL.
const CANCELLED_CODE: u8 = 9;

/// How a step went, as far as the process that ran it has to know.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The step is fine, or its failure does not matter.
    Succeeded,
    /// The step failed with this exit code.
    Failed {
        /// Exit code for the process.
        code: u8,
        /// Why.
        error: StepError,
    },
    /// A breakpoint decided on the exit code.
    Released {
        /// Exit code for the process.
        code: u8,
    },
}

impl Outcome {
    /// Exit code for the process.
    pub fn code(&self) -> u8 {
        match self {
            Self::Succeeded => 0,
            Self::Failed { code, .. } | Self::Released { code } => *code,
        }
    }
}

/// What the end of the command means.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Marks {
    /// Success marker, failure marker, or none.
    pub(crate) post: Option<Post>,
    /// Content of the exit code file.
    pub(crate) exit_code: Option<String>,
    /// Entry for the termination message.
    pub(crate) entry: Option<RunResult>,
}

/// Which marker the next step finds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Post {
    Success,
    Failure,
}

/// Decides by the error, or the lack of it.
pub(crate) fn marks(error: Option<&StepError>, breakpoint: bool, continues: bool) -> Marks {
    let marks = |post, exit_code: Option<&str>, entry| Marks {
        post,
        exit_code: exit_code.map(str::to_owned),
        entry,
    };
    let reason = |reason: &str| Some(RunResult::internal("Reason", reason));
    match error {
        None => marks(Some(Post::Success), Some("0"), None),
        Some(StepError::RefusedBeforeStep) => marks(Some(Post::Failure), None, None),
        Some(StepError::Cancelled) => marks(Some(Post::Failure), Some(KILLED), reason(CANCELLED)),
        Some(StepError::TimedOut) => marks(Some(Post::Failure), None, reason(TIMED_OUT)),
        Some(_) if breakpoint => Marks::default(),
        Some(StepError::Exit(exit)) if continues => {
            let code = exit.code().to_string();
            marks(
                Some(Post::Success),
                Some(&code),
                Some(RunResult::internal("ExitCode", code.as_str())),
            )
        }
        Some(_) => marks(Some(Post::Failure), None, None),
    }
}

/// The exit code that belongs to an error, unless a breakpoint or `onError` says otherwise.
pub(crate) fn exit_code(error: &StepError) -> u8 {
    match error {
        StepError::Cancelled => CANCELLED_CODE,
        StepError::Exit(exit) => u8::try_from(exit.code().rem_euclid(256)).unwrap_or(1),
        _ => 1,
    }
}

/// The line for the log.
pub(crate) fn log_line(error: &StepError) -> String {
    match error {
        StepError::RefusedBeforeStep => {
            "Skipping execute step script because before step breakpoint fail-continue".to_owned()
        }
        StepError::Skipped => "Skipping step because a previous step failed".to_owned(),
        StepError::Cancelled => "Step was cancelled".to_owned(),
        StepError::TimedOut | StepError::MessageTooLong(_) | StepError::Message(_) => error.to_string(),
        StepError::Exit(_) => format!("Error executing command (ExitError): {error}"),
        other => format!("Error executing command: {other}"),
    }
}

/// Leaves the marker for the next step.
pub(crate) fn write_post(post_file: &str, post: Post) -> Result<(), StepError> {
    match post {
        _ if post_file.is_empty() => Ok(()),
        Post::Success => write(post_file, ""),
        Post::Failure => write(&files::error_file(post_file), ""),
    }
}

/// Leaves the exit code file.
pub(crate) fn write_exit_code(step_metadata_dir: &str, content: &str) -> Result<(), StepError> {
    write(&go_path::join(step_metadata_dir, files::EXIT_CODE), content)
}

fn write(file: &str, content: &str) -> Result<(), StepError> {
    let path = Path::new(file);
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_dirs(parent).map_err(|words| {
            StepError::Bookkeeping(format!("Error creating parent directory of {file:?}: {words}"))
        })?;
    }
    fs::write(path, content).map_err(|error| {
        StepError::Bookkeeping(format!("Creating {file:?}: {}", path_words("open", path, &error)))
    })
}

/// Makes a directory and those above it.
pub(crate) fn make_dirs(path: &Path) -> Result<(), String> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o777)
        .create(path)
        .map_err(|error| path_words("mkdir", path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Exit;

    fn check(error: &StepError, breakpoint: bool, continues: bool, expected: &str) {
        let marks = marks(Some(error), breakpoint, continues);
        let post = marks
            .post
            .map_or("none", |post| if post == Post::Success { "out" } else { "err" });
        let entry = marks
            .entry
            .map_or_else(String::new, |entry| format!(" {}={}", entry.key, entry.value));
        let found = format!(
            "{post} {}{entry} {}",
            marks.exit_code.as_deref().unwrap_or("-"),
            exit_code(error)
        );
        assert_eq!(found, expected, "{error:?}");
    }

    #[test]
    fn each_end_leaves_its_marks() {
        let exit = || StepError::Exit(Exit::Code(3));
        check(&exit(), false, false, "err - 3");
        check(&exit(), false, true, "out 3 ExitCode=3 3");
        check(&exit(), true, true, "none - 3");
        check(
            &StepError::Exit(Exit::Signal(9)),
            false,
            true,
            "out -1 ExitCode=-1 255",
        );
        check(&StepError::Cancelled, true, true, "err killed Reason=Cancelled 9");
        check(&StepError::TimedOut, true, true, "err - Reason=TimeoutExceeded 1");
        check(&StepError::Start("x".into()), false, true, "err - 1");
        check(&StepError::RefusedBeforeStep, true, false, "err - 1");
    }
}
