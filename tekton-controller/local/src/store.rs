//! The objects of a cluster, their versions and the recent history of each kind.
//!
//! One counter numbers all writes, as etcd's revision does. Objects are shared values that are
//! replaced and never changed in place, so that readers serialise without holding the lock. A
//! writer names the value it started from; when another came first the write is refused.
//! What an object must look like is the API's business, not the store's.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use crate::api::json;

/// The first version given out; a watch from version 1 must be too old.
const FIRST_VERSION: u64 = 1000;
/// How many changes of a kind are usually kept for watches and for lists of the past.
pub const HISTORY: usize = 8192;

/// Namespace (empty for cluster-wide kinds) and name of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectKey {
    /// The namespace, or an empty text.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectKey {
    /// A key from its two parts.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was created.
    Added,
    /// It was replaced by a newer state.
    Modified,
    /// It was removed.
    Deleted,
}

/// One write.
#[derive(Clone, Debug)]
pub struct Change {
    /// The version of the write.
    pub version: u64,
    /// What was done.
    pub kind: ChangeKind,
    /// Which object.
    pub key: ObjectKey,
    /// The new state; for a removal the last one, under the removal's version.
    pub object: Arc<Value>,
    /// The state before the write.
    pub previous: Option<Arc<Value>>,
}

/// Why a write or a look into the past was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Creation of an object that is there.
    #[error("the object already exists")]
    Exists,
    /// The object is not there.
    #[error("the object does not exist")]
    Missing,
    /// Another write came between reading and writing.
    #[error("the object has been modified")]
    Changed,
    /// The history does not reach back to the wanted version.
    #[error("too old resource version: {wanted} ({oldest})")]
    Expired {
        /// The version asked for.
        wanted: u64,
        /// The oldest one that can be answered.
        oldest: u64,
    },
}

#[derive(Debug)]
struct Bucket {
    objects: BTreeMap<ObjectKey, Arc<Value>>,
    history: VecDeque<Arc<Change>>,
    floor: u64,
    latest: watch::Sender<u64>,
}

impl Default for Bucket {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            history: VecDeque::new(),
            floor: FIRST_VERSION,
            latest: watch::Sender::new(FIRST_VERSION),
        }
    }
}

#[derive(Debug)]
struct Inner {
    version: u64,
    depth: usize,
    buckets: BTreeMap<String, Bucket>,
}

/// All objects. A bucket holds one kind and is named like its resource: `pods`, `tasks.tekton.dev`.
#[derive(Debug)]
pub struct Store {
    inner: Mutex<Inner>,
}

impl Default for Store {
    fn default() -> Self {
        Self::with_history(HISTORY)
    }
}

