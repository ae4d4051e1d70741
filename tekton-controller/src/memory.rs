//! A cluster held in maps: answers the questions of a pass without a server.
//!
//! It stores what it is given, without admission or schema checks, and makes reproducible uids. It serves
//! the golden cases, the property tests and authors who want to see what a run would create; the
//! embedded mode has a real API instead (`tekton-local`).

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::image_config::ImageConfig;
use crate::plan::{Answer, Answers, ApiFailure, Ask, ObjectRef, Patch, Waiting};

/// A failure that the next matching calls get instead of an answer.
#[derive(Clone, Debug)]
pub struct InjectedFailure {
    /// `get`, `list`, `create`, `update`, `patch`, `delete`
    pub verb: String,
    /// Lower-case plural of the kind: `pods`.
    pub resource: String,
    /// How many calls still fail.
    pub times: usize,
    /// What they get.
    pub failure: ApiFailure,
}

/// Objects, logs and images, with a clock that is set by hand.
#[derive(Clone, Debug)]
pub struct MemoryCluster {
    /// Time of the cluster; given to new objects as their creation time.
    pub now: Timestamp,
    /// Gives `uid-NAME` and a creation time to new objects that have none.
    pub assign_uids: bool,
    /// Failures to come.
    pub failures: Vec<InjectedFailure>,
    /// Answers of the image registry by reference.
    pub images: BTreeMap<String, Result<ImageConfig, String>>,
    /// Logs by (pod, container).
    pub logs: BTreeMap<(String, String), String>,
    /// Version of the server.
    pub version: (String, String),
    /// Writes that took place, as [`Ask::key`]s, for tests that count them.
    pub writes: Vec<String>,
    objects: BTreeMap<ObjectRef, (u64, Value)>,
    counter: u64,
}

impl MemoryCluster {
    /// An empty cluster.
    pub fn new(now: Timestamp) -> Self {
        Self {
            now,
            assign_uids: true,
            failures: Vec::new(),
            images: BTreeMap::new(),
            logs: BTreeMap::new(),
            version: ("1".to_owned(), "36".to_owned()),
            writes: Vec::new(),
            objects: BTreeMap::new(),
            counter: 0,
        }
    }

    /// Stores an object as given, replacing one of the same name; fills in a missing uid and creation time.
    pub fn insert(&mut self, mut object: Value) -> ObjectRef {
        let target = ObjectRef::of(&object);
        let (uid, now) = (format!("uid-{}", target.name), self.now.to_string());
        if let Some(metadata) = members(&mut object, "metadata") {
            if self.assign_uids {
                metadata.entry("uid").or_insert_with(|| json!(uid));
            }
            if self.assign_uids && metadata.get("creationTimestamp").is_none_or(Value::is_null) {
                metadata.insert("creationTimestamp".to_owned(), json!(now));
            }
        }
        let order = self
            .objects
            .get(&target)
            .map_or(self.counter, |(order, _)| *order);
        self.counter += 1;
        self.objects.insert(target.clone(), (order, object));
        target
    }

    /// An object, if it is there.
    pub fn object(&self, target: &ObjectRef) -> Option<&Value> {
        self.objects.get(target).map(|(_, object)| object)
    }

    /// An object to be changed in place.
    pub fn object_mut(&mut self, target: &ObjectRef) -> Option<&mut Value> {
        self.objects.get_mut(target).map(|(_, object)| object)
    }

    /// Removes an object.
    pub fn remove(&mut self, target: &ObjectRef) -> Option<Value> {
        self.objects.remove(target).map(|(_, object)| object)
    }

    /// All objects in order of creation.
    pub fn objects(&self) -> Vec<&Value> {
        let mut all: Vec<&(u64, Value)> = self.objects.values().collect();
        all.sort_by_key(|(order, _)| *order);
        all.into_iter().map(|(_, object)| object).collect()
    }

    /// All objects of a kind (any API version) in order of creation.
    pub fn of_kind(&self, kind: &str) -> Vec<&Value> {
        self.objects()
            .into_iter()
            .filter(|object| object.get("kind").and_then(Value::as_str) == Some(kind))
            .collect()
    }

