//! The switches that the stages ask for, read once from the configuration and the run.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ResourceRequirements, SecurityContext};
use tekton_api::config::{ApiFields, ResultsFrom};
use tekton_api::duration::Duration;
use tekton_api::labels;

use crate::error::BuildError;
use crate::input::{Lookups, PodInput};
use crate::stages::debug_scripts::Breakpoints;
use crate::stages::native_sidecars;
use crate::stages::scripts::Shell;
use crate::stages::security_context::SecurityContextConfig;

const OS_SELECTOR: &str = "kubernetes.io/os";
const HERMETIC_MODE: &str = "hermetic";

/// Decided switches.
#[derive(Clone, Debug)]
pub(crate) struct Settings<'a> {
    alpha: bool,
    windows: bool,
    security: SecurityContextConfig,
    injected_sidecars: bool,
    await_sidecars: bool,
    kubernetes_sidecars: bool,
    /// Credentials are taken from the service account.
    pub(crate) credentials: bool,
    /// SSH secrets must have known hosts.
    pub(crate) require_known_hosts: bool,
    /// Results are signed.
    pub(crate) spire: bool,
    /// Results are taken from a sidecar's log.
    pub(crate) sidecar_logs: bool,
    /// Termination messages are compressed.
    pub(crate) compress: bool,
    /// A cancelled run keeps its pod.
    pub(crate) keep_on_cancel: bool,
    /// Steps are told to run hermetically.
    pub(crate) hermetic: bool,
    /// Breakpoints in force.
    pub(crate) breakpoints: Breakpoints<'a>,
    /// Variables that a pod template must not set.
    pub(crate) forbidden_env: &'a [String],
    /// Requirements for containers without.
    pub(crate) default_resources: &'a BTreeMap<String, ResourceRequirements>,
    /// How often the results sidecar looks.
    pub(crate) polling_interval: String,
    /// Value of the managed-by label.
    pub(crate) managed_by: &'a str,
    /// Timeout of the run; zero means none.
    pub(crate) timeout: Duration,
}

impl<'a> Settings<'a> {
    /// Reads the switches.
    pub(crate) fn of(input: &PodInput<'a>) -> Self {
        let features = &input.config.features;
        let defaults = &input.config.defaults;
        let alpha = features.enable_api_fields == ApiFields::Alpha;
        let annotations = input.run.metadata.annotations.as_ref();
        let mode = annotations.and_then(|all| all.get(labels::EXECUTION_MODE));
        let selector = input
            .pod_template
            .and_then(|template| template.node_selector.as_ref());
        let sidecar_logs = features.results_from == ResultsFrom::SidecarLogs;
        Self {
            alpha,
            windows: selector
                .and_then(|labels| labels.get(OS_SELECTOR))
                .is_some_and(|os| os == "windows"),
            security: SecurityContextConfig {
                set: features.set_security_context,
                read_only_root: features.set_security_context_read_only_root_filesystem,
            },
            injected_sidecars: features.running_in_env_with_injected_sidecars,
            await_sidecars: features.await_sidecar_readiness,
            kubernetes_sidecars: features.enable_kubernetes_sidecar,
            credentials: !features.disable_creds_init,
            require_known_hosts: features.require_git_ssh_secret_known_hosts,
            spire: features.is_spire_enabled(),
            sidecar_logs,
            compress: features.enable_termination_message_compression && !sidecar_logs,
            keep_on_cancel: features.enable_keep_pod_on_cancel,
            hermetic: alpha && mode.is_some_and(|mode| mode == HERMETIC_MODE),
            breakpoints: Breakpoints::of(input.run.spec.debug.as_ref().filter(|_| alpha)),
            forbidden_env: &defaults.forbidden_env,
            default_resources: &defaults.container_resource_requirements,
            polling_interval: defaults.sidecar_log_polling_interval.to_string(),
            managed_by: &defaults.managed_by_label_value,
            timeout: input.run.spec.timeout.unwrap_or_else(|| defaults.timeout()),
        }
    }

    /// Security context of containers that Tekton adds.
    pub(crate) fn own_security_context(&self) -> Option<SecurityContext> {
        self.security.context(self.windows)
    }

    /// What places the scripts.
    pub(crate) fn shell(&self, input: &PodInput<'a>) -> Shell<'a> {
        Shell {
            image: &input.images.shell,
            windows_image: if self.alpha { &input.images.shell_win } else { "" },
            security: self.security,
            suffix: input.suffix,
        }
    }

    /// True if the first step waits until the controller has seen the sidecars running.
    pub(crate) fn waits_for_sidecars(&self, has_sidecars: bool) -> bool {
        (has_sidecars || self.injected_sidecars) && self.await_sidecars
    }

    /// True if sidecars go among the init containers.
    pub(crate) fn native_sidecars(&self, lookups: &Lookups) -> Result<bool, BuildError> {
        if !self.kubernetes_sidecars {
            return Ok(false);
        }
        match &lookups.server_version {
            Some(Ok(version)) => Ok(native_sidecars::are_supported(version)),
            Some(Err(failure)) => Err(BuildError::Lookup(failure.clone())),
            None => Err(BuildError::NotLookedUp {
                what: "server version".to_owned(),
            }),
        }
    }
}
