//! Watches: what a client sees of the changes of a collection.
//!
//! A stream asks the store for the changes after the version it has reached and sleeps until there
//! are more, so that a slow client costs no memory. One that has fallen out of the history ends
//! with 410, as do clients that start there.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, Stream};
use rand::Rng as _;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::error::{ApiError, FieldFault};
use super::json::set;
use super::kinds::Resource;
use super::negotiate::{Form, form};
use super::request::{Call, Target};
use super::selectors::Selector;
use super::{Api, Reply, read, table, versions};
use crate::store::{Change, ChangeKind};

/// How often a bookmark is sent to those who want them.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// The annotation of the bookmark that ends the initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

struct Watch {
    api: Api,
    resource: Arc<Resource>,
    namespace: String,
    selector: Selector,
    form: Form,
    include: table::Include,
    columns_sent: bool,
    bookmarks: bool,
    reached: u64,
    deadline: Instant,
    next_bookmark: Instant,
    pending: VecDeque<Value>,
    news: tokio::sync::watch::Receiver<u64>,
    ended: bool,
}

/// Opens a watch.
pub(crate) fn watch(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
) -> Result<Reply, ApiError> {
    let query = &call.query;
    let mut selector_fields = query.get("fieldSelector").to_owned();
    if !target.name.is_empty() {
        selector_fields = format!("metadata.name={}", target.name);
    }
    let selector = Selector::parse(query.get("labelSelector"), &selector_fields, resource)?;
    check_options(call)?;
    let raw = query.get("resourceVersion");
    let start: u64 = if raw.is_empty() {
        0
    } else {
        raw.parse()
            .map_err(|_| ApiError::unknown(format!("strconv.ParseUint: parsing {raw:?}: invalid syntax")))?
    };
    let wanted = form(call.header("accept"))?;
    let seconds = query.get("timeoutSeconds").parse().unwrap_or(0);
    let lasting = if seconds > 0 {
        seconds
    } else {
        rand::rng().random_range(1800..3600)
    };
    let now = Instant::now();
    let mut watch = Watch {
        api: api.clone(),
        resource: Arc::clone(resource),
        namespace: target.namespace.clone(),
        selector,
        form: wanted,
        include: table::Include::parse(query.get("includeObject"))?,
        columns_sent: false,
        bookmarks: query.flag("allowWatchBookmarks"),
        reached: start,
        deadline: now + Duration::from_secs(lasting),
        next_bookmark: now + BOOKMARK_EVERY,
        pending: VecDeque::new(),
        news: api.store().subscribe(&resource.bucket),
        ended: false,
    };
    let initial = query.flag("sendInitialEvents");
    if initial || (start == 0 && !query.has("sendInitialEvents")) {
        watch.send_present(initial)?;
    } else if start == 0 {
        watch.reached = api.store().version();
    }
    Ok(Reply::stream(lines(watch)))
}

