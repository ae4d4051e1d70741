//! Replays golden traces of TaskRuns against the pure reconciler over an in-memory cluster.
//!
//! A case drives one namespace through stages; after each the objects, events, error and requeue are
//! compared. Schema of the cases: `tests/golden/README.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use tekton_api::config::Config;
use tekton_api::duration::Duration;
use tekton_api::v1::TaskRun;

use super::compare;
use crate::image_config::{ImageConfig, Platform};
use crate::images::Images;
use crate::memory::{InjectedFailure, MemoryCluster};
use crate::plan::{ApiFailure, ObjectRef, Pass, PassInput, ReconcileError};
use crate::taskrun::reconcile;

const NAMESPACE: &str = "work";
/// A stage that has not settled after so many rounds is taken as it is.
const MOST_ROUNDS: usize = 6;
const KINDS: [(&str, &str); 4] = [
    ("taskRuns", "TaskRun"),
    ("pods", "Pod"),
    ("pvcs", "PersistentVolumeClaim"),
    ("resolutionRequests", "ResolutionRequest"),
];

/// Runs one case; the error is a readable list of differences.
pub fn check(case: &Value) -> Result<(), String> {
    let mut world = World::new(case)?;
    let snapshots = case
        .pointer("/expected/snapshots")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let events = case
        .pointer("/input/events")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let mut expected = Expected::default();
    for (index, snapshot) in snapshots.iter().enumerate() {
        if let Some(event) = index.checked_sub(1).and_then(|index| events.get(index)) {
            world.apply(event)?;
        }
        let stage = world.settle()?;
        expected.advance(snapshot);
        let mut differences = String::new();
        world.compare(&expected, snapshot, &stage, &mut differences);
        if !differences.is_empty() {
            return Err(format!(
                "after {}:\n{differences}",
                snapshot["after"].as_str().unwrap_or_default()
            ));
        }
    }
    Ok(())
}

/// What a stage produced besides objects.
#[derive(Default)]
struct Stage {
    events: Vec<String>,
    error: Option<String>,
    requeue: Option<String>,
}

