//! Which resources the API serves, under which names, and how they behave.
//!
//! The built-in ones are a table (`builtin`); custom ones are read from their
//! CustomResourceDefinitions, those given at the start as well as those created later.

mod builtin;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::json::{at, list, text};

/// One printer column of a custom kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub name: String,
    /// `string`, `date`, `integer`, …
    pub kind: String,
    /// OpenAPI format, mostly empty.
    pub format: String,
    /// What it is for.
    pub description: String,
    /// Above zero: only in wide output.
    pub priority: i64,
    /// Where the cell's value is.
    pub json_path: String,
}

/// One resource in one version.
#[derive(Clone, Debug)]
pub struct Resource {
    /// API group; empty for the core.
    pub group: String,
    /// Version.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Kind of its lists.
    pub list_kind: String,
    /// Plural name, as in paths.
    pub plural: String,
    /// Singular name.
    pub singular: String,
    /// Short names for kubectl.
    pub short_names: Vec<String>,
    /// Categories, as in `kubectl get all`.
    pub categories: Vec<String>,
    /// Objects live in a namespace.
    pub namespaced: bool,
    /// The store's bucket; versions of one kind share it.
    pub bucket: String,
    /// Defined by a CustomResourceDefinition.
    pub custom: bool,
    /// Has a `/status` subresource.
    pub status: bool,
    /// The server counts spec changes in `metadata.generation`.
    pub generation: bool,
    /// PUT creates what is missing.
    pub create_on_update: bool,
    /// DELETE answers the object and not a Status.
    pub returns_deleted: bool,
    /// Objects are stored; otherwise the kind is a question that is answered by a POST.
    pub stored: bool,
    /// Further subresources: name, kind, verbs.
    pub subresources: Vec<(String, String, Vec<String>)>,
    /// Printer columns of a custom kind.
    pub columns: Vec<Column>,
    /// OpenAPI schema of a custom kind.
    pub schema: Option<Arc<Value>>,
    /// The version in which objects of the kind are stored.
    pub storage_version: String,
}

impl Resource {
    /// `group/version`, or `v1` for the core.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `plural.group`, or the plural for the core.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// The `details` of a Status about an object, or about the kind when the name is empty.
    pub fn details(&self, name: &str) -> Value {
        let mut details = Map::new();
        for (key, value) in [
            ("name", name),
            ("group", self.group.as_str()),
            ("kind", self.plural.as_str()),
        ] {
            if !value.is_empty() {
                details.insert(key.into(), value.into());
            }
        }
        Value::Object(details)
    }

    /// The verbs of the resource itself.
    pub fn verbs(&self) -> Vec<&'static str> {
        match (self.stored, self.plural.as_str()) {
            (false, _) => vec!["create"],
            (true, "namespaces") => vec!["create", "delete", "get", "list", "patch", "update", "watch"],
            _ => vec![
                "create",
                "delete",
                "deletecollection",
                "get",
                "list",
                "patch",
                "update",
                "watch",
            ],
        }
    }

    fn is_builtin(&self, group: &str, kind: &str) -> bool {
        !self.custom && self.group == group && self.kind == kind
    }

    /// The core kind of this name.
    pub fn is_core(&self, kind: &str) -> bool {
        self.is_builtin("", kind)
    }
}

/// All resources.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    resources: Vec<Arc<Resource>>,
    /// The index of OpenAPI documents, which takes a while to compute.
    index: OnceLock<Value>,
}

impl Registry {
    /// The built-in kinds and those of the given definitions.
    pub fn new<'a>(definitions: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut registry = Self {
            resources: builtin::resources().into_iter().map(Arc::new).collect(),
            index: OnceLock::new(),
        };
        for definition in definitions {
            registry.define(definition);
        }
        registry
    }

    /// Takes up a CustomResourceDefinition in place of an earlier one of the same name.
    pub fn define(&mut self, definition: &Value) {
        self.index = OnceLock::new();
        let bucket = format!(
            "{}.{}",
            text(definition, &["spec", "names", "plural"]),
            text(definition, &["spec", "group"])
        );
        self.resources
            .retain(|known| !(known.custom && known.bucket == bucket));
        self.resources
            .extend(custom_resources(definition).into_iter().map(Arc::new));
    }

    /// Drops the kinds of a CustomResourceDefinition.
    pub fn forget(&mut self, definition: &Value) {
        self.index = OnceLock::new();
        let name = text(definition, &["metadata", "name"]);
        self.resources
            .retain(|known| !(known.custom && known.bucket == name));
    }

    /// The index of OpenAPI documents, computed once.
    pub(crate) fn openapi_index(&self, compute: impl FnOnce(&Self) -> Value) -> &Value {
        self.index.get_or_init(|| compute(self))
    }

    /// All of them, in order of declaration.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.resources.iter()
    }

    /// The resource behind a path.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.resources
            .iter()
            .find(|known| known.group == group && known.version == version && known.plural == plural)
    }

    /// The resource of a kind, as owner references name it; another version of the group will do.
    pub fn find_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Resource>> {
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        self.resources
            .iter()
            .find(|known| known.kind == kind && known.api_version() == api_version)
            .or_else(|| {
                self.resources
                    .iter()
                    .find(|known| known.kind == kind && known.group == group)
            })
    }

    /// Groups with their versions, the preferred version first; the core is not among them.
    pub fn groups(&self) -> Vec<(String, Vec<String>)> {
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for known in self.resources.iter().filter(|known| !known.group.is_empty()) {
            if !groups.iter().any(|(name, _)| *name == known.group) {
                groups.push((known.group.clone(), Vec::new()));
            }
            for (name, versions) in &mut groups {
                if *name == known.group && !versions.contains(&known.version) {
                    versions.push(known.version.clone());
                }
            }
        }
        for (_, versions) in &mut groups {
            versions.sort_by_key(|version| std::cmp::Reverse(version_rank(version)));
        }
        groups
    }

    /// One resource for each bucket of namespaced objects.
    pub fn namespaced_buckets(&self) -> BTreeMap<String, Arc<Resource>> {
        self.by_bucket(|known| known.namespaced)
    }

    /// One resource for each bucket, in the version that is stored.
    pub fn buckets(&self) -> BTreeMap<String, Arc<Resource>> {
        self.by_bucket(|_| true)
    }

    fn by_bucket(&self, wanted: impl Fn(&Resource) -> bool) -> BTreeMap<String, Arc<Resource>> {
        let mut found = BTreeMap::new();
        for known in self
            .resources
            .iter()
            .filter(|known| known.stored && wanted(known))
        {
            if known.version == known.storage_version || !found.contains_key(&known.bucket) {
                found.insert(known.bucket.clone(), Arc::clone(known));
            }
        }
        found
    }
}