    /// Runs a pass until it waits for nothing more.
    pub fn run<T>(&mut self, mut pass: impl FnMut(&Answers) -> Result<T, Waiting>) -> T {
        let mut answers = Answers::new();
        loop {
            match pass(&answers) {
                Ok(done) => return done,
                Err(Waiting(asks)) => {
                    for ask in asks {
                        let answer = self.answer(&ask);
                        answers.insert(&ask, answer);
                    }
                }
            }
        }
    }

    /// Answers one question, carrying it out if it is a write.
    pub fn answer(&mut self, ask: &Ask) -> Answer {
        if let Ask::Again { ask, .. } = ask {
            return self.answer(ask);
        }
        if let Some(failure) = self.injected(ask) {
            return Err(failure);
        }
        if ask.is_write() {
            self.writes.push(ask.key());
        }
        match ask {
            Ask::Get(target) | Ask::Cached(target) => {
                self.object(target).cloned().ok_or_else(|| not_found(target))
            }
            Ask::List {
                api_version,
                kind,
                namespace,
                labels,
            } => Ok(Value::Array(self.list(api_version, kind, namespace, labels))),
            Ask::Create {
                object,
                dry_run: true,
            } => Ok(object.clone()),
            Ask::Create {
                object,
                dry_run: false,
            } => {
                let target = ObjectRef::of(object);
                if self.objects.contains_key(&target) {
                    return Err(already_exists(&target));
                }
                self.insert(object.clone());
                self.object(&target).cloned().ok_or_else(|| not_found(&target))
            }
            Ask::Update { object } => {
                let target = ObjectRef::of(object);
                let stored = self.object_mut(&target).ok_or_else(|| not_found(&target))?;
                stored.clone_from(object);
                Ok(object.clone())
            }
            Ask::Patch { target, patch, .. } => {
                let stored = self.object_mut(target).ok_or_else(|| not_found(target))?;
                apply(stored, patch)?;
                Ok(stored.clone())
            }
            Ask::Delete(target) => self
                .remove(target)
                .map(|_| Value::Null)
                .ok_or_else(|| not_found(target)),
            Ask::ImageConfig { image, .. } => match self.images.get(image) {
                Some(Ok(config)) => {
                    serde_json::to_value(config).map_err(|error| plain_failure(&error.to_string()))
                }
                Some(Err(text)) => Err(plain_failure(text)),
                None => Err(plain_failure(&format!("no such image: {image}"))),
            },
            Ask::PodLog { pod, container, .. } => {
                let log = self.logs.get(&(pod.clone(), container.clone()));
                Ok(Value::String(log.cloned().unwrap_or_default()))
            }
            Ask::Again { ask, .. } => self.answer(ask),
            Ask::ServerVersion => Ok(json!({"major": self.version.0, "minor": self.version.1})),
        }
    }

    fn list(&self, api_version: &str, kind: &str, namespace: &str, labels: &str) -> Vec<Value> {
        let wanted: Vec<(&str, &str)> = labels
            .split(',')
            .filter_map(|term| term.split_once('='))
            .collect();
        let matches = |object: &Value| {
            let target = ObjectRef::of(object);
            let label = |key: &str| {
                object
                    .pointer("/metadata/labels")?
                    .get(key)
                    .and_then(Value::as_str)
                    .map(str::to_owned)
            };
            target.api_version == api_version
                && target.kind == kind
                && (namespace.is_empty() || target.namespace == namespace)
                && wanted
                    .iter()
                    .all(|(key, value)| label(key).as_deref() == Some(*value))
        };
        self.objects()
            .into_iter()
            .filter(|object| matches(object))
            .cloned()
            .collect()
    }

    fn injected(&mut self, ask: &Ask) -> Option<ApiFailure> {
        let (verb, kind) = match ask {
            Ask::Again { ask, .. } => return self.injected(ask),
            Ask::Get(target) => ("get", target.kind.clone()),
            Ask::Create { object, .. } => ("create", ObjectRef::of(object).kind),
            Ask::Update { object } => ("update", ObjectRef::of(object).kind),
            Ask::Patch { target, .. } => ("patch", target.kind.clone()),
            Ask::Delete(target) => ("delete", target.kind.clone()),
            // Reads from a cache and lists do not reach the server in a controller that watches.
            Ask::Cached(_)
            | Ask::List { .. }
            | Ask::ImageConfig { .. }
            | Ask::PodLog { .. }
            | Ask::ServerVersion => return None,
        };
        let resource = resource_of(&kind);
        let due = |failure: &&mut InjectedFailure| {
            failure.times > 0 && failure.verb == verb && failure.resource == resource
        };
        let failure = self.failures.iter_mut().find(due)?;
        failure.times -= 1;
        Some(failure.failure.clone())
    }
}

