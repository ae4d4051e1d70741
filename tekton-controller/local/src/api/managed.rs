//! Who owns which fields: `metadata.managedFields` across creates, updates and applies.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::error::ApiError;
use super::fields::{self, Difference, FieldSet};
use super::json::{at, list, remove, set, text};
use super::kinds::Resource;
use super::options::WriteOptions;
use super::shapes::{ListKind, Structure};
use super::write::now;

/// Metadata that belongs to the server.
const SERVER_METADATA: &[&str] = &[
    "f:name",
    "f:namespace",
    "f:creationTimestamp",
    "f:selfLink",
    "f:uid",
    "f:resourceVersion",
    "f:generation",
    "f:managedFields",
    "f:clusterName",
    "f:deletionTimestamp",
    "f:deletionGracePeriodSeconds",
];

/// How a write came about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// A create, PUT or patch: its differences belong to the manager.
    Update,
    /// A server-side apply, with the owners it leads to.
    Apply(&'a [Owner]),
}

impl Source<'_> {
    /// Whether owners change though the object does not.
    pub(crate) fn changes_ownership(self, old: &Value) -> bool {
        match self {
            Self::Update => false,
            Self::Apply(owners) => {
                let mut before = owners_of(old);
                let mut after = owners.to_vec();
                before
                    .iter_mut()
                    .chain(&mut after)
                    .for_each(|owner| owner.time.clear());
                before.sort_by_key(Owner::order);
                after.sort_by_key(Owner::order);
                before != after
            }
        }
    }
}

/// One entry of `managedFields`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    manager: String,
    operation: String,
    api_version: String,
    subresource: String,
    time: String,
    fields: FieldSet,
}

impl Owner {
    fn parse(entry: &Value) -> Self {
        let get = |name: &str| text(entry, &[name]).to_owned();
        Self {
            manager: get("manager"),
            operation: get("operation"),
            api_version: get("apiVersion"),
            subresource: get("subresource"),
            time: get("time"),
            fields: entry.get("fieldsV1").map(FieldSet::parse).unwrap_or_default(),
        }
    }

    fn write(&self) -> Value {
        let mut entry = json!({
            "manager": self.manager, "operation": self.operation, "apiVersion": self.api_version, "time": self.time,
            "fieldsType": "FieldsV1", "fieldsV1": self.fields.write(),
        });
        if !self.subresource.is_empty() {
            set(&mut entry, &["subresource"], self.subresource.as_str());
        }
        entry
    }

    fn order(&self) -> (String, String, String, String, String) {
        let one = self.clone();
        (
            one.operation,
            one.time,
            one.manager,
            one.api_version,
            one.subresource,
        )
    }

    fn is(&self, manager: &str, operation: &str, subresource: &str) -> bool {
        self.manager == manager && self.operation == operation && self.subresource == subresource
    }
}

fn owners_of(object: &Value) -> Vec<Owner> {
    list(object, &["metadata", "managedFields"])
        .iter()
        .map(Owner::parse)
        .collect()
}

fn write_owners(object: &mut Value, mut owners: Vec<Owner>) {
    owners.retain(|owner| !owner.fields.is_empty());
    owners.sort_by_key(Owner::order);
    if owners.is_empty() {
        remove(object, &["metadata", "managedFields"]);
    } else {
        set(
            object,
            &["metadata", "managedFields"],
            owners.iter().map(Owner::write).collect::<Vec<_>>(),
        );
    }
}

fn cut_foreign(resource: &Resource, subresource: &str, mut cut: impl FnMut(&[&str])) {
    cut(&["f:apiVersion"]);
    cut(&["f:kind"]);
    for field in SERVER_METADATA {
        cut(&["f:metadata", field]);
    }
    if subresource.is_empty() && resource.status {
        cut(&["f:status"]);
    }
    if subresource == "status" {
        cut(&["f:spec"]);
        if resource.custom {
            cut(&["f:metadata"]);
        }
    }
}

/// The client empties the list of owners with a single empty entry.
fn is_reset(object: &Value) -> bool {
    matches!(list(object, &["metadata", "managedFields"]), [only] if only.as_object().is_some_and(serde_json::Map::is_empty))
}

