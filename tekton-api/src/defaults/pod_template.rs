//! Pod templates of runs completed by the configured ones.
//!
//! Upstream counterpart: `MergePodTemplateWithDefault` in `pkg/apis/pipeline/pod`.

use std::collections::BTreeSet;

use crate::v1::{AffinityAssistantTemplate, PodTemplate};

/// Keeps what the run's template gives and takes the rest from the configured one. Variables and volumes
/// are merged by name.
pub fn merge_pod_template(own: Option<PodTemplate>, configured: Option<&PodTemplate>) -> Option<PodTemplate> {
    let Some(configured) = configured else {
        return own;
    };
    let Some(own) = own else {
        return Some(configured.clone());
    };
    let other = configured.clone();
    Some(PodTemplate {
        node_selector: own.node_selector.or(other.node_selector),
        env: merged_by_name(other.env, own.env, |env| &env.name),
        tolerations: own.tolerations.or(other.tolerations),
        affinity: own.affinity.or(other.affinity),
        security_context: own.security_context.or(other.security_context),
        volumes: merged_by_name(other.volumes, own.volumes, |volume| &volume.name),
        runtime_class_name: own.runtime_class_name.or(other.runtime_class_name),
        automount_service_account_token: own
            .automount_service_account_token
            .or(other.automount_service_account_token),
        dns_policy: own.dns_policy.or(other.dns_policy),
        dns_config: own.dns_config.or(other.dns_config),
        enable_service_links: own.enable_service_links.or(other.enable_service_links),
        priority_class_name: own.priority_class_name.or(other.priority_class_name),
        scheduler_name: own
            .scheduler_name
            .filter(|name| !name.is_empty())
            .or(other.scheduler_name),
        image_pull_secrets: own.image_pull_secrets.or(other.image_pull_secrets),
        host_aliases: own.host_aliases.or(other.host_aliases),
        host_network: own.host_network.filter(|network| *network).or(other.host_network),
        host_users: own.host_users.or(other.host_users),
        topology_spread_constraints: own
            .topology_spread_constraints
            .or(other.topology_spread_constraints),
    })
}

/// The same for affinity assistants.
pub fn merge_affinity_assistant_template(
    own: Option<AffinityAssistantTemplate>,
    configured: Option<&AffinityAssistantTemplate>,
) -> Option<AffinityAssistantTemplate> {
    let Some(configured) = configured else {
        return own;
    };
    let Some(own) = own else {
        return Some(configured.clone());
    };
    let other = configured.clone();
    Some(AffinityAssistantTemplate {
        node_selector: own.node_selector.or(other.node_selector),
        tolerations: own.tolerations.or(other.tolerations),
        image_pull_secrets: own.image_pull_secrets.or(other.image_pull_secrets),
        security_context: own.security_context.or(other.security_context),
        priority_class_name: own.priority_class_name.or(other.priority_class_name),
        service_account_name: own
            .service_account_name
            .filter(|name| !name.is_empty())
            .or(other.service_account_name),
    })
}

/// The overrides, then the base's items that they do not name. Items without a name are dropped.
fn merged_by_name<T>(base: Vec<T>, overrides: Vec<T>, name: impl Fn(&T) -> &String) -> Vec<T> {
    if overrides.is_empty() {
        return base;
    }
    let named: BTreeSet<String> = overrides.iter().map(|item| name(item).clone()).collect();
    let rest = base.into_iter().filter(|item| !named.contains(name(item)));
    let mut merged = overrides;
    merged.extend(rest);
    merged.retain(|item| !name(item).is_empty());
    merged
}
