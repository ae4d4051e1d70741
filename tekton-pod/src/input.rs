//! Everything that decides what a pod looks like.
//!
//! The builder reads nothing by itself; [`crate::needs`] says what a caller has to look up.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{LimitRange, Secret, ServiceAccount};
use tekton_api::config::Config;
use tekton_api::v1::{PodTemplate, TaskRun, TaskSpec};

/// What a pod is built from.
#[derive(Clone, Debug)]
pub struct PodInput<'a> {
    /// The run.
    pub run: &'a TaskRun,
    /// What it runs: substituted, and with workspaces applied ([`crate::workspace::apply`]).
    pub spec: &'a TaskSpec,
    /// The run's pod template, substituted and merged with the default one.
    pub pod_template: Option<&'a PodTemplate>,
    /// Configuration in force.
    pub config: &'a Config,
    /// Images of the containers that Tekton adds.
    pub images: &'a Images,
    /// What was looked up.
    pub lookups: &'a Lookups,
    /// Version of the controller, for an annotation.
    pub release: &'a str,
    /// Five lower-case letters or digits that upstream chooses at random; they end up in file names.
    pub suffix: &'a str,
}

/// References of the controller's own images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// Result of looking something up.
pub type Looked<T> = Result<T, LookupFailure>;

/// What was found in the cluster and in image registries.
#[derive(Clone, Debug, Default)]
pub struct Lookups {
    /// The run's service account; not needed where credentials are switched off.
    pub service_account: Option<Looked<ServiceAccount>>,
    /// The secrets it lists, by name.
    pub secrets: BTreeMap<String, Looked<Secret>>,
    /// Images of steps without a command, by the reference as the step has it.
    pub images: BTreeMap<String, Looked<ImageCommands>>,
    /// LimitRanges of the namespace.
    pub limit_ranges: Vec<LimitRange>,
    /// Version of the API server; needed only for native sidecars.
    pub server_version: Option<Looked<ServerVersion>>,
}

/// Why a look-up failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LookupFailure {
    /// The object does not exist.
    pub not_found: bool,
    /// What the server says.
    pub message: String,
}

/// What an image runs, by platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageCommands {
    /// Digest of the image or index, `sha256:…`.
    pub digest: String,
    /// Commands by `os/architecture[/variant]`; `None` for an image that says nothing.
    pub commands: BTreeMap<String, Option<Vec<String>>>,
}

impl ImageCommands {
    /// Puts together what a registry says. Unknown platforms of an index are left out. A step with
    /// arguments of its own does not get the image's.
    pub fn from_platforms<'a>(
        digest: &str,
        platforms: impl IntoIterator<Item = PlatformCommand<'a>>,
        has_args: bool,
    ) -> Self {
        let known =
            |platform: &PlatformCommand<'_>| platform.os != "unknown" || platform.architecture != "unknown";
        let commands = platforms
            .into_iter()
            .filter(known)
            .map(|platform| {
                let mut key = format!("{}/{}", platform.os, platform.architecture);
                if !platform.variant.is_empty() {
                    key = format!("{key}/{}", platform.variant);
                }
                (key, platform.command(has_args))
            })
            .collect();
        Self {
            digest: digest.to_owned(),
            commands,
        }
    }
}

/// What the configuration of an image says for one platform.
#[derive(Clone, Copy, Debug)]
pub struct PlatformCommand<'a> {
    /// `linux`, `windows`
    pub os: &'a str,
    /// `amd64`, `arm64`, …
    pub architecture: &'a str,
    /// `v7`, …; mostly empty, and always so for an image that is not in an index.
    pub variant: &'a str,
    /// The image's entrypoint.
    pub entrypoint: &'a [String],
    /// The image's default arguments.
    pub cmd: &'a [String],
}

impl PlatformCommand<'_> {
    fn command(&self, has_args: bool) -> Option<Vec<String>> {
        let command = match (self.entrypoint, self.cmd) {
            ([], cmd) => cmd.to_vec(),
            (entrypoint, _) if has_args => entrypoint.to_vec(),
            (entrypoint, cmd) => [entrypoint, cmd].concat(),
        };
        Some(command).filter(|command| !command.is_empty())
    }
}

/// Version of the API server as it reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerVersion {
    /// `1`
    pub major: String,
    /// `33`, `30+`
    pub minor: String,
}
