//! Namespaces: what a new one gets, and how a deleted one is emptied.

use serde_json::{Value, json};

use super::feed::Feed;
use crate::api::DeleteOptions;
use crate::api::json::{at, list, set, text};
use crate::cluster::Cluster;
use crate::store::{ChangeKind, ObjectKey};

/// The ConfigMap with the authority's certificate.
const ROOT_CERTIFICATE: &str = "kube-root-ca.crt";

/// Runs the controller.
pub async fn run_namespaces(cluster: Cluster) {
    let mut feed = Feed::new(&cluster, None);
    loop {
        let mut names = std::collections::BTreeSet::new();
        for news in feed.next().await {
            if news.bucket == "namespaces" && news.kind != ChangeKind::Deleted {
                names.insert(text(&news.object, &["metadata", "name"]).to_owned());
            } else if news.kind == ChangeKind::Deleted {
                names.insert(text(&news.object, &["metadata", "namespace"]).to_owned());
            }
        }
        for name in names {
            let Some(namespace) = cluster.store().get("namespaces", &ObjectKey::new("", &*name)) else {
                continue;
            };
            if at(&namespace, &["metadata", "deletionTimestamp"]).is_some() {
                empty(&cluster, &name, &namespace);
            } else {
                furnish(&cluster, &name);
            }
        }
    }
}

fn furnish(cluster: &Cluster, namespace: &str) {
    let missing = |bucket: &str, name: &str| {
        cluster
            .store()
            .get(bucket, &ObjectKey::new(namespace, name))
            .is_none()
    };
    if missing("serviceaccounts", "default") {
        cluster.api().create_quietly(
            "",
            "v1",
            "serviceaccounts",
            namespace,
            json!({"metadata": {"name": "default"}}),
        );
    }
    if missing("configmaps", ROOT_CERTIFICATE) {
        let about = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints \
             such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across \
             distributions of Kubernetes clusters.";
        let object = json!({
            "metadata": {"name": ROOT_CERTIFICATE, "annotations": {"kubernetes.io/description": about}},
            "data": {"ca.crt": cluster.authority()},
        });
        cluster
            .api()
            .create_quietly("", "v1", "configmaps", namespace, object);
    }
}

fn empty(cluster: &Cluster, name: &str, namespace: &Value) {
    let mut left = false;
    for (bucket, resource) in cluster.registry().namespaced_buckets() {
        let (objects, _) = cluster.store().list(&bucket, Some(name));
        for object in objects {
            let key = ObjectKey::new(name, text(&object, &["metadata", "name"]));
            if at(&object, &["metadata", "deletionTimestamp"]).is_none()
                && let Err(why) = cluster.api().delete(&resource, &key, &DeleteOptions::default())
            {
                tracing::debug!(%why, name = key.name, "an object of a deleted namespace stays");
            }
            left |= cluster.store().get(&bucket, &key).is_some();
        }
    }
    if left || list(namespace, &["spec", "finalizers"]).is_empty() {
        return;
    }
    let registry = cluster.registry();
    let Some(resource) = registry.find("", "v1", "namespaces") else {
        return;
    };
    let done = cluster
        .api()
        .change(resource, &ObjectKey::new("", name), |object| {
            let mut left = list(object, &["spec", "finalizers"]).to_vec();
            left.retain(|one| one != "kubernetes");
            set(object, &["spec", "finalizers"], left);
        });
    if let Err(why) = done {
        tracing::debug!(%why, name, "a namespace was not released");
    }
}
