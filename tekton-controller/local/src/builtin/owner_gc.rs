//! Garbage collection along owner references.
//!
//! Dependents whose owners are all gone are deleted. An owner that is deleted in the foreground
//! waits for the dependents that block it; one that is orphaned first loses their references.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::feed::Feed;
use crate::api::json::{at, list, set, text};
use crate::api::{DeleteOptions, Propagation, Resource};
use crate::cluster::Cluster;
use crate::store::{ChangeKind, ObjectKey};

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    bucket: String,
    key: ObjectKey,
}

#[derive(Debug, Default)]
struct Graph {
    /// Where an object is.
    places: BTreeMap<String, Place>,
    /// Objects that name an owner.
    dependents: BTreeMap<String, BTreeSet<String>>,
    /// Owners an object names.
    owners: BTreeMap<String, Vec<String>>,
}

impl Graph {
    fn learn(&mut self, bucket: &str, object: &Value) {
        let uid = text(object, &["metadata", "uid"]).to_owned();
        self.unlink(&uid);
        let owners: Vec<String> = list(object, &["metadata", "ownerReferences"])
            .iter()
            .map(|owner| text(owner, &["uid"]).to_owned())
            .collect();
        for owner in &owners {
            self.dependents
                .entry(owner.clone())
                .or_default()
                .insert(uid.clone());
        }
        self.owners.insert(uid.clone(), owners);
        let key = ObjectKey::new(
            text(object, &["metadata", "namespace"]),
            text(object, &["metadata", "name"]),
        );
        self.places.insert(
            uid,
            Place {
                bucket: bucket.to_owned(),
                key,
            },
        );
    }

    fn unlink(&mut self, uid: &str) {
        for owner in self.owners.remove(uid).unwrap_or_default() {
            if let Some(dependents) = self.dependents.get_mut(&owner) {
                dependents.remove(uid);
                if dependents.is_empty() {
                    self.dependents.remove(&owner);
                }
            }
        }
    }

    fn forget(&mut self, uid: &str) {
        self.unlink(uid);
        self.places.remove(uid);
    }
}

/// Runs the collector.
pub async fn run_owner_gc(cluster: Cluster) {
    let mut feed = Feed::new(&cluster, None);
    let mut graph = Graph::default();
    loop {
        let mut touched: BTreeSet<String> = BTreeSet::new();
        for news in feed.next().await {
            let uid = text(&news.object, &["metadata", "uid"]).to_owned();
            if news.kind == ChangeKind::Deleted {
                touched.extend(graph.dependents.get(&uid).into_iter().flatten().cloned());
                touched.extend(graph.owners.get(&uid).into_iter().flatten().cloned());
                graph.forget(&uid);
            } else {
                touched.extend(graph.owners.get(&uid).into_iter().flatten().cloned());
                graph.learn(&news.bucket, &news.object);
                touched.extend(graph.owners.get(&uid).into_iter().flatten().cloned());
                touched.insert(uid);
            }
        }
        for uid in touched {
            attend(&cluster, &graph, &uid);
        }
    }
}

fn attend(cluster: &Cluster, graph: &Graph, uid: &str) {
    let Some(place) = graph.places.get(uid) else {
        return;
    };
    let Some(resource) = cluster.registry().buckets().get(&place.bucket).cloned() else {
        return;
    };
    let Some(object) = cluster.store().get(&place.bucket, &place.key) else {
        return;
    };
    if text(&object, &["metadata", "uid"]) != uid {
        return;
    }
    if at(&object, &["metadata", "deletionTimestamp"]).is_some() {
        finish_owner(cluster, graph, &resource, place, &object);
    } else {
        judge_dependent(cluster, &resource, place, &object);
    }
}

fn has_finalizer(object: &Value, name: &str) -> bool {
    list(object, &["metadata", "finalizers"])
        .iter()
        .any(|one| one == name)
}

