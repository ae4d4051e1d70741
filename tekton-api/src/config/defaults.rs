//! What is filled in where a run says nothing: the ConfigMap `config-defaults`.
//!
//! Upstream counterpart: `pkg/apis/config/default.go`.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::ResourceRequirements;
use serde::de::DeserializeOwned;

use super::ConfigError;
use super::parse::{Data, integer, yaml};
use crate::duration::Duration;
use crate::v1::{AffinityAssistantTemplate, PodTemplate};

/// What is filled in where a run says nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Defaults {
    /// Timeout of a run in minutes; zero or less means none.
    pub timeout_minutes: i64,
    /// The service account.
    pub service_account: String,
    /// Value of the label `app.kubernetes.io/managed-by`.
    pub managed_by_label_value: String,
    /// Settings of pods.
    pub pod_template: Option<PodTemplate>,
    /// Settings of affinity assistants.
    pub affinity_assistant_pod_template: Option<AffinityAssistantTemplate>,
    /// Where cloud events go, if `config-events` does not say.
    pub cloud_events_sink: String,
    /// YAML of the volume for workspaces that a TaskRun does not bind.
    pub task_run_workspace_binding: String,
    /// The largest number of runs of one matrix.
    pub max_matrix_combinations_count: i64,
    /// Variables that a pod template must not set, sorted.
    pub forbidden_env: Vec<String>,
    /// The resolver of references that name none.
    pub resolver_type: String,
    /// Requirements of containers that have none, by container name, `prefix-NAME` or `default`.
    pub container_resource_requirements: BTreeMap<String, ResourceRequirements>,
    /// For how long an image may fail to be pulled.
    pub image_pull_back_off_timeout: Duration,
    /// For how long a container may fail to be created.
    pub create_container_error_timeout: Duration,
    /// For how long a resolver may work.
    pub maximum_resolution_timeout: Duration,
    /// How often the results sidecar looks for finished steps.
    pub sidecar_log_polling_interval: Duration,
    /// How many step references are resolved at a time.
    pub step_ref_concurrency_limit: i64,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            timeout_minutes: 60,
            service_account: "default".to_owned(),
            managed_by_label_value: "tekton-pipelines".to_owned(),
            pod_template: None,
            affinity_assistant_pod_template: None,
            cloud_events_sink: String::new(),
            task_run_workspace_binding: String::new(),
            max_matrix_combinations_count: 256,
            forbidden_env: Vec::new(),
            resolver_type: String::new(),
            container_resource_requirements: BTreeMap::new(),
            image_pull_back_off_timeout: Duration::ZERO,
            create_container_error_timeout: Duration::ZERO,
            maximum_resolution_timeout: Duration::from_secs(60),
            sidecar_log_polling_interval: Duration::from_nanos(100_000_000),
            step_ref_concurrency_limit: 5,
        }
    }
}

impl Defaults {
    /// Reads the entries of the ConfigMap.
    ///
    /// # Errors
    /// The first entry that cannot be read, in upstream's order.
    pub fn from_data(data: &Data) -> Result<Self, ConfigError> {
        let built_in = Self::default();
        let text = |key: &str, default: String| data.get(key).cloned().unwrap_or(default);
        Ok(Self {
            timeout_minutes: number(data, "default-timeout-minutes", built_in.timeout_minutes)?,
            service_account: text("default-service-account", built_in.service_account),
            managed_by_label_value: text("default-managed-by-label-value", built_in.managed_by_label_value),
            pod_template: object(data, "default-pod-template")?,
            affinity_assistant_pod_template: object(data, "default-affinity-assistant-pod-template")?,
            cloud_events_sink: text("default-cloud-events-sink", built_in.cloud_events_sink),
            task_run_workspace_binding: text(
                "default-task-run-workspace-binding",
                built_in.task_run_workspace_binding,
            ),
            max_matrix_combinations_count: number(
                data,
                "default-max-matrix-combinations-count",
                built_in.max_matrix_combinations_count,
            )?,
            forbidden_env: forbidden_env(data),
            resolver_type: text("default-resolver-type", built_in.resolver_type),
            container_resource_requirements: object(data, "default-container-resource-requirements")?
                .unwrap_or_default(),
            image_pull_back_off_timeout: duration(
                data,
                "default-imagepullbackoff-timeout",
                built_in.image_pull_back_off_timeout,
            )?,
            create_container_error_timeout: create_container_error_timeout(
                data,
                built_in.create_container_error_timeout,
            )?,
            maximum_resolution_timeout: duration(
                data,
                "default-maximum-resolution-timeout",
                built_in.maximum_resolution_timeout,
            )?,
            sidecar_log_polling_interval: polling_interval(data, built_in.sidecar_log_polling_interval)?,
            step_ref_concurrency_limit: number(
                data,
                "default-step-ref-concurrency-limit",
                built_in.step_ref_concurrency_limit,
            )?,
        })
    }

    /// Timeout of runs that name none; zero or less means none.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_minutes.saturating_mul(60))
    }
}

fn number(data: &Data, key: &str, default: i64) -> Result<i64, ConfigError> {
    let Some(text) = data.get(key) else {
        return Ok(default);
    };
    integer("ParseInt", text).map_err(|_| ConfigError::Default(key.to_owned()))
}

fn duration(data: &Data, key: &str, default: Duration) -> Result<Duration, ConfigError> {
    let Some(text) = data.get(key) else {
        return Ok(default);
    };
    text.parse().map_err(|_| ConfigError::Default(key.to_owned()))
}

/// Alone among the durations this one says what is wrong.
fn create_container_error_timeout(data: &Data, default: Duration) -> Result<Duration, ConfigError> {
    let key = "default-create-container-error-timeout";
    let Some(text) = data.get(key) else {
        return Ok(default);
    };
    text.parse()
        .map_err(|source| ConfigError::DefaultDuration { key, source })
}

/// Alone among the durations this one names the value instead of the key.
fn polling_interval(data: &Data, default: Duration) -> Result<Duration, ConfigError> {
    let Some(text) = data.get("default-sidecar-log-polling-interval") else {
        return Ok(default);
    };
    text.parse().map_err(|_| ConfigError::Default(text.clone()))
}

fn object<T: DeserializeOwned + Default>(data: &Data, key: &str) -> Result<Option<T>, ConfigError> {
    let Some(text) = data.get(key) else {
        return Ok(None);
    };
    match yaml(text) {
        Some(object) => Ok(Some(object)),
        None => Err(ConfigError::Unmarshal(text.clone())),
    }
}

fn forbidden_env(data: &Data) -> Vec<String> {
    let Some(text) = data.get("default-forbidden-env") else {
        return Vec::new();
    };
    let names: BTreeSet<&str> = text.split(',').map(str::trim).collect();
    names.into_iter().map(str::to_owned).collect()
}
