//! Names of the files by which steps order and observe each other, below `/tekton/run` and `/tekton/steps`.
//!
//! Upstream counterparts: `pkg/pod/entrypoint.go`, `pkg/entrypoint/entrypointer.go`.

use super::paths;

/// File name of the success marker of a step.
pub const POST_FILE: &str = "out";
/// Ending that turns a success marker into a failure marker.
pub const ERROR_SUFFIX: &str = ".err";
/// Ending of the file with the answer to a breakpoint after a failure.
pub const BREAKPOINT_EXIT_SUFFIX: &str = ".breakpointexit";
/// Ending of the file with the answer to a breakpoint before a step.
pub const BEFORE_STEP_EXIT_SUFFIX: &str = ".beforestepexit";
/// File in a step's metadata directory with the code that its command ended with.
pub const EXIT_CODE: &str = "exitCode";
/// Directory in a step's metadata directory for results of the step.
pub const RESULTS: &str = "results";
/// Directory in a step's metadata directory for artifacts of the step.
pub const ARTIFACTS: &str = "artifacts";
/// File in a directory of artifacts that describes them.
pub const PROVENANCE: &str = "provenance.json";
/// First part of the name of a step's container.
pub const STEP_PREFIX: &str = "step-";

/// Directory with the state of the step at `index`.
pub fn run_dir(index: usize) -> String {
    format!("{}/{index}", paths::RUN_DIR)
}

/// File that the step at `index` leaves when it is through, and that the next one waits for.
pub fn post_file(index: usize) -> String {
    format!("{}/{index}/{POST_FILE}", paths::RUN_DIR)
}

/// Directory for metadata of the step at `index`.
pub fn step_metadata_dir(index: usize) -> String {
    format!("{}/{index}/status", paths::RUN_DIR)
}

/// Failure marker that goes with a success marker.
pub fn error_file(post_file: &str) -> String {
    format!("{post_file}{ERROR_SUFFIX}")
}