/// An owner that waits for its dependents, or for them to lose their references.
fn finish_owner(cluster: &Cluster, graph: &Graph, resource: &Arc<Resource>, place: &Place, object: &Value) {
    let uid = text(object, &["metadata", "uid"]);
    let dependents = graph.dependents.get(uid).cloned().unwrap_or_default();
    if has_finalizer(object, ORPHAN) {
        for dependent in dependents.iter().filter_map(|uid| graph.places.get(uid)) {
            drop_reference(cluster, dependent, uid);
        }
        release(cluster, resource, place, ORPHAN);
    } else if has_finalizer(object, FOREGROUND) {
        let mut blocked = false;
        for (uid_of_dependent, dependent) in dependents
            .iter()
            .filter_map(|one| Some((one, graph.places.get(one)?)))
        {
            let Some(found) = cluster.store().get(&dependent.bucket, &dependent.key) else {
                continue;
            };
            if text(&found, &["metadata", "uid"]) != uid_of_dependent {
                continue;
            }
            let blocks = list(&found, &["metadata", "ownerReferences"])
                .iter()
                .any(|owner| {
                    text(owner, &["uid"]) == uid
                        && owner.get("blockOwnerDeletion").and_then(Value::as_bool) == Some(true)
                });
            blocked |= blocks;
            if at(&found, &["metadata", "deletionTimestamp"]).is_none()
                && let Some(kind) = cluster.registry().buckets().get(&dependent.bucket)
            {
                delete(
                    cluster,
                    kind,
                    dependent,
                    Propagation::Foreground,
                    uid_of_dependent,
                );
            }
        }
        if !blocked {
            release(cluster, resource, place, FOREGROUND);
        }
    }
}

/// A dependent goes when none of its owners is left.
fn judge_dependent(cluster: &Cluster, resource: &Arc<Resource>, place: &Place, object: &Value) {
    let owners = list(object, &["metadata", "ownerReferences"]);
    if owners.is_empty() || owners.iter().any(|owner| is_alive(cluster, place, owner)) {
        return;
    }
    delete(
        cluster,
        resource,
        place,
        Propagation::Background,
        text(object, &["metadata", "uid"]),
    );
}

fn is_alive(cluster: &Cluster, place: &Place, owner: &Value) -> bool {
    let registry = cluster.registry();
    // An owner of an unknown kind may exist elsewhere: nothing is deleted on its account.
    let Some(kind) = registry.find_kind(text(owner, &["apiVersion"]), text(owner, &["kind"])) else {
        return true;
    };
    let namespace = if kind.namespaced {
        place.key.namespace.as_str()
    } else {
        ""
    };
    let found = cluster
        .store()
        .get(&kind.bucket, &ObjectKey::new(namespace, text(owner, &["name"])));
    found.is_some_and(|found| text(&found, &["metadata", "uid"]) == text(owner, &["uid"]))
}

fn delete(cluster: &Cluster, resource: &Arc<Resource>, place: &Place, propagation: Propagation, uid: &str) {
    let options = DeleteOptions {
        propagation: Some(propagation),
        uid: uid.to_owned(),
        ..DeleteOptions::default()
    };
    if let Err(why) = cluster.api().delete(resource, &place.key, &options) {
        tracing::debug!(%why, name = place.key.name, "a dependent was not deleted");
    }
}

fn release(cluster: &Cluster, resource: &Arc<Resource>, place: &Place, finalizer: &str) {
    let done = cluster.api().change(resource, &place.key, |object| {
        let mut left = list(object, &["metadata", "finalizers"]).to_vec();
        left.retain(|one| one != finalizer);
        set(object, &["metadata", "finalizers"], left);
    });
    if let Err(why) = done {
        tracing::debug!(%why, name = place.key.name, "a finalizer was not removed");
    }
}

fn drop_reference(cluster: &Cluster, dependent: &Place, owner: &str) {
    let Some(resource) = cluster.registry().buckets().get(&dependent.bucket).cloned() else {
        return;
    };
    let done = cluster.api().change(&resource, &dependent.key, |object| {
        let mut left = list(object, &["metadata", "ownerReferences"]).to_vec();
        left.retain(|one| text(one, &["uid"]) != owner);
        set(object, &["metadata", "ownerReferences"], left);
    });
    if let Err(why) = done {
        tracing::debug!(%why, name = dependent.key.name, "an owner reference was not removed");
    }
}
