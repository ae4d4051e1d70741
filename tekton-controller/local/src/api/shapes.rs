//! How the lists and maps of built-in kinds merge: which lists have keyed elements, which are sets,
//! which maps are replaced as a whole.
//!
//! Strategic merge and server-side apply read this table; everything it does not name is a plain
//! map or a list that is replaced. Custom kinds say the same in their schemas.

use std::sync::Arc;

use serde_json::Value;

use super::json::{at, text};
use super::kinds::Resource;

/// How the elements of a list are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elements {
    /// Not at all: the list (or map) is one value.
    Whole,
    /// By value.
    Set,
    /// By the first key when merging, by all keys when owning.
    Keyed(&'static [&'static str]),
    /// As `Whole` when merging, keyed when owning.
    OwnedBy(&'static [&'static str]),
}

impl Elements {
    /// The key of strategic merge.
    pub(crate) fn merge_key(self) -> Option<&'static str> {
        match self {
            Self::Keyed(keys) => keys.first().copied(),
            _ => None,
        }
    }
}

/// A place in the structure of built-in kinds; the empty name knows nothing about its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape(&'static str);

use Elements::{Keyed, OwnedBy, Set, Whole};

const NAME: &[&str] = &["name"];
const TYPE: &[&str] = &["type"];

/// Owner, field, shape of the field (or its elements), how the elements are told apart.
const TABLE: &[(&str, &str, &str, Elements)] = &[
    ("*", "metadata", "ObjectMeta", Whole),
    ("ObjectMeta", "ownerReferences", "!", Keyed(&["uid"])),
    ("ObjectMeta", "finalizers", "", Set),
    ("Pod", "spec", "PodSpec", Whole),
    ("Pod", "status", "PodStatus", Whole),
    ("StatefulSet", "spec", "WorkloadSpec", Whole),
    ("Deployment", "spec", "WorkloadSpec", Whole),
    ("ReplicaSet", "spec", "WorkloadSpec", Whole),
    ("DaemonSet", "spec", "WorkloadSpec", Whole),
    ("Job", "spec", "WorkloadSpec", Whole),
    ("StatefulSet", "status", "Conditions", Whole),
    ("Deployment", "status", "Conditions", Whole),
    ("ReplicaSet", "status", "Conditions", Whole),
    ("DaemonSet", "status", "Conditions", Whole),
    ("Job", "status", "Conditions", Whole),
    ("Namespace", "status", "Conditions", Whole),
    ("PersistentVolumeClaim", "status", "Conditions", Whole),
    ("Service", "status", "Conditions", Whole),
    ("WorkloadSpec", "template", "PodTemplate", Whole),
    ("WorkloadSpec", "selector", "!", Whole),
    ("PodTemplate", "metadata", "ObjectMeta", Whole),
    ("PodTemplate", "spec", "PodSpec", Whole),
    ("Conditions", "conditions", "", Keyed(TYPE)),
    ("PodSpec", "containers", "Container", Keyed(NAME)),
    ("PodSpec", "initContainers", "Container", Keyed(NAME)),
    ("PodSpec", "ephemeralContainers", "Container", Keyed(NAME)),
    ("PodSpec", "volumes", "Volume", Keyed(NAME)),
    ("PodSpec", "imagePullSecrets", "!", Keyed(NAME)),
    ("PodSpec", "hostAliases", "", Keyed(&["ip"])),
    ("PodSpec", "resourceClaims", "", Keyed(NAME)),
    ("PodSpec", "schedulingGates", "", Keyed(NAME)),
    (
        "PodSpec",
        "topologySpreadConstraints",
        "",
        Keyed(&["topologyKey", "whenUnsatisfiable"]),
    ),
    ("PodSpec", "nodeSelector", "!", Whole),
    ("Container", "env", "EnvVar", Keyed(NAME)),
    ("Container", "ports", "", Keyed(&["containerPort", "protocol"])),
    ("Container", "volumeMounts", "", Keyed(&["mountPath"])),
    ("Container", "volumeDevices", "", Keyed(&["devicePath"])),
    ("Container", "resources", "Resources", Whole),
    ("Resources", "claims", "", OwnedBy(NAME)),
    ("EnvVar", "valueFrom", "EnvSource", Whole),
    ("EnvSource", "configMapKeyRef", "!", Whole),
    ("EnvSource", "secretKeyRef", "!", Whole),
    ("EnvSource", "fieldRef", "!", Whole),
    ("EnvSource", "resourceFieldRef", "!", Whole),
    ("PodStatus", "conditions", "", Keyed(TYPE)),
    ("PodStatus", "podIPs", "", Keyed(&["ip"])),
    ("PodStatus", "hostIPs", "!", Whole),
    ("ServiceAccount", "secrets", "!", Keyed(NAME)),
    ("PersistentVolumeClaim", "spec", "ClaimSpec", Whole),
    ("ClaimSpec", "selector", "!", Whole),
    ("ClaimSpec", "dataSource", "!", Whole),
    ("Service", "spec", "ServiceSpec", Whole),
    ("ServiceSpec", "ports", "", Keyed(&["port", "protocol"])),
    ("ServiceSpec", "selector", "!", Whole),
    ("Node", "spec", "NodeSpec", Whole),
    ("Node", "status", "NodeStatus", Whole),
    ("NodeSpec", "taints", "", Keyed(&["key", "effect"])),
    ("NodeSpec", "podCIDRs", "", Set),
    ("NodeStatus", "conditions", "", Keyed(TYPE)),
    ("NodeStatus", "addresses", "", Keyed(TYPE)),
    ("Event", "involvedObject", "!", Whole),
    ("CustomResourceDefinition", "status", "Conditions", Whole),
    ("MutatingWebhookConfiguration", "webhooks", "", Keyed(NAME)),
    ("ValidatingWebhookConfiguration", "webhooks", "", Keyed(NAME)),
];