impl Store {
    /// An empty store that keeps so many changes of each kind.
    pub fn with_history(depth: usize) -> Self {
        Self {
            inner: Mutex::new(Inner {
                version: FIRST_VERSION,
                depth,
                buckets: BTreeMap::new(),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version of the newest write.
    pub fn version(&self) -> u64 {
        self.lock().version
    }

    /// One object.
    pub fn get(&self, bucket: &str, key: &ObjectKey) -> Option<Arc<Value>> {
        self.lock().buckets.get(bucket)?.objects.get(key).cloned()
    }

    /// All objects of a kind, or those of one namespace, ordered by namespace and name, with the
    /// version they stand for.
    pub fn list(&self, bucket: &str, namespace: Option<&str>) -> (Vec<Arc<Value>>, u64) {
        let inner = self.lock();
        let objects = inner.buckets.get(bucket).map_or_else(Vec::new, |found| {
            found
                .objects
                .iter()
                .filter(|(key, _)| namespace.is_none_or(|wanted| key.namespace == wanted))
                .map(|(_, object)| Arc::clone(object))
                .collect()
        });
        (objects, inner.version)
    }

    /// The same list as it was at an earlier version.
    pub fn list_at(
        &self,
        bucket: &str,
        namespace: Option<&str>,
        version: u64,
    ) -> Result<Vec<Arc<Value>>, StoreError> {
        let inner = self.lock();
        let Some(found) = inner.buckets.get(bucket) else {
            return Ok(Vec::new());
        };
        if version < found.floor {
            return Err(StoreError::Expired {
                wanted: version,
                oldest: found.floor,
            });
        }
        let mut objects = found.objects.clone();
        for change in found
            .history
            .iter()
            .rev()
            .take_while(|change| change.version > version)
        {
            match &change.previous {
                Some(previous) => objects.insert(change.key.clone(), Arc::clone(previous)),
                None => objects.remove(&change.key),
            };
        }
        drop(inner);
        Ok(objects
            .into_iter()
            .filter(|(key, _)| namespace.is_none_or(|wanted| key.namespace == wanted))
            .map(|(_, object)| object)
            .collect())
    }

    /// Stores a new object.
    pub fn create(&self, bucket: &str, key: ObjectKey, object: Value) -> Result<Arc<Value>, StoreError> {
        let mut inner = self.lock();
        if inner
            .buckets
            .get(bucket)
            .is_some_and(|found| found.objects.contains_key(&key))
        {
            return Err(StoreError::Exists);
        }
        Ok(inner.commit(bucket, key, ChangeKind::Added, object))
    }

    /// Puts a new state in the place of `before`.
    pub fn replace(
        &self,
        bucket: &str,
        key: ObjectKey,
        before: &Arc<Value>,
        object: Value,
    ) -> Result<Arc<Value>, StoreError> {
        let mut inner = self.lock();
        inner.expect(bucket, &key, before)?;
        Ok(inner.commit(bucket, key, ChangeKind::Modified, object))
    }

    /// Removes an object whose state is still `before`, and answers its last state.
    pub fn remove(
        &self,
        bucket: &str,
        key: ObjectKey,
        before: &Arc<Value>,
    ) -> Result<Arc<Value>, StoreError> {
        let mut inner = self.lock();
        inner.expect(bucket, &key, before)?;
        Ok(inner.commit(bucket, key, ChangeKind::Deleted, Value::clone(before)))
    }

    /// The changes of a kind after `version`, and the version up to which they are complete.
    pub fn changes_since(&self, bucket: &str, version: u64) -> Result<(Vec<Arc<Change>>, u64), StoreError> {
        let inner = self.lock();
        let floor = inner
            .buckets
            .get(bucket)
            .map_or(FIRST_VERSION, |found| found.floor);
        if version < floor {
            return Err(StoreError::Expired {
                wanted: version,
                oldest: floor,
            });
        }
        let changes = inner.buckets.get(bucket).map_or_else(Vec::new, |found| {
            let newer = found.history.partition_point(|change| change.version <= version);
            found.history.iter().skip(newer).cloned().collect()
        });
        Ok((changes, inner.version.max(version)))
    }

    /// Wakes its holder after each change of a kind.
    pub fn subscribe(&self, bucket: &str) -> watch::Receiver<u64> {
        self.lock()
            .buckets
            .entry(bucket.to_owned())
            .or_default()
            .latest
            .subscribe()
    }

    /// Names of the kinds of which an object was ever stored.
    pub fn buckets(&self) -> Vec<String> {
        self.lock().buckets.keys().cloned().collect()
    }
}

impl Inner {
    fn expect(&self, bucket: &str, key: &ObjectKey, before: &Arc<Value>) -> Result<(), StoreError> {
        match self.buckets.get(bucket).and_then(|found| found.objects.get(key)) {
            None => Err(StoreError::Missing),
            Some(current) if Arc::ptr_eq(current, before) => Ok(()),
            Some(_) => Err(StoreError::Changed),
        }
    }

    fn commit(&mut self, bucket: &str, key: ObjectKey, kind: ChangeKind, mut object: Value) -> Arc<Value> {
        self.version += 1;
        let version = self.version;
        json::set(&mut object, &["metadata", "resourceVersion"], version.to_string());
        let object = Arc::new(object);
        let home = self.buckets.entry(bucket.to_owned()).or_default();
        let previous = if kind == ChangeKind::Deleted {
            home.objects.remove(&key)
        } else {
            home.objects.insert(key.clone(), Arc::clone(&object))
        };
        home.history.push_back(Arc::new(Change {
            version,
            kind,
            key,
            object: Arc::clone(&object),
            previous,
        }));
        if home.history.len() > self.depth
            && let Some(oldest) = home.history.pop_front()
        {
            home.floor = oldest.version;
        }
        home.latest.send_replace(version);
        object
    }
}
