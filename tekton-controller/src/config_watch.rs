//! Follows the ConfigMaps of the controller's namespace and hands out the configuration in force.
//!
//! A ConfigMap that cannot be parsed is logged, and the last good configuration stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use tekton_api::config::Config;
use tokio::sync::watch;

type Data = BTreeMap<String, BTreeMap<String, String>>;

/// A place for the configuration in force, with the defaults in it.
pub fn channel() -> (watch::Sender<Arc<Config>>, watch::Receiver<Arc<Config>>) {
    watch::channel(Arc::new(Config::default()))
}

/// Reads the ConfigMaps of a namespace and goes on following them in the background.
///
/// # Errors
/// If they cannot be listed. Content that cannot be parsed is logged instead, and what was in force stays.
pub async fn follow(
    client: Client,
    namespace: &str,
    sender: watch::Sender<Arc<Config>>,
) -> Result<(), kube::Error> {
    let api: Api<ConfigMap> = Api::namespaced(client, namespace);
    let mut data = Data::new();
    for map in api.list(&ListParams::default()).await? {
        data.insert(map.name_any(), map.data.unwrap_or_default());
    }
    if let Some(config) = parsed(&data) {
        sender.send_replace(Arc::new(config));
    }
    tokio::spawn(watch_changes(api, data, sender));
    Ok(())
}

async fn watch_changes(api: Api<ConfigMap>, mut data: Data, sender: watch::Sender<Arc<Config>>) {
    let mut changes = Box::pin(watcher(api, watcher::Config::default()).default_backoff());
    while let Some(change) = changes.next().await {
        match change {
            Ok(watcher::Event::Apply(map) | watcher::Event::InitApply(map)) => {
                data.insert(map.name_any(), map.data.unwrap_or_default());
            }
            Ok(watcher::Event::Delete(map)) => {
                data.remove(&map.name_any());
            }
            Ok(watcher::Event::Init) | Err(_) => continue,
            Ok(watcher::Event::InitDone) => {}
        }
        if let Some(config) = parsed(&data) {
            sender.send_if_modified(|current| {
                let changed = **current != config;
                if changed {
                    *current = Arc::new(config);
                }
                changed
            });
        }
        if sender.is_closed() {
            break;
        }
    }
}

fn parsed(data: &Data) -> Option<Config> {
    match Config::from_config_maps(data) {
        Ok(config) => Some(config),
        Err(error) => {
            tracing::error!(%error, "a ConfigMap is not valid; the last good configuration stays in force");
            None
        }
    }
}
