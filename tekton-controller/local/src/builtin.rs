//! The controllers that a plain cluster has, each a task that the owner of the cluster spawns.
//!
//! Without them (api-only) nothing empties a deleted namespace, follows owner references or gives
//! namespaces their service account. They see the store through its changes, as watches do, and
//! write through the API. Each ends with its task.

mod claim_protection;
pub mod claims;
mod events_ttl;
mod feed;
mod namespaces;
mod owner_gc;
mod stateful_sets;

pub use claim_protection::run_claim_protection;
pub use events_ttl::run_events_ttl;
pub use namespaces::run_namespaces;
pub use owner_gc::run_owner_gc;
pub use stateful_sets::run_stateful_sets;

use crate::cluster::Cluster;

/// Runs all of them (but the node and what belongs to it) until the task is dropped.
pub async fn run_all(cluster: Cluster) {
    tokio::join!(
        run_owner_gc(cluster.clone()),
        run_namespaces(cluster.clone()),
        run_claim_protection(cluster.clone()),
        run_stateful_sets(cluster.clone()),
        run_events_ttl(cluster),
    );
}
