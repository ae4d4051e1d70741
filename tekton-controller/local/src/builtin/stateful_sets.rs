//! StatefulSets: their claims and Pods, as far as Tekton's affinity assistants need them.
//!
//! Pods are numbered and made from the template; claims from the claim templates are made once and
//! kept. There are no rolling updates and no order of start.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::feed::Feed;
use crate::api::json::{at, list, set, text};
use crate::api::{DeleteOptions, Resource};
use crate::cluster::Cluster;
use crate::store::ObjectKey;

const SETS: &str = "statefulsets.apps";

/// Runs the controller.
pub async fn run_stateful_sets(cluster: Cluster) {
    let mut feed = Feed::new(&cluster, Some(&[SETS, "pods"]));
    loop {
        let mut keys = BTreeSet::new();
        for news in feed.next().await {
            let namespace = text(&news.object, &["metadata", "namespace"]);
            if news.bucket == SETS {
                keys.insert(ObjectKey::new(
                    namespace,
                    text(&news.object, &["metadata", "name"]),
                ));
                continue;
            }
            for owner in list(&news.object, &["metadata", "ownerReferences"]) {
                if text(owner, &["kind"]) == "StatefulSet" {
                    keys.insert(ObjectKey::new(namespace, text(owner, &["name"])));
                }
            }
        }
        let registry = cluster.registry();
        let Some(resource) = registry.find("apps", "v1", "statefulsets") else {
            continue;
        };
        for key in keys {
            if let Some(found) = cluster.store().get(SETS, &key) {
                attend(&cluster, resource, &key, &found);
            }
        }
    }
}

fn attend(cluster: &Cluster, resource: &Arc<Resource>, key: &ObjectKey, found: &Value) {
    if at(found, &["metadata", "deletionTimestamp"]).is_some() {
        return;
    }
    let wanted = at(found, &["spec", "replicas"])
        .and_then(Value::as_i64)
        .unwrap_or(1)
        .clamp(0, 1000);
    for number in 0..wanted {
        make(cluster, key, found, number);
    }
    let (mut present, mut ready) = (0, 0);
    for pod in own_pods(cluster, key, found) {
        let number = text(&pod, &["metadata", "name"])
            .rsplit('-')
            .next()
            .and_then(|text| text.parse::<i64>().ok());
        let pod_key = ObjectKey::new(&*key.namespace, text(&pod, &["metadata", "name"]));
        let ended = matches!(text(&pod, &["status", "phase"]), "Succeeded" | "Failed");
        if number.is_none_or(|number| number >= wanted) || ended {
            remove_pod(cluster, &pod_key);
            continue;
        }
        present += 1;
        let is_ready = list(&pod, &["status", "conditions"])
            .iter()
            .any(|one| text(one, &["type"]) == "Ready" && text(one, &["status"]) == "True");
        ready += i64::from(is_ready);
    }
    let generation = at(found, &["metadata", "generation"])
        .cloned()
        .unwrap_or_default();
    let done = cluster.api().change(resource, key, |object| {
        for (field, value) in [
            ("replicas", present),
            ("currentReplicas", present),
            ("updatedReplicas", present),
            ("readyReplicas", ready),
            ("availableReplicas", ready),
        ] {
            set(object, &["status", field], value);
        }
        set(object, &["status", "observedGeneration"], generation.clone());
    });
    if let Err(why) = done {
        tracing::debug!(%why, name = key.name, "the status of a StatefulSet was not written");
    }
}

fn own_pods(cluster: &Cluster, key: &ObjectKey, found: &Value) -> Vec<Arc<Value>> {
    let uid = text(found, &["metadata", "uid"]);
    let (mut pods, _) = cluster.store().list("pods", Some(&key.namespace));
    pods.retain(|pod| {
        list(pod, &["metadata", "ownerReferences"])
            .iter()
            .any(|owner| text(owner, &["uid"]) == uid)
    });
    pods
}

fn remove_pod(cluster: &Cluster, key: &ObjectKey) {
    let registry = cluster.registry();
    let Some(pods) = registry.find("", "v1", "pods") else {
        return;
    };
    if let Err(why) = cluster.api().delete(pods, key, &DeleteOptions::default()) {
        tracing::debug!(%why, name = key.name, "a Pod of a StatefulSet stays");
    }
}

/// Makes the claims and the Pod of one number, where they are missing.
fn make(cluster: &Cluster, key: &ObjectKey, found: &Value, number: i64) {
    let pod_name = format!("{}-{number}", key.name);
    let exists = |bucket: &str, name: &str| {
        cluster
            .store()
            .get(bucket, &ObjectKey::new(&*key.namespace, name))
            .is_some()
    };
    let mut volumes = list(found, &["spec", "template", "spec", "volumes"]).to_vec();
    for template in list(found, &["spec", "volumeClaimTemplates"]) {
        let volume = text(template, &["metadata", "name"]);
        let claim = format!("{volume}-{pod_name}");
        if !exists("persistentvolumeclaims", &claim) {
            let mut object = json!({"metadata": template.get("metadata").cloned().unwrap_or_default(),
                "spec": template.get("spec").cloned().unwrap_or_default()});
            set(&mut object, &["metadata", "name"], claim.as_str());
            cluster
                .api()
                .create_quietly("", "v1", "persistentvolumeclaims", &key.namespace, object);
        }
        volumes.retain(|one| text(one, &["name"]) != volume);
        volumes.push(json!({"name": volume, "persistentVolumeClaim": {"claimName": claim}}));
    }
    if exists("pods", &pod_name) {
        return;
    }
    let mut pod = json!({"metadata": at(found, &["spec", "template", "metadata"]).cloned().unwrap_or_else(|| json!({})),
        "spec": at(found, &["spec", "template", "spec"]).cloned().unwrap_or_default()});
    set(&mut pod, &["metadata", "name"], pod_name.as_str());
    set(
        &mut pod,
        &["metadata", "labels", "statefulset.kubernetes.io/pod-name"],
        pod_name.as_str(),
    );
    set(
        &mut pod,
        &["metadata", "labels", "apps.kubernetes.io/pod-index"],
        number.to_string(),
    );
    let owner = json!([{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": key.name,
        "uid": text(found, &["metadata", "uid"]), "controller": true, "blockOwnerDeletion": true}]);
    set(&mut pod, &["metadata", "ownerReferences"], owner);
    set(&mut pod, &["spec", "hostname"], pod_name.as_str());
    if !volumes.is_empty() {
        set(&mut pod, &["spec", "volumes"], volumes);
    }
    cluster
        .api()
        .create_quietly("", "v1", "pods", &key.namespace, pod);
}
