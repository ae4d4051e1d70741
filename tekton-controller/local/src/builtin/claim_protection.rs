//! Claims and volumes in use are kept: their protection finalizer goes when nobody uses them.

use serde_json::Value;

use super::feed::Feed;
use crate::api::json::{at, list, set, text};
use crate::cluster::Cluster;
use crate::store::ObjectKey;

/// Runs the controller.
pub async fn run_claim_protection(cluster: Cluster) {
    let mut feed = Feed::new(
        &cluster,
        Some(&["persistentvolumeclaims", "persistentvolumes", "pods"]),
    );
    loop {
        // Whatever has changed, a deleted claim may have become free.
        feed.next().await;
        for bucket in ["persistentvolumeclaims", "persistentvolumes"] {
            let (objects, _) = cluster.store().list(bucket, None);
            for object in objects
                .iter()
                .filter(|object| at(object, &["metadata", "deletionTimestamp"]).is_some())
            {
                if !is_used(&cluster, bucket, object) {
                    release(&cluster, bucket, object);
                }
            }
        }
    }
}

fn is_used(cluster: &Cluster, bucket: &str, object: &Value) -> bool {
    let name = text(object, &["metadata", "name"]);
    if bucket == "persistentvolumes" {
        return text(object, &["status", "phase"]) == "Bound";
    }
    let (pods, _) = cluster
        .store()
        .list("pods", Some(text(object, &["metadata", "namespace"])));
    pods.iter().any(|pod| {
        let finished = matches!(text(pod, &["status", "phase"]), "Succeeded" | "Failed");
        let mounts = list(pod, &["spec", "volumes"]).iter().any(|volume| {
            text(volume, &["persistentVolumeClaim", "claimName"]) == name
                || (at(volume, &["ephemeral"]).is_some()
                    && format!("{}-{}", text(pod, &["metadata", "name"]), text(volume, &["name"])) == name)
        });
        mounts && !finished && !text(pod, &["spec", "nodeName"]).is_empty()
    })
}

fn release(cluster: &Cluster, bucket: &str, object: &Value) {
    let Some(resource) = cluster.registry().buckets().get(bucket).cloned() else {
        return;
    };
    let key = ObjectKey::new(
        text(object, &["metadata", "namespace"]),
        text(object, &["metadata", "name"]),
    );
    let done = cluster.api().change(&resource, &key, |object| {
        let mut left = list(object, &["metadata", "finalizers"]).to_vec();
        left.retain(|one| {
            !matches!(
                one.as_str(),
                Some("kubernetes.io/pvc-protection" | "kubernetes.io/pv-protection")
            )
        });
        set(object, &["metadata", "finalizers"], left);
    });
    if let Err(why) = done {
        tracing::debug!(%why, name = key.name, "a claim was not released");
    }
}
