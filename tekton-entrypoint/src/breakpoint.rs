//! Breakpoints: a step is held before it starts, or after it failed, until somebody leaves an answer.
//!
//! Upstream counterparts: `waitBeforeStepDebug`, `CheckForBreakpointOnFailure` in `entrypointer.go`.

use std::fs;

use tekton_pod::contract::files;

use crate::error::{StepError, path_words};
use crate::log::log;
use crate::signals::Signals;
use crate::wait::{Expect, OnErrorFile, wait};

/// Holds the step before it starts.
pub(crate) fn before_step(post_file: &str, signals: Option<&Signals>) -> Result<(), StepError> {
    log!(
        "debug before step breakpoint has taken effect, waiting for user's decision:\n\
         1) continue, use cmd: /tekton/debug/scripts/debug-beforestep-continue\n\
         2) fail-continue, use cmd: /tekton/debug/scripts/debug-beforestep-fail-continue"
    );
    let answer = format!("{post_file}{}", files::BEFORE_STEP_EXIT_SUFFIX);
    wait(&answer, Expect::Exists, OnErrorFile::Skip, signals).map_err(|_| {
        let refused = StepError::RefusedBeforeStep;
        log!("error occurred while waiting for {answer} : {refused}");
        refused
    })
}

/// Holds a failed step, and returns the exit code that it is given. An answer that is no number counts as 0.
pub(crate) fn on_failure(post_file: &str, signals: Option<&Signals>) -> i32 {
    log!(
        "debug onFailure breakpoint has taken effect, waiting for user's decision:\n\
         1) continue, use cmd: /tekton/debug/scripts/debug-continue\n\
         2) fail-continue, use cmd: /tekton/debug/scripts/debug-fail-continue"
    );
    let answer = format!("{post_file}{}", files::BREAKPOINT_EXIT_SUFFIX);
    if let Err(error) = wait(&answer, Expect::Exists, OnErrorFile::Skip, signals) {
        log!("error occurred while waiting for {answer} : {error}");
    }
    let text = match fs::read_to_string(&answer) {
        Ok(text) => text,
        Err(error) => {
            log!(
                "error occurred while reading breakpoint exit code : {}",
                path_words("open", answer.as_ref(), &error)
            );
            return 0;
        }
    };
    let code = text.strip_suffix('\n').unwrap_or(&text);
    log!("Breakpoint exiting with exit code {code}");
    code.parse().unwrap_or_else(|error| {
        log!("error occurred while reading breakpoint exit code : {error}");
        0
    })
}
