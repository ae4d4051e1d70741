//! Flags and environment of the `tekton-controller` program. The environment is read here and nowhere else.
//!
//! Upstream counterpart: `cmd/controller/main.go`.

use clap::Parser;

use crate::images::Images;

/// Reconciles TaskRuns and PipelineRuns.
#[derive(Clone, Debug, Parser)]
#[command(name = "tekton-controller", version)]
pub struct Settings {
    /// The container image containing our entrypoint binary
    #[arg(long = "entrypoint-image", required = true)]
    pub entrypoint_image: String,
    /// The container image used to kill sidecars
    #[arg(long = "nop-image", required = true)]
    pub nop_image: String,
    /// The container image containing our results sidecar binary
    #[arg(long = "sidecarlogresults-image", required = true)]
    pub sidecarlogresults_image: String,
    /// The container image containing our working dir init binary
    #[arg(long = "workingdirinit-image", required = true)]
    pub workingdirinit_image: String,
    /// The container image containing a shell
    #[arg(long = "shell-image", required = true)]
    pub shell_image: String,
    /// The container image containing a windows shell
    #[arg(long = "shell-image-win", required = true)]
    pub shell_image_win: String,
    /// Namespace to restrict the controller to; all namespaces without it
    #[arg(long)]
    pub namespace: Option<String>,
    /// Passes that may be under way at once, a kind
    #[arg(long = "threads-per-controller", default_value_t = 2)]
    pub threads_per_controller: u16,
    /// Namespace of the controller's own ConfigMaps
    #[arg(long, env = "SYSTEM_NAMESPACE", default_value = "tekton-pipelines")]
    pub system_namespace: String,
}

impl Settings {
    /// The images of the flags.
    pub fn images(&self) -> Images {
        Images {
            entrypoint: self.entrypoint_image.clone(),
            nop: self.nop_image.clone(),
            shell: self.shell_image.clone(),
            shell_win: self.shell_image_win.clone(),
            sidecar_log_results: self.sidecarlogresults_image.clone(),
            working_dir_init: self.workingdirinit_image.clone(),
        }
    }
}
