//! Annotations that tell of the cache.
//!
//! Upstream counterpart: `pkg/remoteresolution/resolver/framework/cache/annotated_resource.go`.

use tekton_api::labels;

use crate::Resolved;

/// What the cache did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The answer was fetched and kept.
    Store,
    /// The answer was in the cache.
    Retrieve,
}

/// Adds the annotations; `time` is in RFC 3339.
#[must_use]
pub fn annotate(mut found: Resolved, resolver: &str, operation: Operation, time: &str) -> Resolved {
    let operation = match operation {
        Operation::Store => "store",
        Operation::Retrieve => "retrieve",
    };
    let entries = [
        (labels::CACHED, "true"),
        (labels::CACHE_TIMESTAMP, time),
        (labels::CACHE_RESOLVER_TYPE, resolver),
        (labels::CACHE_OPERATION, operation),
    ];
    found
        .annotations
        .extend(entries.map(|(key, value)| (key.to_owned(), value.to_owned())));
    found
}
