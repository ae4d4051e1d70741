//! The images that the controller itself puts into pods (`-entrypoint-image` and its companions).
//!
//! Upstream counterpart: `pkg/apis/pipeline/images.go`.

/// References of the controller's own images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// Holds the entrypoint program; runs the `prepare` init container.
    pub entrypoint: String,
    /// Replaces the image of a sidecar that is to stop.
    pub nop: String,
    /// Has a shell; runs `place-scripts`.
    pub shell: String,
    /// The same for Windows nodes.
    pub shell_win: String,
    /// Reads results and writes them to its log.
    pub sidecar_log_results: String,
    /// Creates working directories below workspaces.
    pub working_dir_init: String,
}

impl Images {
    /// Names of the built-in images of the single-machine mode, which are files, not downloads.
    pub fn local() -> Self {
        let named = |name: &str| format!("tekton.local/{name}:builtin");
        Self {
            entrypoint: named("entrypoint"),
            nop: named("nop"),
            shell: named("shell"),
            shell_win: named("shell-win"),
            sidecar_log_results: named("sidecarlogresults"),
            working_dir_init: named("workingdirinit"),
        }
    }
}
