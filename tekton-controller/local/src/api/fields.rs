//! Sets of fields, as `metadata.managedFields` writes them, and the sets that values have.
//!
//! A set is a tree whose steps are `f:name`, `k:{"key":…}` and `v:value`; a node that is a member
//! itself stands for its whole value.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::shapes::{ListKind, Structure};

/// A set of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSet {
    /// The node itself is in the set.
    pub(crate) member: bool,
    /// What is below.
    pub(crate) children: BTreeMap<String, FieldSet>,
}

impl FieldSet {
    /// Reads the `fieldsV1` form.
    pub(crate) fn parse(value: &Value) -> Self {
        let mut set = Self::read(value);
        set.member = false;
        set
    }

    fn read(value: &Value) -> Self {
        let Some(map) = value.as_object() else {
            return Self {
                member: true,
                ..Self::default()
            };
        };
        let children = map
            .iter()
            .filter(|(step, _)| *step != ".")
            .map(|(step, below)| (step.clone(), Self::read(below)));
        Self {
            member: map.is_empty() || map.contains_key("."),
            children: children.collect(),
        }
    }

    /// Writes the `fieldsV1` form.
    pub(crate) fn write(&self) -> Value {
        let mut map = Map::new();
        if self.member && !self.children.is_empty() {
            map.insert(".".to_owned(), json!({}));
        }
        map.extend(
            self.children
                .iter()
                .map(|(step, below)| (step.clone(), below.write())),
        );
        Value::Object(map)
    }

    /// Whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        !self.member && self.children.values().all(Self::is_empty)
    }

    /// Adds all of another set.
    pub(crate) fn add(&mut self, other: &Self) {
        self.member |= other.member;
        for (step, below) in &other.children {
            self.children.entry(step.clone()).or_default().add(below);
        }
    }

    /// Takes out all of another set.
    pub(crate) fn subtract(&mut self, other: &Self) {
        self.member &= !other.member;
        for (step, below) in &other.children {
            if let Some(mine) = self.children.get_mut(step) {
                mine.subtract(below);
            }
        }
        self.children.retain(|_, below| !below.is_empty());
    }

    /// Takes out a branch with everything below it.
    pub(crate) fn cut(&mut self, path: &[&str]) {
        if let Some((first, rest)) = path.split_first() {
            if rest.is_empty() {
                self.children.remove(*first);
            } else if let Some(below) = self.children.get_mut(*first) {
                below.cut(rest);
            }
        }
        self.children.retain(|_, below| !below.is_empty());
    }

    /// What is in both.
    pub(crate) fn common(&self, other: &Self) -> Self {
        let mut children = BTreeMap::new();
        for (step, below) in &self.children {
            if let Some(theirs) = other.children.get(step) {
                let both = below.common(theirs);
                if !both.is_empty() {
                    children.insert(step.clone(), both);
                }
            }
        }
        Self {
            member: self.member && other.member,
            children,
        }
    }

    /// The members as paths for people, like `.spec.containers[name="a"].image`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut all = Vec::new();
        self.collect_paths("", &mut all);
        all
    }

    fn collect_paths(&self, here: &str, all: &mut Vec<String>) {
        if self.member {
            all.push(here.to_owned());
        }
        for (step, below) in &self.children {
            below.collect_paths(&format!("{here}{}", readable(step)), all);
        }
    }
}

fn readable(step: &str) -> String {
    match step.split_once(':') {
        Some(("f", name)) => format!(".{name}"),
        Some(("k", keys)) => {
            let keys: Value = serde_json::from_str(keys).unwrap_or_default();
            let parts: Vec<String> = keys
                .as_object()
                .into_iter()
                .flatten()
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            format!("[{}]", parts.join(","))
        }
        Some((_, value)) => format!("[={value}]"),
        None => step.to_owned(),
    }
}

/// The step of a list's element, if the list tells its elements apart.
pub(crate) fn element_step(kind: &ListKind, item: &Value) -> Option<String> {
    match kind {
        ListKind::Atomic => None,
        ListKind::Set => Some(format!("v:{item}")),
        ListKind::Map(keys) => {
            let mut found = Map::new();
            for key in keys {
                match item.get(key) {
                    Some(value) => {
                        found.insert(key.clone(), value.clone());
                    }
                    None if key == "protocol" => {
                        found.insert(key.clone(), "TCP".into());
                    }
                    None if Some(key) == keys.first() => return None,
                    None => {}
                }
            }
            Some(format!("k:{}", Value::Object(found)))
        }
    }
}

