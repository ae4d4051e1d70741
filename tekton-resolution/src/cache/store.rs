//! The cache itself: bounded, with a time to live, fetching each source once however many ask.
//!
//! Upstream counterpart: `pkg/remoteresolution/resolver/framework/cache/cache.go`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use tekton_api::v1::{Param, ParamValue};
use tokio::sync::{Mutex, OnceCell};

use super::annotate::{Operation, annotate};
use super::policy::CACHE_PARAM;
use crate::{ResolveError, Resolved};

/// Entries kept unless configured otherwise.
pub const DEFAULT_SIZE: usize = 1000;
/// Time to live unless configured otherwise.
pub const DEFAULT_TTL: Duration = Duration::from_secs(5 * 60);

struct Entry {
    found: Resolved,
    until: Instant,
    used: u64,
}

#[derive(Default)]
struct Inner {
    entries: BTreeMap<String, Entry>,
    flights: BTreeMap<String, Arc<OnceCell<Resolved>>>,
    clock: u64,
}

/// A shared cache of resolved resources.
#[derive(Clone)]
pub struct Cache {
    inner: Arc<Mutex<Inner>>,
    size: usize,
    ttl: Duration,
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache")
            .field("size", &self.size)
            .field("ttl", &self.ttl)
            .finish_non_exhaustive()
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self::new(DEFAULT_SIZE, DEFAULT_TTL)
    }
}

impl Cache {
    /// A cache of at most `size` entries, which live for `ttl`.
    pub fn new(size: usize, ttl: Duration) -> Self {
        Self {
            inner: Arc::default(),
            size: size.max(1),
            ttl,
        }
    }

    /// The cached answer, or the one that `fetch` gives, which is kept. Of several that ask for the same at
    /// once, one fetches. `time` is called for the annotation when an answer is stored or found.
    pub async fn get_or_fetch<F>(
        &self,
        resolver: &str,
        params: &[Param],
        ttl: Option<Duration>,
        time: impl Fn() -> String,
        fetch: impl FnOnce() -> F,
    ) -> Result<Resolved, ResolveError>
    where
        F: Future<Output = Result<Resolved, ResolveError>>,
    {
        let key = key(resolver, params);
        let flight = {
            let mut inner = self.inner.lock().await;
            inner.clock += 1;
            let clock = inner.clock;
            match inner.entries.get_mut(&key) {
                Some(entry) if entry.until > Instant::now() => {
                    entry.used = clock;
                    return Ok(annotate(
                        entry.found.clone(),
                        resolver,
                        Operation::Retrieve,
                        &time(),
                    ));
                }
                Some(_) => {
                    inner.entries.remove(&key);
                }
                None => {}
            }
            Arc::clone(inner.flights.entry(key.clone()).or_default())
        };
        let outcome = flight
            .get_or_try_init(|| async {
                let found = annotate(fetch().await?, resolver, Operation::Store, &time());
                self.keep(&key, &found, ttl.unwrap_or(self.ttl)).await;
                Ok(found)
            })
            .await
            .cloned();
        let mut inner = self.inner.lock().await;
        if inner
            .flights
            .get(&key)
            .is_some_and(|current| Arc::ptr_eq(current, &flight))
        {
            inner.flights.remove(&key);
        }
        outcome
    }

    async fn keep(&self, key: &str, found: &Resolved, ttl: Duration) {
        let mut inner = self.inner.lock().await;
        let used = inner.clock;
        let until = Instant::now() + ttl;
        inner.entries.insert(
            key.to_owned(),
            Entry {
                found: found.clone(),
                until,
                used,
            },
        );
        while inner.entries.len() > self.size {
            let oldest = inner
                .entries
                .iter()
                .min_by_key(|(_, entry)| entry.used)
                .map(|(key, _)| key.clone());
            match oldest {
                Some(oldest) => inner.entries.remove(&oldest),
                None => break,
            };
        }
    }
}

/// A hash of resolver and params, whatever their order; the mode of the cache does not count.
fn key(resolver: &str, params: &[Param]) -> String {
    let mut sorted: Vec<&Param> = params.iter().filter(|param| param.name != CACHE_PARAM).collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    // Lengths keep values that contain the separators apart.
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    };
    add(resolver);
    for param in sorted {
        add(&param.name);
        match &param.value {
            ParamValue::String(text) => add(text),
            ParamValue::Array(list) => list.iter().for_each(|text| add(text)),
            ParamValue::Object(members) => members.iter().for_each(|(key, text)| {
                add(key);
                add(text);
            }),
        }
    }
    crate::http::hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn param(name: &str, value: &str) -> Param {
        Param {
            name: name.into(),
            value: ParamValue::String(value.into()),
        }
    }

    #[tokio::test]
    async fn each_source_is_fetched_once_however_many_ask() {
        let (cache, fetched) = (Cache::default(), AtomicUsize::new(0));
        let ask = |number: usize| {
            let (cache, fetched) = (&cache, &fetched);
            async move {
                let params = [param("url", &(number % 10).to_string()), param("cache", "always")];
                let fetch = || async {
                    fetched.fetch_add(1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    Ok(Resolved::default())
                };
                cache
                    .get_or_fetch("git", &params, None, String::new, fetch)
                    .await
                    .unwrap()
            }
        };
        let found = join((0..1000).map(ask).collect()).await;
        assert_eq!(fetched.load(Ordering::SeqCst), 10);
        assert!(found.iter().all(|found| found.annotations.len() == 4));
    }

    #[tokio::test]
    async fn failures_are_not_kept_and_the_size_is_bounded() {
        let cache = Cache::new(2, DEFAULT_TTL);
        let failing = || async { Err(ResolveError::new("no")) };
        assert!(
            cache
                .get_or_fetch("git", &[param("a", "1")], None, String::new, failing)
                .await
                .is_err()
        );
        for value in ["1", "2", "3"] {
            let fetch = || async { Ok(Resolved::default()) };
            cache
                .get_or_fetch("git", &[param("a", value)], None, String::new, fetch)
                .await
                .unwrap();
        }
        assert_eq!(cache.inner.lock().await.entries.len(), 2);
        assert!(cache.inner.lock().await.flights.is_empty());
    }

    async fn join<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
        let mut done = Vec::new();
        let mut pinned: Vec<_> = futures.into_iter().map(|future| Some(Box::pin(future))).collect();
        std::future::poll_fn(|context| {
            for slot in &mut pinned {
                if let Some(future) = slot
                    && let std::task::Poll::Ready(output) = future.as_mut().poll(context)
                {
                    done.push(output);
                    *slot = None;
                }
            }
            if pinned.iter().all(Option::is_none) {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
        done
    }
}