/// Plural resource name of a kind, lower case.
pub fn resource_of(kind: &str) -> String {
    let lower = kind.to_lowercase();
    match lower.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if lower.ends_with('s') => format!("{lower}es"),
        None => format!("{lower}s"),
    }
}

fn members<'a>(object: &'a mut Value, key: &str) -> Option<&'a mut Map<String, Value>> {
    object
        .as_object_mut()?
        .entry(key)
        .or_insert_with(|| json!({}))
        .as_object_mut()
}

fn apply(object: &mut Value, patch: &Patch) -> Result<(), ApiFailure> {
    match patch {
        Patch::Merge(body) => {
            json_patch::merge(object, body);
            Ok(())
        }
        Patch::Json(body) => {
            let mut body = body.clone();
            soften_replace(object, &mut body);
            let operations: json_patch::Patch =
                serde_json::from_value(body).map_err(|error| plain_failure(&error.to_string()))?;
            json_patch::patch(object, &operations).map_err(|error| plain_failure(&error.to_string()))
        }
    }
}

/// The API server lets `replace` add a missing key to an existing object; RFC 6902 does not.
fn soften_replace(object: &Value, operations: &mut Value) {
    for operation in operations.as_array_mut().into_iter().flatten() {
        let path = operation["path"].as_str().unwrap_or_default().to_owned();
        if operation["op"] == "replace" && object.pointer(&path).is_none() {
            operation["op"] = json!("add");
        }
    }
}

fn group_resource(target: &ObjectRef) -> String {
    let resource = resource_of(&target.kind);
    match target.api_version.split_once('/') {
        Some((group, _)) => format!("{resource}.{group}"),
        None => resource,
    }
}

fn not_found(target: &ObjectRef) -> ApiFailure {
    ApiFailure {
        code: 404,
        reason: "NotFound".to_owned(),
        message: format!("{} \"{}\" not found", group_resource(target), target.name),
        details: json!({"name": target.name, "kind": resource_of(&target.kind)}),
    }
}

fn already_exists(target: &ObjectRef) -> ApiFailure {
    ApiFailure {
        code: 409,
        reason: "AlreadyExists".to_owned(),
        message: format!("{} \"{}\" already exists", group_resource(target), target.name),
        details: json!({"name": target.name, "kind": resource_of(&target.kind)}),
    }
}

fn plain_failure(message: &str) -> ApiFailure {
    ApiFailure {
        code: 0,
        reason: String::new(),
        message: message.to_owned(),
        details: Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_run_again_until_it_has_its_answers() {
        let mut cluster = MemoryCluster::new(Timestamp::UNIX_EPOCH);
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}});
        let mut runs = 0;
        let stored = cluster.run(|answers| {
            runs += 1;
            answers.ask(Ask::Create {
                object: pod.clone(),
                dry_run: false,
            })?;
            answers
                .ask(Ask::Get(ObjectRef::new("v1", "Pod", "n", "p")))
                .cloned()
        });
        assert_eq!(stored.unwrap()["metadata"]["uid"], "uid-p");
        assert_eq!(runs, 3);
        let again = cluster
            .answer(&Ask::Create {
                object: pod,
                dry_run: false,
            })
            .unwrap_err();
        assert_eq!(again.message, "pods \"p\" already exists");
        assert!(again.is_already_exists());
    }

    #[test]
    fn replace_adds_a_missing_key() {
        let mut cluster = MemoryCluster::new(Timestamp::UNIX_EPOCH);
        let target = cluster.insert(json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "p", "namespace": "n", "annotations": {}}}));
        let patch =
            Patch::Json(json!([{"op": "replace", "path": "/metadata/annotations/ready", "value": "READY"}]));
        let pod = cluster
            .answer(&Ask::Patch {
                target,
                patch,
                subresource: None,
            })
            .unwrap();
        assert_eq!(pod["metadata"]["annotations"]["ready"], "READY");
    }
}