/// Which fields a write added, changed and removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Difference {
    /// Not there before.
    pub(crate) added: FieldSet,
    /// There with another value.
    pub(crate) modified: FieldSet,
    /// No longer there.
    pub(crate) removed: FieldSet,
}

impl Difference {
    /// Between two objects of one structure.
    pub(crate) fn between(structure: &Structure, old: &Value, new: &Value) -> Self {
        let mut difference = Self::default();
        let sets = (
            &mut difference.added,
            &mut difference.modified,
            &mut difference.removed,
        );
        compare(structure, &ListKind::Atomic, true, Some(old), Some(new), sets);
        for set in [
            &mut difference.added,
            &mut difference.modified,
            &mut difference.removed,
        ] {
            set.cut(&[]);
        }
        difference
    }

    /// Takes a branch out of all three sets.
    pub(crate) fn cut(&mut self, path: &[&str]) {
        for set in [&mut self.added, &mut self.modified, &mut self.removed] {
            set.cut(path);
        }
    }
}

type Sets<'a> = (&'a mut FieldSet, &'a mut FieldSet, &'a mut FieldSet);

fn compare(
    structure: &Structure,
    kind: &ListKind,
    top: bool,
    old: Option<&Value>,
    new: Option<&Value>,
    sets: Sets<'_>,
) {
    let (added, modified, removed) = sets;
    match (old, new) {
        (None, None) => {}
        (None, Some(new)) => everything(structure, kind, top, new, added),
        (Some(old), None) => everything(structure, kind, top, old, removed),
        (Some(old), Some(new)) => {
            let (before, after) = (parts(structure, kind, top, old), parts(structure, kind, top, new));
            let (Some(before), Some(after)) = (before, after) else {
                modified.member |= old != new;
                return;
            };
            let steps: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            for step in steps {
                let (one, other) = (before.get(step), after.get(step));
                let Some((below, kind)) = other.or(one).map(|part| (&part.structure, &part.kind)) else {
                    continue;
                };
                let sets = (
                    added.children.entry(step.clone()).or_default(),
                    modified.children.entry(step.clone()).or_default(),
                    removed.children.entry(step.clone()).or_default(),
                );
                compare(
                    below,
                    kind,
                    false,
                    one.map(|part| part.value),
                    other.map(|part| part.value),
                    sets,
                );
            }
        }
    }
}

struct Part<'a> {
    structure: Structure,
    kind: ListKind,
    value: &'a Value,
}

/// The parts of a value that are owned on their own; `None` for one that is owned as a whole.
fn parts<'a>(
    structure: &Structure,
    kind: &ListKind,
    top: bool,
    value: &'a Value,
) -> Option<BTreeMap<String, Part<'a>>> {
    match value {
        Value::Object(fields) if !matches!(structure, Structure::Atom) => Some(
            fields
                .iter()
                .map(|(name, value)| {
                    let (below, kind) = structure.field(name, top);
                    (
                        format!("f:{name}"),
                        Part {
                            structure: below,
                            kind,
                            value,
                        },
                    )
                })
                .collect(),
        ),
        Value::Array(items) if *kind != ListKind::Atomic => {
            let mut found = BTreeMap::new();
            for item in items {
                let step = element_step(kind, item)?;
                found.insert(
                    step,
                    Part {
                        structure: structure.clone(),
                        kind: ListKind::Atomic,
                        value: item,
                    },
                );
            }
            Some(found)
        }
        _ => None,
    }
}

/// A value with everything in it, containers included.
fn everything(structure: &Structure, kind: &ListKind, top: bool, value: &Value, set: &mut FieldSet) {
    set.member = !top;
    for (step, part) in parts(structure, kind, top, value).into_iter().flatten() {
        everything(
            &part.structure,
            &part.kind,
            false,
            part.value,
            set.children.entry(step).or_default(),
        );
    }
}

/// What an applied configuration owns: its leaves, and the elements of its lists.
pub(crate) fn applied(structure: &Structure, config: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    leaves(structure, &ListKind::Atomic, true, config, &mut set);
    set.member = false;
    set
}