const KINDS: &[&str] = &[
    "Pod",
    "StatefulSet",
    "Deployment",
    "ReplicaSet",
    "DaemonSet",
    "Job",
    "Namespace",
    "PersistentVolumeClaim",
    "Service",
    "ServiceAccount",
    "Node",
    "Event",
    "CustomResourceDefinition",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

impl Shape {
    /// The shape of a built-in kind.
    pub(crate) fn of_kind(kind: &str) -> Self {
        Self(KINDS.iter().find(|known| **known == kind).copied().unwrap_or("*"))
    }

    /// The shape of a field, or of its elements, and how these are told apart.
    pub(crate) fn field(self, name: &str) -> (Self, Elements) {
        let top = self.0 == "*" || KINDS.contains(&self.0);
        TABLE
            .iter()
            .find(|(owner, field, ..)| *field == name && (*owner == self.0 || (*owner == "*" && top)))
            .map_or((Self(""), Whole), |(_, _, shape, elements)| {
                (Self(shape), *elements)
            })
    }

    /// The field is one value for ownership, whatever is in it.
    fn is_one_value(self) -> bool {
        self.0 == "!"
    }
}

/// The structure that ownership follows: the table, or a custom kind's schema.
#[derive(Clone, Debug)]
pub(crate) enum Structure {
    /// A built-in kind or a part of one.
    Table(Shape),
    /// A part of a custom kind.
    Schema(Arc<Value>),
    /// One value.
    Atom,
}

/// What a list is to ownership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// One value.
    Atomic,
    /// Told apart by value.
    Set,
    /// Told apart by these keys.
    Map(Vec<String>),
}

impl Structure {
    /// The structure of a kind.
    pub(crate) fn of(resource: &Resource) -> Self {
        match &resource.schema {
            Some(schema) if resource.custom => Self::Schema(Arc::clone(schema)),
            _ => Self::Table(Shape::of_kind(&resource.kind)),
        }
    }

    /// The structure of a field (of its elements, for a list) and what a list in it is.
    pub(crate) fn field(&self, name: &str, top: bool) -> (Self, ListKind) {
        match self {
            Self::Atom => (Self::Atom, ListKind::Atomic),
            Self::Schema(_) if top && name == "metadata" => {
                (Self::Table(Shape("ObjectMeta")), ListKind::Atomic)
            }
            Self::Schema(schema) => schema_field(schema, name),
            Self::Table(shape) => {
                let (below, elements) = shape.field(name);
                let kind = match elements {
                    Whole => ListKind::Atomic,
                    Set => ListKind::Set,
                    Keyed(keys) | OwnedBy(keys) => {
                        ListKind::Map(keys.iter().map(|&key| key.to_owned()).collect())
                    }
                };
                (
                    if below.is_one_value() {
                        Self::Atom
                    } else {
                        Self::Table(below)
                    },
                    kind,
                )
            }
        }
    }
}

fn schema_field(schema: &Value, name: &str) -> (Structure, ListKind) {
    let nothing = (Structure::Table(Shape("")), ListKind::Atomic);
    let found = at(schema, &["properties", name])
        .or_else(|| at(schema, &["additionalProperties"]).filter(|one| one.is_object()));
    let Some(field) = found else { return nothing };
    if text(field, &["x-kubernetes-map-type"]) == "atomic" {
        return (Structure::Atom, ListKind::Atomic);
    }
    let kind = match text(field, &["x-kubernetes-list-type"]) {
        "set" => ListKind::Set,
        "map" => {
            let keys = super::json::list(field, &["x-kubernetes-list-map-keys"]);
            ListKind::Map(keys.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        }
        _ => ListKind::Atomic,
    };
    let below = at(field, &["items"]).unwrap_or(field);
    (Structure::Schema(Arc::new(below.clone())), kind)
}