/// Writes the owners of a new state onto it.
pub(crate) fn record(
    resource: &Resource,
    old: Option<&Value>,
    after: &mut Value,
    options: &WriteOptions,
    subresource: &str,
    source: Source<'_>,
) {
    if let Source::Apply(owners) = source {
        write_owners(after, owners.to_vec());
        return;
    }
    if is_reset(after) {
        remove(after, &["metadata", "managedFields"]);
        return;
    }
    let mut owners = owners_of(after);
    if owners.is_empty() {
        owners = old.map(owners_of).unwrap_or_default();
    }
    let empty = empty_object(resource);
    let structure = Structure::of(resource);
    let mut difference = Difference::between(&structure, old.unwrap_or(&empty), after);
    cut_foreign(resource, subresource, |path| difference.cut(path));
    let mut changed = difference.added.clone();
    changed.add(&difference.modified);
    for owner in &mut owners {
        owner.fields.subtract(&difference.removed);
        if !owner.is(&options.manager, "Update", subresource) {
            owner.fields.subtract(&changed);
        }
    }
    if !changed.is_empty() {
        let api_version = resource.api_version();
        let mine = owners
            .iter_mut()
            .find(|owner| owner.is(&options.manager, "Update", subresource));
        match mine {
            Some(mine) => {
                mine.fields.add(&changed);
                mine.api_version = api_version;
                mine.time = now();
            }
            None => owners.push(Owner {
                manager: options.manager.clone(),
                operation: "Update".into(),
                api_version,
                subresource: subresource.into(),
                time: now(),
                fields: changed,
            }),
        }
    }
    write_owners(after, owners);
}

/// What an object of the kind has before anything is written: Go's structs are there when empty.
fn empty_object(resource: &Resource) -> Value {
    if resource.custom {
        return json!({"metadata": {}});
    }
    let mut empty = json!({"metadata": {}, "spec": {}, "status": {}});
    if resource.is_core("Pod") {
        set(&mut empty, &["spec", "containers"], json!([]));
    }
    if matches!(
        resource.kind.as_str(),
        "StatefulSet" | "Deployment" | "ReplicaSet" | "DaemonSet" | "Job"
    ) {
        set(
            &mut empty,
            &["spec", "template"],
            json!({"metadata": {}, "spec": {"containers": []}}),
        );
    }
    if matches!(resource.kind.as_str(), "Event") {
        set(&mut empty, &["source"], json!({}));
        set(&mut empty, &["involvedObject"], json!({}));
    }
    empty
}

/// The outcome of a server-side apply.
#[derive(Debug)]
pub(crate) struct Applied {
    /// The merged object.
    pub(crate) object: Value,
    /// The owners it has then.
    pub(crate) owners: Vec<Owner>,
}

/// Applies a configuration (without defaults) to the live object, or to nothing.
pub(crate) fn apply(
    resource: &Resource,
    live: Option<&Value>,
    config: &Value,
    options: &WriteOptions,
    subresource: &str,
) -> Result<Applied, ApiError> {
    let structure = Structure::of(resource);
    let empty = json!({});
    let base = live.unwrap_or(&empty);
    let mut owners = owners_of(base);
    let mut wanted = fields::applied(&structure, config);
    cut_foreign(resource, subresource, |path| wanted.cut(path));
    let mut object = fields::merge(&structure, &ListKind::Atomic, true, base, config);
    let mut difference = Difference::between(&structure, base, &object);
    cut_foreign(resource, subresource, |path| difference.cut(path));
    let mut changed = difference.added;
    changed.add(&difference.modified);
    let is_mine = |owner: &Owner| owner.is(&options.manager, "Apply", subresource);
    let mut conflicts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for owner in owners.iter_mut().filter(|owner| !is_mine(owner)) {
        let taken = owner.fields.common(&changed);
        if taken.is_empty() {
            continue;
        }
        if options.force {
            owner.fields.subtract(&taken);
        } else {
            conflicts
                .entry(describe(owner))
                .or_default()
                .extend(taken.paths());
        }
    }
    if !conflicts.is_empty() {
        return Err(ApiError::apply_conflict(&conflicts));
    }
    let mut dropped = owners
        .iter()
        .find(|owner| is_mine(owner))
        .map(|owner| owner.fields.clone())
        .unwrap_or_default();
    dropped.subtract(&wanted);
    owners.retain(|owner| !is_mine(owner));
    owners.push(Owner {
        manager: options.manager.clone(),
        operation: "Apply".into(),
        api_version: resource.api_version(),
        subresource: subresource.into(),
        time: now(),
        fields: wanted,
    });
    let mut kept = FieldSet::default();
    for owner in &owners {
        kept.add(&owner.fields);
    }
    fields::prune(&structure, &ListKind::Atomic, true, &mut object, &dropped, &kept);
    Ok(Applied { object, owners })
}

/// An owner as a conflict shows it; those that do not apply tell more.
fn describe(owner: &Owner) -> String {
    let mut shown = format!("{:?}", owner.manager);
    if !owner.subresource.is_empty() {
        shown = format!("{shown} with subresource {:?}", owner.subresource);
    }
    if owner.operation == "Update" {
        shown = format!("{shown} using {}", owner.api_version);
        if !owner.time.is_empty() {
            shown = format!("{shown} at {}", owner.time);
        }
    }
    shown
}

/// Whether a configuration brings owners of its own, which is refused.
pub(crate) fn names_owners(config: &Value) -> bool {
    at(config, &["metadata", "managedFields"]).is_some()
}
