//! Events are forgotten after an hour, as a real API server lets them expire.

use std::time::Duration;

use crate::api::DeleteOptions;
use crate::api::json::text;
use crate::cluster::Cluster;
use crate::store::ObjectKey;

const LIFETIME: jiff::SignedDuration = jiff::SignedDuration::from_hours(1);
const ROUND: Duration = Duration::from_secs(60);

/// Runs the clock.
pub async fn run_events_ttl(cluster: Cluster) {
    let mut rounds = tokio::time::interval(ROUND);
    loop {
        rounds.tick().await;
        let registry = cluster.registry();
        let Some(resource) = registry.find("", "v1", "events") else {
            continue;
        };
        let now = jiff::Timestamp::now();
        let (events, _) = cluster.store().list(&resource.bucket, None);
        for event in events {
            let times = [
                &["lastTimestamp"][..],
                &["eventTime"],
                &["metadata", "creationTimestamp"],
            ];
            let newest = times
                .iter()
                .filter_map(|path| text(&event, path).parse::<jiff::Timestamp>().ok())
                .max();
            if newest.is_some_and(|newest| now.duration_since(newest) > LIFETIME) {
                let key = ObjectKey::new(
                    text(&event, &["metadata", "namespace"]),
                    text(&event, &["metadata", "name"]),
                );
                if let Err(why) = cluster.api().delete(resource, &key, &DeleteOptions::default()) {
                    tracing::debug!(%why, name = key.name, "an old event stays");
                }
            }
        }
    }
}