/// Options that contradict each other.
fn check_options(call: &Call) -> Result<(), ApiError> {
    const FIELD: &str = "resourceVersionMatch";
    let (initial, matching) = (call.query.has("sendInitialEvents"), call.query.get(FIELD));
    let mut faults = Vec::new();
    if initial && matching != "NotOlderThan" {
        let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        faults.push(FieldFault::forbidden(FIELD, detail));
    }
    if !matching.is_empty() {
        if !initial {
            let detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            faults.push(FieldFault::forbidden(FIELD, detail));
        }
        if matching != "NotOlderThan" {
            faults.push(FieldFault::unsupported(
                FIELD,
                &json!(matching),
                &["NotOlderThan"],
            ));
        }
        if !call.query.get("continue").is_empty() {
            let detail = "resourceVersionMatch is forbidden when continue is provided";
            faults.push(FieldFault::forbidden(FIELD, detail));
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(ApiError::invalid_kind("meta.k8s.io", "ListOptions", "", &faults))
    }
}

fn lines(watch: Watch) -> impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static {
    stream::unfold(watch, |mut watch| async move {
        let event = watch.next().await?;
        let mut line = serde_json::to_vec(&event).unwrap_or_default();
        line.push(b'\n');
        Some((Ok(Bytes::from(line)), watch))
    })
}

impl Watch {
    fn send_present(&mut self, mark_end: bool) -> Result<(), ApiError> {
        let namespace = (!self.namespace.is_empty()).then_some(self.namespace.as_str());
        let (objects, version) = self.api.store().list(&self.resource.bucket, namespace);
        for object in &objects {
            if self.selector.matches(object) {
                let event = self.event("ADDED", object)?;
                self.pending.push_back(event);
            }
        }
        self.reached = version;
        if mark_end && self.bookmarks {
            let mut bookmark = self.bookmark();
            set(
                &mut bookmark,
                &["object", "metadata", "annotations", INITIAL_EVENTS_END],
                "true",
            );
            self.pending.push_back(bookmark);
        }
        Ok(())
    }

    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            if self.ended {
                return None;
            }
            self.news.borrow_and_update();
            if let Err(why) = self.collect() {
                self.ended = true;
                return Some(json!({"type": "ERROR", "object": why.status()}));
            }
            if !self.pending.is_empty() {
                continue;
            }
            let wake = if self.bookmarks {
                self.deadline.min(self.next_bookmark)
            } else {
                self.deadline
            };
            tokio::select! {
                changed = self.news.changed() => self.ended = changed.is_err(),
                () = tokio::time::sleep_until(wake) => self.alarm(),
            }
        }
    }

    /// The deadline or the time of a bookmark has come.
    fn alarm(&mut self) {
        if let Err(why) = self.collect() {
            self.pending
                .push_back(json!({"type": "ERROR", "object": why.status()}));
            self.ended = true;
            return;
        }
        if self.bookmarks {
            let bookmark = self.bookmark();
            self.pending.push_back(bookmark);
        }
        self.next_bookmark = Instant::now() + BOOKMARK_EVERY;
        self.ended = Instant::now() >= self.deadline;
    }

    fn collect(&mut self) -> Result<(), ApiError> {
        let (changes, version) = self
            .api
            .store()
            .changes_since(&self.resource.bucket, self.reached)
            .map_err(|why| ApiError::expired(why.to_string()))?;
        for change in changes {
            if let Some(event) = self.visible(&change)? {
                self.pending.push_back(event);
            }
        }
        self.reached = version;
        Ok(())
    }

    fn visible(&mut self, change: &Change) -> Result<Option<Value>, ApiError> {
        if !self.namespace.is_empty() && change.key.namespace != self.namespace {
            return Ok(None);
        }
        let before = change
            .previous
            .as_ref()
            .filter(|before| self.selector.matches(before));
        let after = change.kind != ChangeKind::Deleted && self.selector.matches(&change.object);
        Ok(match (before, after) {
            (None, true) => Some(self.event("ADDED", &change.object)?),
            (Some(_), true) => Some(self.event("MODIFIED", &change.object)?),
            (Some(last), false) => {
                // The last state that matched, under the version of the change.
                let mut last = Value::clone(last);
                set(
                    &mut last,
                    &["metadata", "resourceVersion"],
                    change.version.to_string(),
                );
                Some(self.event("DELETED", &last)?)
            }
            (None, false) => None,
        })
    }

    fn event(&mut self, kind: &str, object: &Value) -> Result<Value, ApiError> {
        let object = versions::served(&self.resource, object, self.api.convert())?;
        let object = match self.form {
            Form::Table => {
                let meta =
                    json!({"resourceVersion": super::json::text(&object, &["metadata", "resourceVersion"])});
                let first = !std::mem::replace(&mut self.columns_sent, true);
                table::table(&self.resource, &[object], self.include, &meta, first)
            }
            Form::Metadata => read::metadata_only(&object),
            Form::Plain | Form::Discovery(_) => object,
        };
        Ok(json!({"type": kind, "object": object}))
    }

    fn bookmark(&self) -> Value {
        let meta = json!({"resourceVersion": self.reached.to_string(), "creationTimestamp": null});
        let object = match self.form {
            Form::Metadata => {
                json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": meta})
            }
            Form::Table => json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta,
                "columnDefinitions": null, "rows": []}),
            _ => {
                json!({"kind": self.resource.kind, "apiVersion": self.resource.api_version(), "metadata": meta})
            }
        };
        json!({"type": "BOOKMARK", "object": object})
    }
}
