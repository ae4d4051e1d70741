//! Switches of the ConfigMap `feature-flags`.
//!
//! Upstream counterpart: `pkg/apis/config/feature_flags.go`.

use serde::Serialize;

use super::parse::{Data, boolean, integer};
use super::{ConfigError, ParseScalarError};

/// Declares a switch with named values, which are read ignoring case.
macro_rules! choice {
    (
        $(#[$meta:meta])*
        pub enum $name:ident for $key:literal { $( $(#[$vmeta:meta])* $variant:ident = $text:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[$vmeta])* $variant, )+
        }

        impl $name {
            /// The text in the ConfigMap.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $text, )+
                }
            }

            fn from_data(data: &Data) -> Result<Self, ConfigError> {
                let Some(text) = data.get($key) else {
                    return Ok(Self::default());
                };
                match text.to_lowercase().as_str() {
                    $( $text => Ok(Self::$variant), )+
                    other => Err(ConfigError::FlagValue { key: $key, value: other.to_owned() }),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

choice! {
    /// Which fields of the API may be used. The variants are in the order of what they allow.
    pub enum ApiFields for "enable-api-fields" {
        /// Stable ones.
        Stable = "stable",
        /// Stable and beta ones.
        #[default]
        Beta = "beta",
        /// All.
        Alpha = "alpha",
    }
}

choice! {
    /// What happens if no verification policy applies to a remote Task or Pipeline.
    pub enum NoMatchPolicy for "trusted-resources-verification-no-match-policy" {
        /// It is used.
        #[default]
        Ignore = "ignore",
        /// It is used, with a warning.
        Warn = "warn",
        /// The run fails.
        Fail = "fail",
    }
}

choice! {
    /// How results leave a pod.
    pub enum ResultsFrom for "results-from" {
        /// By the termination message of each step.
        #[default]
        TerminationMessage = "termination-message",
        /// By the log of a sidecar.
        SidecarLogs = "sidecar-logs",
    }
}

choice! {
    /// Which pods of a PipelineRun go to the same node.
    pub enum Coschedule for "coschedule" {
        /// Those that share a workspace on a persistent volume.
        #[default]
        Workspaces = "workspaces",
        /// All.
        PipelineRuns = "pipelineruns",
        /// All, and those of no other PipelineRun.
        IsolatePipelineRun = "isolate-pipelinerun",
        /// None in particular.
        Disabled = "disabled",
    }
}

choice! {
    /// How results are kept from being changed by others.
    pub enum Nonfalsifiability for "enforce-nonfalsifiability" {
        /// Not at all.
        #[default]
        None = "none",
        /// By signatures with SPIRE's keys.
        Spire = "spire",
    }
}

/// Switches. Serialized they are as a run's provenance lists them: without those that are off.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FeatureFlags {
    /// Steps get no credentials from the service account.
    #[serde(skip_serializing_if = "is_false")]
    pub disable_creds_init: bool,
    /// Something in the cluster may add sidecars to pods.
    #[serde(skip_serializing_if = "is_false")]
    pub running_in_env_with_injected_sidecars: bool,
    /// SSH credentials for Git must list known hosts.
    #[serde(rename = "requireGitSSHSecretKnownHosts", skip_serializing_if = "is_false")]
    pub require_git_ssh_secret_known_hosts: bool,
    /// Which fields may be used.
    #[serde(rename = "enableAPIFields")]
    pub enable_api_fields: ApiFields,
    /// Cloud events are sent for CustomRuns as well.
    #[serde(skip_serializing_if = "is_false")]
    pub send_cloud_events_for_runs: bool,
    /// The first step waits for the sidecars.
    #[serde(skip_serializing_if = "is_false")]
    pub await_sidecar_readiness: bool,
    /// How results are kept from being changed.
    pub enforce_nonfalsifiability: Nonfalsifiability,
    /// A cancelled run keeps its pod.
    #[serde(skip_serializing_if = "is_false")]
    pub enable_keep_pod_on_cancel: bool,
    /// What happens without a verification policy.
    pub verification_no_match_policy: NoMatchPolicy,
    /// The status tells where definitions came from.
    #[serde(skip_serializing_if = "is_false")]
    pub enable_provenance_in_status: bool,
    /// How results leave a pod.
    #[serde(rename = "resultExtractionMethod")]
    pub results_from: ResultsFrom,
    /// The longest result in bytes, if results come from logs.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_result_size: i64,
    /// Containers that Tekton adds have a restrictive security context.
    #[serde(skip_serializing_if = "is_false")]
    pub set_security_context: bool,
    /// That context makes the root filesystem read-only.
    #[serde(skip_serializing_if = "is_false")]
    pub set_security_context_read_only_root_filesystem: bool,
    /// Which pods go to the same node.
    pub coschedule: Coschedule,
    /// Conditions may be CEL expressions.
    #[serde(rename = "enableCELInWhenExpression", skip_serializing_if = "is_false")]
    pub enable_cel_in_when_expression: bool,
    /// Parameters may be enums.
    #[serde(skip_serializing_if = "is_false")]
    pub enable_param_enum: bool,
    /// Steps may have artifacts.
    #[serde(skip_serializing_if = "is_false")]
    pub enable_artifacts: bool,
    /// Kinds that may not hold definitions inline, separated by commas.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub disable_inline_spec: String,
    /// References may name a resolver's address directly.
    #[serde(skip_serializing_if = "is_false")]
    pub enable_concise_resolver_syntax: bool,
    /// Sidecars become init containers that keep running.
    #[serde(skip_serializing_if = "is_false")]
    pub enable_kubernetes_sidecar: bool,
    /// Failed calls are repeated with growing pauses.
    #[serde(skip_serializing_if = "is_false")]
    pub enable_wait_exponential_backoff: bool,
    /// Termination messages are compressed.
    #[serde(skip_serializing_if = "is_false")]
    pub enable_termination_message_compression: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference to the member"
)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference to the member"
)]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// Objects are not larger than this.
const CRD_LIMIT: i64 = 1_572_864;

impl Default for FeatureFlags {
    fn default() -> Self {
        Self {
            disable_creds_init: false,
            running_in_env_with_injected_sidecars: true,
            require_git_ssh_secret_known_hosts: false,
            enable_api_fields: ApiFields::default(),
            send_cloud_events_for_runs: true,
            await_sidecar_readiness: true,
            enforce_nonfalsifiability: Nonfalsifiability::default(),
            enable_keep_pod_on_cancel: false,
            verification_no_match_policy: NoMatchPolicy::default(),
            enable_provenance_in_status: true,
            results_from: ResultsFrom::default(),
            max_result_size: 4096,
            set_security_context: false,
            set_security_context_read_only_root_filesystem: false,
            coschedule: Coschedule::default(),
            enable_cel_in_when_expression: false,
            enable_param_enum: false,
            enable_artifacts: false,
            disable_inline_spec: String::new(),
            enable_concise_resolver_syntax: false,
            enable_kubernetes_sidecar: false,
            enable_wait_exponential_backoff: false,
            enable_termination_message_compression: false,
        }
    }
}

impl FeatureFlags {
    /// Reads the entries of the ConfigMap.
    ///
    /// # Errors
    /// The first entry that cannot be read, in upstream's order.
    pub fn from_data(data: &Data) -> Result<Self, ConfigError> {
        let built_in = Self::default();
        let flag = |key, default| flag(data, key, default);
        let feature = |key| feature(data, key);
        Ok(Self {
            disable_creds_init: flag("disable-creds-init", built_in.disable_creds_init)?,
            running_in_env_with_injected_sidecars: flag(
                "running-in-environment-with-injected-sidecars",
                built_in.running_in_env_with_injected_sidecars,
            )?,
            await_sidecar_readiness: flag("await-sidecar-readiness", built_in.await_sidecar_readiness)?,
            require_git_ssh_secret_known_hosts: flag("require-git-ssh-secret-known-hosts", false)?,
            enable_api_fields: ApiFields::from_data(data)?,
            send_cloud_events_for_runs: flag(
                "send-cloudevents-for-runs",
                built_in.send_cloud_events_for_runs,
            )?,
            verification_no_match_policy: NoMatchPolicy::from_data(data)?,
            enable_provenance_in_status: flag(
                "enable-provenance-in-status",
                built_in.enable_provenance_in_status,
            )?,
            results_from: ResultsFrom::from_data(data)?,
            max_result_size: max_result_size(data, built_in.max_result_size)?,
            enable_keep_pod_on_cancel: feature("keep-pod-on-cancel")?,
            enforce_nonfalsifiability: Nonfalsifiability::from_data(data)?,
            set_security_context: flag("set-security-context", false)?,
            set_security_context_read_only_root_filesystem: flag(
                "set-security-context-read-only-root-filesystem",
                false,
            )?,
            coschedule: Coschedule::from_data(data)?,
            enable_cel_in_when_expression: feature("enable-cel-in-whenexpression")?,
            enable_param_enum: feature("enable-param-enum")?,
            enable_artifacts: feature("enable-artifacts")?,
            disable_inline_spec: data.get("disable-inline-spec").cloned().unwrap_or_default(),
            enable_concise_resolver_syntax: feature("enable-concise-resolver-syntax")?,
            enable_kubernetes_sidecar: flag("enable-kubernetes-sidecar", false)?,
            enable_wait_exponential_backoff: flag("enable-wait-exponential-backoff", false)?,
            enable_termination_message_compression: feature("enable-termination-message-compression")?,
        })
    }

    /// Whether results are signed with SPIRE's keys.
    pub fn is_spire_enabled(&self) -> bool {
        self.enforce_nonfalsifiability == Nonfalsifiability::Spire
    }

    /// Whether `kind` (`taskrun`, `pipelinerun` or `pipeline`) may not hold definitions inline.
    pub fn is_inline_spec_disabled(&self, kind: &str) -> bool {
        self.disable_inline_spec.split(',').any(|entry| entry == kind)
    }
}

fn flag(data: &Data, key: &str, default: bool) -> Result<bool, ConfigError> {
    let Some(value) = data.get(key) else {
        return Ok(default);
    };
    boolean(value).map_err(|source| ConfigError::Flag {
        value: value.clone(),
        source,
    })
}

fn feature(data: &Data, key: &'static str) -> Result<bool, ConfigError> {
    let Some(value) = data.get(key) else {
        return Ok(false);
    };
    boolean(value).map_err(|source: ParseScalarError| ConfigError::Feature {
        key,
        value: value.clone(),
        source,
    })
}

fn max_result_size(data: &Data, default: i64) -> Result<i64, ConfigError> {
    let size = match data.get("max-result-size") {
        Some(text) => integer("Atoi", text).map_err(ConfigError::Scalar)?,
        None => default,
    };
    if size >= CRD_LIMIT {
        return Err(ConfigError::MaxResultSize(size));
    }
    Ok(size)
}