/// Kubernetes' order of versions: stable before beta before alpha, then by number.
fn version_rank(version: &str) -> (u8, u64, u64) {
    let rest = version.trim_start_matches('v');
    let number = |text: &str| text.parse().unwrap_or(0);
    if let Some((major, minor)) = rest.split_once("beta") {
        (1, number(major), number(minor))
    } else if let Some((major, minor)) = rest.split_once("alpha") {
        (0, number(major), number(minor))
    } else {
        (2, number(rest), 0)
    }
}

fn words(value: &Value, path: &[&str]) -> Vec<String> {
    list(value, path)
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn custom_resources(definition: &Value) -> Vec<Resource> {
    let spec = definition.get("spec").cloned().unwrap_or_default();
    let group = text(&spec, &["group"]).to_owned();
    let plural = text(&spec, &["names", "plural"]).to_owned();
    let kind = text(&spec, &["names", "kind"]).to_owned();
    let list_kind = match text(&spec, &["names", "listKind"]) {
        "" => format!("{kind}List"),
        given => given.to_owned(),
    };
    let singular = match text(&spec, &["names", "singular"]) {
        "" => kind.to_lowercase(),
        given => given.to_owned(),
    };
    let versions = list(&spec, &["versions"]);
    let storage_version = versions
        .iter()
        .find(|version| version.get("storage").and_then(Value::as_bool) == Some(true))
        .map_or("v1", |version| text(version, &["name"]))
        .to_owned();
    versions
        .iter()
        .filter(|version| version.get("served").and_then(Value::as_bool) != Some(false))
        .map(|version| Resource {
            group: group.clone(),
            version: text(version, &["name"]).to_owned(),
            kind: kind.clone(),
            list_kind: list_kind.clone(),
            plural: plural.clone(),
            singular: singular.clone(),
            short_names: words(&spec, &["names", "shortNames"]),
            categories: words(&spec, &["names", "categories"]),
            namespaced: text(&spec, &["scope"]) != "Cluster",
            bucket: format!("{plural}.{group}"),
            custom: true,
            status: at(version, &["subresources", "status"]).is_some(),
            generation: true,
            create_on_update: false,
            returns_deleted: false,
            stored: true,
            subresources: Vec::new(),
            columns: list(version, &["additionalPrinterColumns"])
                .iter()
                .map(column)
                .collect(),
            schema: at(version, &["schema", "openAPIV3Schema"]).map(|schema| Arc::new(schema.clone())),
            storage_version: storage_version.clone(),
        })
        .collect()
}

fn column(value: &Value) -> Column {
    Column {
        name: text(value, &["name"]).to_owned(),
        kind: text(value, &["type"]).to_owned(),
        format: text(value, &["format"]).to_owned(),
        description: text(value, &["description"]).to_owned(),
        priority: value.get("priority").and_then(Value::as_i64).unwrap_or(0),
        json_path: text(value, &["jsonPath"]).to_owned(),
    }
}

/// `APIResource` entries of a resource and its subresources.
pub(crate) fn api_resources(resource: &Resource) -> Vec<Value> {
    let mut own = json!({
        "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
        "kind": resource.kind, "verbs": resource.verbs(),
    });
    if let Some(map) = own.as_object_mut() {
        if !resource.short_names.is_empty() {
            map.insert("shortNames".into(), json!(resource.short_names));
        }
        if !resource.categories.is_empty() {
            map.insert("categories".into(), json!(resource.categories));
        }
    }
    let mut entries = vec![own];
    for (name, kind, verbs) in subresources(resource) {
        let mut entry = json!({
            "name": format!("{}/{name}", resource.plural), "singularName": "",
            "namespaced": resource.namespaced, "kind": kind, "verbs": verbs,
        });
        if let (Some((group, version)), Some(map)) = (foreign_group(&kind), entry.as_object_mut()) {
            map.insert("group".into(), group.into());
            map.insert("version".into(), version.into());
        }
        entries.push(entry);
    }
    entries
}

/// The subresources with `status` first.
pub(crate) fn subresources(resource: &Resource) -> Vec<(String, String, Vec<String>)> {
    let mut all = Vec::new();
    if resource.status {
        let verbs = ["get", "patch", "update"].map(str::to_owned).to_vec();
        all.push(("status".to_owned(), resource.kind.clone(), verbs));
    }
    all.extend(resource.subresources.iter().cloned());
    all
}

/// Group and version of a subresource's kind that is at home elsewhere.
pub(crate) fn foreign_group(kind: &str) -> Option<(&'static str, &'static str)> {
    match kind {
        "TokenRequest" => Some(("authentication.k8s.io", "v1")),
        "Eviction" => Some(("policy", "v1")),
        "Scale" => Some(("autoscaling", "v1")),
        _ => None,
    }
}