/// The expected objects so far; snapshots only tell what changed.
#[derive(Default)]
struct Expected(BTreeMap<&'static str, Map<String, Value>>);

impl Expected {
    fn advance(&mut self, snapshot: &Value) {
        for (section, _) in KINDS {
            let before = self.0.remove(section).unwrap_or_default();
            let now = snapshot
                .get(section)
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default();
            let now = now.into_iter().map(|(name, object)| {
                let object = match object {
                    Value::String(_) => before.get(&name).cloned().unwrap_or_default(),
                    other => other,
                };
                (name, object)
            });
            self.0.insert(section, now.collect());
        }
    }
}

struct World {
    cluster: MemoryCluster,
    config: Config,
    images: Images,
    start: Timestamp,
    first: String,
    keep_feature_flags: bool,
}

impl World {
    fn new(case: &Value) -> Result<Self, String> {
        let input = case.get("input").ok_or("no input")?;
        let start: Timestamp = text(input, "now")
            .parse()
            .map_err(|error| format!("now: {error}"))?;
        let maps: BTreeMap<String, BTreeMap<String, String>> = match input.get("config") {
            Some(config) => {
                serde_json::from_value(config.clone()).map_err(|error| format!("config: {error}"))?
            }
            None => BTreeMap::new(),
        };
        let config = Config::from_config_maps(&maps).map_err(|error| format!("config: {error}"))?;
        let mut cluster = MemoryCluster::new(start);
        cluster.assign_uids = false;
        let version = text(input, "kubernetesVersion");
        let (major, minor) = version.split_once('.').unwrap_or(("1", version));
        cluster.version = (major.to_owned(), minor.to_owned());
        cluster.images = images(input);
        cluster.failures = failures(input);
        let objects = list(input, "objects");
        for object in objects {
            cluster.insert(object.clone());
        }
        let first = objects
            .iter()
            .find(|object| object["kind"] == "TaskRun")
            .ok_or("no TaskRun")?;
        let first = text(&first["metadata"], "name").to_owned();
        let keep_feature_flags = text(case, "id").contains("provenance-");
        Ok(Self {
            cluster,
            config,
            images: example_images(),
            start,
            first,
            keep_feature_flags,
        })
    }

    fn run_ref(&self) -> ObjectRef {
        ObjectRef::new("tekton.dev/v1", "TaskRun", NAMESPACE, &self.first)
    }

    fn pod_name(&self) -> String {
        let run = self.cluster.object(&self.run_ref());
        run.and_then(|run| run.pointer("/status/podName"))
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    }

    fn apply(&mut self, event: &Value) -> Result<(), String> {
        if let Some(at) = event.get("at").and_then(Value::as_str) {
            let offset: Duration = at.parse().map_err(|error| format!("at {at}: {error}"))?;
            self.cluster.now = self
                .start
                .checked_add(SignedDuration::from(offset))
                .map_err(|error| error.to_string())?;
        }
        let pod = ObjectRef::new("v1", "Pod", NAMESPACE, self.pod_name());
        for (container, log) in event
            .get("podLogs")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let log = log.as_str().unwrap_or_default().to_owned();
            self.cluster
                .logs
                .insert((pod.name.clone(), container.clone()), log);
        }
        if let Some(name) = event.get("pod").and_then(Value::as_str) {
            let target = if name == "$POD" {
                pod.clone()
            } else {
                ObjectRef {
                    name: name.to_owned(),
                    ..pod.clone()
                }
            };
            let object = self
                .cluster
                .object_mut(&target)
                .ok_or_else(|| format!("no pod {}", target.name))?;
            if let Some(containers) = object
                .pointer_mut("/spec/containers")
                .and_then(Value::as_array_mut)
            {
                containers.extend(list(event, "injectContainers").iter().cloned());
            }
            object["status"] = event["status"].clone();
        }
        if event.get("deletePod").is_some() {
            self.cluster.remove(&pod);
        }
        if let Some(patch) = event.get("patchTaskRun") {
            let target = self.run_ref();
            json_patch::merge(self.cluster.object_mut(&target).ok_or("no TaskRun")?, patch);
        }
        if let Some(patch) = event.get("resolutionRequest") {
            let request = self
                .cluster
                .of_kind("ResolutionRequest")
                .first()
                .map(|object| ObjectRef::of(object));
            let target = request.ok_or("no ResolutionRequest")?;
            json_patch::merge(
                self.cluster.object_mut(&target).ok_or("no ResolutionRequest")?,
                patch,
            );
        }
        for object in list(event, "create") {
            self.cluster.insert(object.clone());
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<Stage, String> {
        let mut stage = Stage::default();
        let mut before: Option<Vec<Value>> = None;
        for _ in 0..MOST_ROUNDS {
            stage.requeue = None;
            let runs: Vec<ObjectRef> = self
                .cluster
                .of_kind("TaskRun")
                .into_iter()
                .map(ObjectRef::of)
                .collect();
            for run in runs {
                self.round(&run, &mut stage)?;
            }
            let state: Vec<Value> = self.cluster.objects().into_iter().cloned().collect();
            if before.as_ref() == Some(&state) {
                break;
            }
            before = Some(state);
        }
        Ok(stage)
    }

    fn round(&mut self, target: &ObjectRef, stage: &mut Stage) -> Result<(), String> {
        let stored = self
            .cluster
            .object(target)
            .cloned()
            .ok_or("the TaskRun is gone")?;
        let run: TaskRun = serde_json::from_value(stored).map_err(|error| format!("TaskRun: {error}"))?;
        let input = PassInput {
            config: &self.config,
            images: &self.images,
            now: self.cluster.now,
            suffix: "abcde",
        };
        let pass = self.cluster.run(|answers| reconcile(&run, &input, answers));
        stage.events.extend(pass.events.iter().map(ToString::to_string));
        stage.requeue = pass.requeue.map(|after| Duration::from(after).to_string());
        if stage.error.is_none() {
            stage.error = pass.error.as_ref().map(|error| match error {
                ReconcileError::Permanent(message) => format!("permanent: {message}"),
                ReconcileError::Transient(message) => format!("transient: {message}"),
            });
        }
        self.store(target, pass)
    }

    fn store(&mut self, target: &ObjectRef, pass: Pass<tekton_api::v1::TaskRunStatus>) -> Result<(), String> {
        let object = self.cluster.object_mut(target).ok_or("the TaskRun is gone")?;
        let metadata = json!({"labels": pass.labels.unwrap_or_default(), "annotations": pass.annotations.unwrap_or_default()});
        json_patch::merge(object, &json!({"metadata": metadata}));
        if let Some(status) = pass.status {
            object["status"] = serde_json::to_value(status).map_err(|error| format!("status: {error}"))?;
        }
        Ok(())
    }

    fn compare(&self, expected: &Expected, snapshot: &Value, stage: &Stage, out: &mut String) {
        for (section, kind) in KINDS {
            let wanted = expected.0.get(section).cloned().unwrap_or_default();
            let present: Map<String, Value> = self
                .cluster
                .of_kind(kind)
                .into_iter()
                .map(|object| (ObjectRef::of(object).name, object.clone()))
                .collect();
            let wanted = self.normal(Value::Object(wanted), kind);
            let present = self.normal(Value::Object(present), kind);
            compare::json(section, &wanted, &present, out);
        }
        let events: Vec<Value> = stage.events.iter().map(|event| json!(event)).collect();
        compare::json(
            "events",
            &compare::normal(snapshot["events"].clone()),
            &compare::normal(Value::Array(events)),
            out,
        );
        compare::json("error", &snapshot["error"], &json!(stage.error), out);
        if snapshot["requeueAfter"] != json!(stage.requeue) {
            let _ = writeln!(
                out,
                "requeueAfter: expected {}, got {:?}",
                snapshot["requeueAfter"], stage.requeue
            );
        }
    }

    fn normal(&self, mut objects: Value, kind: &str) -> Value {
        for object in objects.as_object_mut().into_iter().flat_map(Map::values_mut) {
            if kind != "TaskRun"
                && let Some(members) = object.as_object_mut()
            {
                members.remove("status");
            }
            if !self.keep_feature_flags {
                drop_feature_flags(object.pointer_mut("/status"));
            }
        }
        compare::normal(objects)
    }
}

fn drop_feature_flags(status: Option<&mut Value>) {
    let Some(status) = status else { return };
    if let Some(provenance) = status.get_mut("provenance").and_then(Value::as_object_mut) {
        provenance.remove("featureFlags");
    }
    for attempt in status
        .get_mut("retriesStatus")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        drop_feature_flags(Some(attempt));
    }
}

fn example_images() -> Images {
    let named = |name: &str| format!("img.example/{name}:v1");
    Images {
        entrypoint: named("entrypoint"),
        nop: named("nop"),
        shell: named("shell"),
        shell_win: named("shell-win"),
        sidecar_log_results: named("sidecarlogresults"),
        working_dir_init: named("workingdirinit"),
    }
}

fn images(input: &Value) -> BTreeMap<String, Result<ImageConfig, String>> {
    let configs = input
        .get("imageConfigs")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    configs
        .map(|(name, given)| {
            if let Some(error) = given.get("error").and_then(Value::as_str) {
                return (name.clone(), Err(error.to_owned()));
            }
            let platforms = match given.get("platforms") {
                Some(platforms) => serde_json::from_value(platforms.clone()),
                None => serde_json::from_value::<Platform>(given.clone()).map(|platform| vec![platform]),
            };
            let config = ImageConfig {
                digest: text(given, "digest").to_owned(),
                platforms: platforms.unwrap_or_default(),
            };
            (name.clone(), Ok(config))
        })
        .collect()
}

fn failures(input: &Value) -> Vec<InjectedFailure> {
    list(input, "apiErrors")
        .iter()
        .map(|given| InjectedFailure {
            verb: text(given, "verb").to_owned(),
            resource: text(given, "resource").to_owned(),
            times: given["times"]
                .as_u64()
                .and_then(|times| usize::try_from(times).ok())
                .unwrap_or_default(),
            failure: ApiFailure::from_status(&given["status"]),
        })
        .collect()
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object
        .get(key)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}
