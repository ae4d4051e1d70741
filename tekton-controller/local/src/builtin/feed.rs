//! Changes of several kinds as one sequence, for controllers.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::store::ChangeKind;

/// What a controller is told.
#[derive(Debug)]
pub(super) struct News {
    /// The kind's bucket.
    pub(super) bucket: String,
    /// What happened; present objects arrive as added.
    pub(super) kind: ChangeKind,
    /// The state.
    pub(super) object: Arc<Value>,
}

/// Follows buckets from their present state on.
#[derive(Debug)]
pub(super) struct Feed {
    cluster: Cluster,
    wanted: Option<Vec<String>>,
    reached: BTreeMap<String, u64>,
}

impl Feed {
    /// Of some buckets, or of all that the registry knows.
    pub(super) fn new(cluster: &Cluster, wanted: Option<&[&str]>) -> Self {
        let wanted = wanted.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        Self {
            cluster: cluster.clone(),
            wanted,
            reached: BTreeMap::new(),
        }
    }

    fn buckets(&self) -> Vec<String> {
        match &self.wanted {
            Some(wanted) => wanted.clone(),
            None => self.cluster.registry().buckets().into_keys().collect(),
        }
    }

    /// What has happened since the last call; waits until there is something.
    pub(super) async fn next(&mut self) -> Vec<News> {
        loop {
            let buckets = self.buckets();
            let mut news = Vec::new();
            let mut signals: Vec<_> = buckets
                .iter()
                .map(|bucket| self.cluster.store().subscribe(bucket))
                .collect();
            for signal in &mut signals {
                signal.borrow_and_update();
            }
            for bucket in &buckets {
                self.collect(bucket, &mut news);
            }
            if !news.is_empty() {
                return news;
            }
            let mut waiting: FuturesUnordered<_> = signals
                .iter_mut()
                .map(tokio::sync::watch::Receiver::changed)
                .collect();
            if waiting.next().await.is_none() {
                std::future::pending::<()>().await;
            }
        }
    }

    fn collect(&mut self, bucket: &str, news: &mut Vec<News>) {
        let store = self.cluster.store();
        let started = self.reached.get(bucket).copied();
        if let Some(Ok((changes, version))) = started.map(|version| store.changes_since(bucket, version)) {
            news.extend(changes.into_iter().map(|change| News {
                bucket: bucket.to_owned(),
                kind: change.kind,
                object: Arc::clone(&change.object),
            }));
            self.reached.insert(bucket.to_owned(), version);
            return;
        }
        // The first look, or the history was too short: start from what is there.
        let (objects, version) = store.list(bucket, None);
        news.extend(objects.into_iter().map(|object| News {
            bucket: bucket.to_owned(),
            kind: ChangeKind::Added,
            object,
        }));
        self.reached.insert(bucket.to_owned(), version);
    }
}
