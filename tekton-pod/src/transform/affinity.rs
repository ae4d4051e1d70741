//! Binds the pod to the node of its affinity assistant.
//!
//! Upstream counterpart: `pkg/internal/affinityassistant/transformer.go`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{PodAffinityTerm, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use tekton_api::labels;

const COMPONENT: &str = "affinity-assistant";

/// Adds the affinity term, if the run names an assistant.
pub(crate) fn apply(pod: &mut PodSpec, annotations: Option<&BTreeMap<String, String>>) {
    let assistant = annotations
        .and_then(|all| all.get(labels::AFFINITY_ASSISTANT))
        .filter(|name| !name.is_empty());
    let Some(assistant) = assistant else { return };
    let matched = [
        (labels::APP_INSTANCE, assistant.as_str()),
        (labels::APP_COMPONENT, COMPONENT),
    ];
    let term = PodAffinityTerm {
        label_selector: Some(LabelSelector {
            match_labels: Some(
                matched
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .into(),
            ),
            ..LabelSelector::default()
        }),
        topology_key: "kubernetes.io/hostname".to_owned(),
        ..PodAffinityTerm::default()
    };
    let pod_affinity = pod
        .affinity
        .get_or_insert_default()
        .pod_affinity
        .get_or_insert_default();
    pod_affinity
        .required_during_scheduling_ignored_during_execution
        .get_or_insert_default()
        .push(term);
}
