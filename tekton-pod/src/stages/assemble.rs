//! Puts containers and volumes together with what the pod template says of the pod as a whole.
//!
//! Upstream counterpart: the end of `Builder.Build` in `pkg/pod/pod.go`.

use k8s_openapi::api::core::v1::{Container, PodSpec, Volume};
use tekton_api::v1::PodTemplate;

use crate::error::BuildError;

/// The specification of the pod.
pub(crate) fn pod_spec(
    template: &PodTemplate,
    service_account: Option<String>,
    init_containers: Vec<Container>,
    containers: Vec<Container>,
    volumes: Vec<Volume>,
    active_deadline: i64,
) -> PodSpec {
    PodSpec {
        restart_policy: Some("Never".to_owned()),
        init_containers: Some(init_containers),
        containers,
        service_account_name: service_account,
        volumes: Some(volumes),
        node_selector: template.node_selector.clone(),
        tolerations: template.tolerations.clone(),
        affinity: template.affinity.clone(),
        security_context: template.security_context.clone(),
        runtime_class_name: template.runtime_class_name.clone(),
        automount_service_account_token: template.automount_service_account_token,
        scheduler_name: template.scheduler_name.clone(),
        host_network: template.host_network,
        host_users: template.host_users,
        dns_policy: template.dns_policy.clone(),
        dns_config: template.dns_config.clone(),
        enable_service_links: template.enable_service_links,
        priority_class_name: template.priority_class_name.clone(),
        image_pull_secrets: template.image_pull_secrets.clone(),
        host_aliases: template.host_aliases.clone(),
        topology_spread_constraints: template.topology_spread_constraints.clone(),
        active_deadline_seconds: Some(active_deadline),
        ..PodSpec::default()
    }
}

/// Refuses volumes with equal names.
pub(crate) fn check_volumes(volumes: &[Volume]) -> Result<(), BuildError> {
    let mut names: Vec<(String, Vec<usize>)> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (place, volume) in volumes.iter().enumerate() {
        if seen.insert(volume.name.as_str()) {
            continue;
        }
        match names.iter_mut().find(|(name, _)| *name == volume.name) {
            Some((_, places)) => places.push(place),
            None => names.push((volume.name.clone(), vec![place])),
        }
    }
    if names.is_empty() {
        Ok(())
    } else {
        Err(BuildError::DuplicateVolumes { names })
    }
}
