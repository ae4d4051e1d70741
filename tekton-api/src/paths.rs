//! Paths that the API itself knows. The others are part of the contract between pod and steps.
//!
//! Upstream counterpart: `pkg/apis/pipeline/paths.go`.

/// Where workspaces are mounted unless they say otherwise.
pub const WORKSPACE_DIR: &str = "/workspace";
/// Where the results of a Task are written.
pub const RESULTS_DIR: &str = "/tekton/results";
/// Where facts about the steps are written.
pub const STEPS_DIR: &str = "/tekton/steps";

/// Where the workspace `name` is mounted unless it says otherwise, dots and double slashes in the name
/// resolved as in Go's `filepath.Join`.
pub fn workspace(name: &str) -> String {
    let mut parts = vec!["workspace"];
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
