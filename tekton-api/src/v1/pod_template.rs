//! Settings of the pods of a run.
//!
//! Upstream counterpart: `pkg/apis/pipeline/pod`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Affinity, EnvVar, HostAlias, LocalObjectReference, PodDNSConfig, PodSecurityContext, Toleration,
    TopologySpreadConstraint, Volume,
};

use crate::wire::wire_struct;

wire_struct! {
/// Settings of a TaskRun's pod.
pub struct PodTemplate {
    /// Labels a node must have.
    #[serde(deserialize_with = "crate::wire::optional_map", skip_serializing_if = "crate::wire::no_entries")]
    pub node_selector: Option<BTreeMap<String, String>>,
    /// Variables of every step.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Taints the pod tolerates.
    #[serde(deserialize_with = "crate::wire::optional_list", skip_serializing_if = "crate::wire::no_items")]
    pub tolerations: Option<Vec<Toleration>>,
    /// Rules for the choice of a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub affinity: Option<Affinity>,
    /// Security settings of the whole pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub security_context: Option<PodSecurityContext>,
    /// Further volumes.
    #[serde(deserialize_with = "crate::wire::kubernetes::list", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::wire::Anything"))]
    pub volumes: Vec<Volume>,
    /// The RuntimeClass that runs the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_class_name: Option<String>,
    /// Whether the service account's token is mounted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub automount_service_account_token: Option<bool>,
    /// How names are resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_policy: Option<String>,
    /// Name servers and search domains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_config: Option<PodDNSConfig>,
    /// Whether services appear as variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_service_links: Option<bool>,
    /// The pod's priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_class_name: Option<String>,
    /// The scheduler that places the pod.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub scheduler_name: Option<String>,
    /// Credentials of image registries.
    #[serde(deserialize_with = "crate::wire::optional_list", skip_serializing_if = "crate::wire::no_items")]
    pub image_pull_secrets: Option<Vec<LocalObjectReference>>,
    /// Further lines of the hosts file.
    #[serde(deserialize_with = "crate::wire::optional_list", skip_serializing_if = "crate::wire::no_items")]
    pub host_aliases: Option<Vec<HostAlias>>,
    /// Whether the pod uses the node's network.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub host_network: Option<bool>,
    /// Whether the pod uses the node's user namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_users: Option<bool>,
    /// How pods spread over the cluster.
    #[serde(deserialize_with = "crate::wire::optional_list", skip_serializing_if = "crate::wire::no_items")]
    pub topology_spread_constraints: Option<Vec<TopologySpreadConstraint>>,
}
}

wire_struct! {
/// Settings of an affinity assistant's pod.
pub struct AffinityAssistantTemplate {
    /// Labels a node must have.
    #[serde(deserialize_with = "crate::wire::optional_map", skip_serializing_if = "crate::wire::no_entries")]
    pub node_selector: Option<BTreeMap<String, String>>,
    /// Taints the pod tolerates.
    #[serde(deserialize_with = "crate::wire::optional_list", skip_serializing_if = "crate::wire::no_items")]
    pub tolerations: Option<Vec<Toleration>>,
    /// Credentials of image registries.
    #[serde(deserialize_with = "crate::wire::optional_list", skip_serializing_if = "crate::wire::no_items")]
    pub image_pull_secrets: Option<Vec<LocalObjectReference>>,
    /// Security settings of the whole pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<PodSecurityContext>,
    /// The pod's priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_class_name: Option<String>,
    /// The service account; empty takes the run's.
    #[serde(deserialize_with = "crate::wire::nonzero", skip_serializing_if = "crate::wire::absent")]
    pub service_account_name: Option<String>,
}
}
