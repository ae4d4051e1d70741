//! Paths inside the containers of a TaskRun's pod, known to the builder and to the programs in the steps.
//!
//! Upstream counterparts: `pkg/apis/pipeline/paths.go`, constants of `pkg/pod/entrypoint.go`.

/// Root of workspaces, and the working directory of those programs that create directories in it.
pub const WORKSPACE_DIR: &str = "/workspace";
/// Home directory of the steps.
pub const HOME_DIR: &str = "/tekton/home";
/// Where a step leaves the results of the task.
pub const RESULTS_DIR: &str = "/tekton/results";
/// Links to the metadata of each step, by name.
pub const STEPS_DIR: &str = "/tekton/steps";
/// Where a step leaves artifacts of the task.
pub const ARTIFACTS_DIR: &str = "/tekton/artifacts";
/// The programs that Tekton brings along.
pub const BIN_DIR: &str = "/tekton/bin";
/// The program that every step runs.
pub const ENTRYPOINT: &str = "/tekton/bin/entrypoint";
/// State of the steps, in one directory for each, by index.
pub const RUN_DIR: &str = "/tekton/run";
/// Annotations of the pod, as files.
pub const DOWNWARD_DIR: &str = "/tekton/downward";
/// File with content once the first step may start.
pub const DOWNWARD_READY: &str = "/tekton/downward/ready";
/// File with content once the run is cancelled.
pub const DOWNWARD_CANCEL: &str = "/tekton/downward/cancel";
/// Termination message of a step.
pub const TERMINATION: &str = "/tekton/termination";
/// Placed scripts.
pub const SCRIPTS_DIR: &str = "/tekton/scripts";
/// Placed debug scripts.
pub const DEBUG_SCRIPTS_DIR: &str = "/tekton/debug/scripts";
/// Which step is held at a breakpoint.
pub const DEBUG_INFO_DIR: &str = "/tekton/debug/info";
/// Where a step finds its credentials.
pub const CREDENTIALS_DIR: &str = "/tekton/creds";
/// Secrets from which they are made.
pub const CREDENTIAL_SECRETS_DIR: &str = "/tekton/creds-secrets";
