//! All objects of a kind and their changes, as one stream that goes on through disconnections.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::{Api, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use std::collections::VecDeque;

/// What happened to an object.
#[derive(Clone, Debug)]
pub(crate) enum Change<K> {
    /// It is there, or is another than before.
    Applied(K),
    /// It is gone.
    Deleted(K),
}

/// Wait before a list or watch that failed is tried again.
const RETRY: Duration = Duration::from_millis(300);

struct Watcher<K> {
    api: Api<K>,
    known: BTreeMap<String, K>,
    queue: VecDeque<Change<K>>,
    version: Option<String>,
    stream: Option<BoxStream<'static, kube::Result<WatchEvent<K>>>>,
}

/// Objects that exist, then each change. Objects that vanished unseen are reported as deleted.
pub(crate) fn watch_all<K>(api: Api<K>) -> impl Stream<Item = Change<K>>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    K::DynamicType: Default,
{
    let watcher = Watcher {
        api,
        known: BTreeMap::new(),
        queue: VecDeque::new(),
        version: None,
        stream: None,
    };
    futures::stream::unfold(watcher, |mut watcher| async move {
        let change = watcher.next().await;
        Some((change, watcher))
    })
}

impl<K> Watcher<K>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    K::DynamicType: Default,
{
    async fn next(&mut self) -> Change<K> {
        loop {
            if let Some(change) = self.queue.pop_front() {
                return change;
            }
            if let Err(error) = self.step().await {
                tracing::debug!(kind = %K::kind(&K::DynamicType::default()), %error, "a watch is begun again");
                self.stream = None;
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    async fn step(&mut self) -> kube::Result<()> {
        let Some(version) = self.version.clone() else {
            return self.list().await;
        };
        let Some(stream) = &mut self.stream else {
            self.stream = Some(self.api.watch(&WatchParams::default(), &version).await?.boxed());
            return Ok(());
        };
        match stream.try_next().await? {
            None => self.stream = None,
            Some(WatchEvent::Added(object) | WatchEvent::Modified(object)) => {
                self.version = object.resource_version();
                self.known
                    .insert(object.uid().unwrap_or_default(), object.clone());
                self.queue.push_back(Change::Applied(object));
            }
            Some(WatchEvent::Deleted(object)) => {
                self.version = object.resource_version();
                self.known.remove(&object.uid().unwrap_or_default());
                self.queue.push_back(Change::Deleted(object));
            }
            Some(WatchEvent::Bookmark(bookmark)) => self.version = Some(bookmark.metadata.resource_version),
            Some(WatchEvent::Error(error)) => {
                // The history is gone: all has to be read again.
                self.version = None;
                return Err(kube::Error::Api(error));
            }
        }
        Ok(())
    }

    async fn list(&mut self) -> kube::Result<()> {
        let list = self.api.list(&ListParams::default()).await?;
        self.stream = None;
        self.version = list
            .metadata
            .resource_version
            .clone()
            .or_else(|| Some("0".to_owned()));
        let mut gone = std::mem::take(&mut self.known);
        for object in list.items {
            let uid = object.uid().unwrap_or_default();
            gone.remove(&uid);
            self.known.insert(uid, object.clone());
            self.queue.push_back(Change::Applied(object));
        }
        self.queue.extend(gone.into_values().map(Change::Deleted));
        Ok(())
    }
}