fn leaves(structure: &Structure, kind: &ListKind, top: bool, value: &Value, set: &mut FieldSet) {
    match parts(structure, kind, top, value) {
        Some(parts) if !parts.is_empty() => {
            let elements = value.is_array();
            for (step, part) in parts {
                let below = set.children.entry(step).or_default();
                leaves(&part.structure, &part.kind, false, part.value, below);
                below.member |= elements;
            }
        }
        _ => set.member = true,
    }
}

/// Puts an applied configuration over a live value.
pub(crate) fn merge(
    structure: &Structure,
    kind: &ListKind,
    top: bool,
    live: &Value,
    config: &Value,
) -> Value {
    match (live, config) {
        (Value::Object(old), Value::Object(new)) if !matches!(structure, Structure::Atom) => {
            let mut merged = old.clone();
            for (name, value) in new {
                let (below, kind) = structure.field(name, top);
                let value = match merged.get(name) {
                    Some(old) => merge(&below, &kind, false, old, value),
                    None => value.clone(),
                };
                merged.insert(name.clone(), value);
            }
            Value::Object(merged)
        }
        (Value::Array(old), Value::Array(new)) if *kind != ListKind::Atomic => {
            let step = |item: &Value| element_step(kind, item);
            let wanted: Vec<Option<String>> = new.iter().map(step).collect();
            let mut fresh = new.iter();
            let mut merged = Vec::new();
            let take = |item: &Value| match old.iter().find(|known| step(known) == step(item)) {
                Some(known) => merge(structure, &ListKind::Atomic, false, known, item),
                None => item.clone(),
            };
            // Elements only the live list has keep their place; the others come in the new order.
            for item in old {
                if wanted.contains(&step(item)) {
                    merged.extend(fresh.next().map(&take));
                } else {
                    merged.push(item.clone());
                }
            }
            merged.extend(fresh.map(&take));
            Value::Array(merged)
        }
        _ => config.clone(),
    }
}

/// Removes the dropped fields that nobody else owns.
pub(crate) fn prune(
    structure: &Structure,
    kind: &ListKind,
    top: bool,
    value: &mut Value,
    dropped: &FieldSet,
    kept: &FieldSet,
) {
    let nothing = FieldSet::default();
    match value {
        Value::Object(fields) => {
            for (step, gone) in &dropped.children {
                let Some(name) = step.strip_prefix("f:") else {
                    continue;
                };
                let kept = kept.children.get(step).unwrap_or(&nothing);
                let (below, kind) = structure.field(name, top);
                if gone.member && kept.is_empty() {
                    fields.remove(name);
                } else if let Some(field) = fields.get_mut(name) {
                    prune(&below, &kind, false, field, gone, kept);
                    let emptied = field.as_object().is_some_and(Map::is_empty)
                        || field.as_array().is_some_and(Vec::is_empty);
                    if emptied && kept.is_empty() && !top {
                        fields.remove(name);
                    }
                }
            }
        }
        Value::Array(items) => {
            items.retain_mut(|item| {
                let Some(step) = element_step(kind, item) else {
                    return true;
                };
                let Some(gone) = dropped.children.get(&step) else {
                    return true;
                };
                let kept = kept.children.get(&step).unwrap_or(&nothing);
                if gone.member && kept.is_empty() {
                    return false;
                }
                prune(structure, &ListKind::Atomic, false, item, gone, kept);
                true
            });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::shapes::Shape;

    #[test]
    fn sets_are_written_as_they_are_read() {
        let text = json!({"f:data": {".": {}, "f:k": {}}, "f:metadata": {"f:finalizers": {"v:\"a/b\"": {}}}});
        assert_eq!(FieldSet::parse(&text).write(), text);
    }

    #[test]
    fn a_pod_owns_containers_by_name() {
        let structure = Structure::Table(Shape::of_kind("Pod"));
        let config = json!({"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}]}]}});
        let expected = json!({"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:ports": {
            "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}}}}}});
        assert_eq!(applied(&structure, &config).write(), expected);
    }

    #[test]
    fn a_difference_names_what_changed() {
        let structure = Structure::Table(Shape::of_kind("ConfigMap"));
        let difference = Difference::between(
            &structure,
            &json!({"data": {"a": "1", "b": "2"}}),
            &json!({"data": {"a": "3", "c": "4"}}),
        );
        assert_eq!(difference.added.paths(), [".data.c"]);
        assert_eq!(difference.modified.paths(), [".data.a"]);
        assert_eq!(difference.removed.paths(), [".data.b"]);
    }
}
