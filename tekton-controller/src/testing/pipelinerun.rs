//! Replays golden traces of PipelineRuns: stages of passes over an in-memory cluster, with events in between.
//!
//! Follows the schema and the rules of normalisation that come with the cases.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};
use tekton_api::config::Config;
use tekton_api::duration::Duration;
use tekton_api::labels;
use tekton_api::v1::PipelineRun;

use super::compare;
use crate::images::Images;
use crate::memory::MemoryCluster;
use crate::pipelinerun::reconcile;
use crate::plan::{ObjectRef, Pass, PassInput};

/// Most passes of a stage.
const MOST_PASSES: usize = 6;
/// Kinds of a snapshot, with the names under which they stand in it.
const GROUPS: [(&str, &str); 7] = [
    ("pipelineRuns", "PipelineRun"),
    ("taskRuns", "TaskRun"),
    ("customRuns", "CustomRun"),
    ("childPipelineRuns", "PipelineRun"),
    ("pvcs", "PersistentVolumeClaim"),
    ("statefulSets", "StatefulSet"),
    ("resolutionRequests", "ResolutionRequest"),
];
/// Members that are dropped when they are empty objects.
const EMPTY_OBJECTS: [&str; 10] = [
    "metadata",
    "spec",
    "status",
    "resources",
    "computeResources",
    "taskRunTemplate",
    "provenance",
    "data",
    "labels",
    "annotations",
];
/// Members that are dropped when they are empty strings.
const EMPTY_STRINGS: [&str; 5] = [
    "podName",
    "serviceName",
    "description",
    "data",
    "serviceAccountName",
];
/// Texts after which a message goes on in the words of a library.
const FOREIGN: [&str; 5] = [
    "Error evaluating CEL ",
    "no kind \"",
    "invalid runtime object: ",
    "Failed to validate matrix ",
    "parameters of type array only are allowed",
];

/// What a stage has shown.
#[derive(Default)]
struct Stage {
    events: Vec<String>,
    error: Option<(String, bool)>,
    requeue: Option<std::time::Duration>,
}

struct Trace {
    cluster: MemoryCluster,
    config: Config,
    images: Images,
    run: ObjectRef,
    start: Timestamp,
    with_children: bool,
}

/// Checks one case.
///
/// # Errors
/// The differences, a line each.
pub fn check(case: &Value) -> Result<(), String> {
    let mut trace = Trace::new(&case["input"])?;
    let mut out = String::new();
    let mut previous: Map<String, Value> = Map::new();
    let events = list(&case["input"], "events");
    for (index, snapshot) in list(&case["expected"], "snapshots").iter().enumerate() {
        if let Some(event) = index.checked_sub(1).and_then(|index| events.get(index)) {
            trace.apply(event)?;
        }
        let stage = trace.settle()?;
        trace.compare(index, snapshot, &stage, &mut previous, &mut out);
    }
    if out.is_empty() { Ok(()) } else { Err(out) }
}

impl Trace {
    fn new(input: &Value) -> Result<Self, String> {
        let start: Timestamp = text(input, "now")
            .parse()
            .map_err(|error| format!("now: {error}"))?;
        let maps: BTreeMap<String, BTreeMap<String, String>> =
            serde_json::from_value(input["config"].clone()).unwrap_or_default();
        let config = Config::from_config_maps(&maps).map_err(|error| error.to_string())?;
        let mut cluster = MemoryCluster::new(start);
        let mut run = None;
        for object in list(input, "objects") {
            let stored = cluster.insert(as_stored(object));
            run.get_or_insert(stored);
        }
        let named = |name: &str| format!("img.test/{name}:1");
        let images = Images {
            entrypoint: named("entrypoint"),
            nop: named("nop"),
            shell: named("shell"),
            shell_win: named("shell-win"),
            sidecar_log_results: named("sidecarlogresults"),
            working_dir_init: named("workingdirinit"),
        };
        let run = run.ok_or("no objects")?;
        let with_children = input["reconcileChildren"] == json!(true);
        Ok(Self {
            cluster,
            config,
            images,
            run,
            start,
            with_children,
        })
    }

    fn apply(&mut self, event: &Value) -> Result<(), String> {
        if let Some(at) = event["at"].as_str() {
            let at: Duration = at.parse().map_err(|error| format!("at: {error}"))?;
            let nanos = self.start.as_nanosecond() + i128::from(at.as_nanos());
            self.cluster.now = Timestamp::from_nanosecond(nanos).map_err(|error| error.to_string())?;
        }
        for step in list(event, "batch") {
            self.apply(step)?;
        }
        if let Some(object) = event.get("create") {
            self.cluster.insert(as_stored(object));
        } else if let Some(target) = event.get("delete") {
            let target = self.find(text(target, "kind"), text(target, "name"))?;
            self.cluster.remove(&target);
        } else if let Some(task) = event["deleteTask"].as_str() {
            let target = self.child_of(task, &event["index"])?;
            self.cluster.remove(&target);
        } else if let Some(patch) = event.get("patchPipelineRun") {
            let run = self.run.clone();
            self.merge(&run, patch)?;
        } else if let Some(patch) = event.get("patch") {
            let target = self.find(text(patch, "kind"), text(patch, "name"))?;
            self.merge(&target, &patch["patch"])?;
        } else if let Some(task) = event["task"].as_str() {
            let target = self.child_of(task, &event["index"])?;
            self.merge_parts(&target, event)?;
        } else if let Some(name) = event["child"].as_str() {
            let children = ["TaskRun", "CustomRun", "PipelineRun"];
            let target = children
                .iter()
                .find_map(|kind| self.find(kind, name).ok())
                .ok_or(format!("no child {name}"))?;
            self.merge_parts(&target, event)?;
        } else if let Some(number) = event["resolutionRequest"].as_u64() {
            self.answer(usize::try_from(number).unwrap_or_default(), event)?;
        }
        Ok(())
    }

    /// A resolver's answer to a request.
    fn answer(&mut self, number: usize, event: &Value) -> Result<(), String> {
        let requests = self.cluster.of_kind("ResolutionRequest");
        let target = requests
            .get(number)
            .map(|request| ObjectRef::of(request))
            .ok_or("no such request")?;
        let mut status = event["status"].clone();
        let content = event
            .get("content")
            .map(Value::to_string)
            .or_else(|| event["contentText"].as_str().map(str::to_owned));
        if let Some(content) = content {
            use base64::Engine as _;
            if !status.is_object() {
                status = json!({});
            }
            status["data"] = json!(base64::engine::general_purpose::STANDARD.encode(content));
        }
        self.merge(&target, &json!({"status": status}))
    }

    fn merge_parts(&mut self, target: &ObjectRef, event: &Value) -> Result<(), String> {
        for part in ["spec", "status"] {
            if let Some(patch) = event.get(part) {
                self.merge(target, &json!({part: patch}))?;
            }
        }
        Ok(())
    }

    fn merge(&mut self, target: &ObjectRef, patch: &Value) -> Result<(), String> {
        let object = self.cluster.object_mut(target).ok_or(format!("no {target}"))?;
        json_patch::merge(object, patch);
        Ok(())
    }

    fn find(&self, kind: &str, name: &str) -> Result<ObjectRef, String> {
        let found = self
            .cluster
            .of_kind(kind)
            .into_iter()
            .map(ObjectRef::of)
            .find(|target| target.name == name);
        found.ok_or(format!("no {kind} {name}"))
    }

    fn child_of(&self, task: &str, index: &Value) -> Result<ObjectRef, String> {
        let index = usize::try_from(index.as_u64().unwrap_or_default()).unwrap_or_default();
        let is_child = |object: &&&Value| {
            let label = |key: &str| object["metadata"]["labels"].get(key).and_then(Value::as_str);
            label(labels::PIPELINE_TASK) == Some(task) && label(labels::PIPELINE_RUN) == Some(&self.run.name)
        };
        let objects = self.cluster.objects();
        let child = objects.iter().filter(is_child).nth(index);
        child
            .map(|child| ObjectRef::of(child))
            .ok_or(format!("no child {index} of {task}"))
    }

    fn settle(&mut self) -> Result<Stage, String> {
        let mut stage = Stage::default();
        for pass in 0..MOST_PASSES {
            let before: Vec<Value> = self.cluster.objects().into_iter().cloned().collect();
            let run = self.run.clone();
            self.pass(&run, &mut stage, true)?;
            if self.with_children {
                let mut others: Vec<ObjectRef> = self
                    .cluster
                    .of_kind("PipelineRun")
                    .into_iter()
                    .map(ObjectRef::of)
                    .collect();
                others.retain(|other| *other != run);
                others.sort();
                for other in others {
                    self.pass(&other, &mut stage, false)?;
                }
            }
            let after: Vec<Value> = self.cluster.objects().into_iter().cloned().collect();
            if before == after && pass > 0 {
                break;
            }
        }
        Ok(stage)
    }

    fn pass(&mut self, target: &ObjectRef, stage: &mut Stage, is_under_test: bool) -> Result<(), String> {
        let Some(object) = self.cluster.object(target).cloned() else {
            return Ok(());
        };
        let seen: PipelineRun =
            serde_json::from_value(object).map_err(|error| format!("{target}: {error}"))?;
        let input = PassInput {
            config: &self.config,
            images: &self.images,
            now: self.cluster.now,
            suffix: "abcde",
        };
        let pass = self.cluster.run(|answers| reconcile(&seen, &input, answers));
        for event in &pass.events {
            let event = event.to_string();
            if !stage.events.contains(&event) {
                stage.events.push(event);
            }
        }
        if stage.error.is_none()
            && let Some(error) = &pass.error
        {
            stage.error = Some((error.to_string(), error.is_permanent()));
        }
        if is_under_test {
            stage.requeue = pass.requeue;
        }
        self.store(target, &pass)
    }

    fn store(
        &mut self,
        target: &ObjectRef,
        pass: &Pass<tekton_api::v1::PipelineRunStatus>,
    ) -> Result<(), String> {
        let object = self.cluster.object_mut(target).ok_or("the run is gone")?;
        if let Some(status) = &pass.status {
            object["status"] = serde_json::to_value(status).map_err(|error| error.to_string())?;
        }
        for (key, wanted) in [("labels", &pass.labels), ("annotations", &pass.annotations)] {
            let Some(wanted) = wanted else { continue };
            for (name, value) in wanted {
                object["metadata"][key][name] = json!(value);
            }
        }
        Ok(())
    }

    fn compare(
        &self,
        index: usize,
        snapshot: &Value,
        stage: &Stage,
        previous: &mut Map<String, Value>,
        out: &mut String,
    ) {
        for (group, kind) in GROUPS {
            let mut expected = match &snapshot[group] {
                Value::String(_) => previous.get(group).cloned().unwrap_or_default(),
                Value::Null => json!({}),
                other => other.clone(),
            };
            for (name, object) in expected.as_object_mut().into_iter().flatten() {
                if object.is_string() {
                    *object = previous[group][name.as_str()].clone();
                }
            }
            previous.insert(group.to_owned(), expected.clone());
            let mut actual = Map::new();
            for object in self.cluster.of_kind(kind) {
                let is_under_test = ObjectRef::of(object) == self.run;
                let belongs = match group {
                    "pipelineRuns" => is_under_test,
                    "childPipelineRuns" => !is_under_test,
                    _ => true,
                };
                if belongs {
                    actual.insert(ObjectRef::of(object).name, normal(object.clone(), kind));
                }
            }
            for object in expected.as_object_mut().into_iter().flat_map(Map::values_mut) {
                *object = normal(object.take(), kind);
            }
            difference(
                &format!("[{index}].{group}"),
                &expected,
                &Value::Object(actual),
                out,
            );
        }
        difference(
            &format!("[{index}].events"),
            &snapshot["events"],
            &json!(stage.events),
            out,
        );
        let error = stage.error.as_ref().map(|(text, _)| text.clone());
        difference(
            &format!("[{index}].error"),
            &snapshot["error"],
            &json!(error),
            out,
        );
        if let Some((_, permanent)) = &stage.error {
            let expected = snapshot.get("permanent").cloned().unwrap_or(json!(false));
            difference(&format!("[{index}].permanent"), &expected, &json!(permanent), out);
        }
        let requeue = stage.requeue.map(|after| Duration::from(after).to_string());
        difference(
            &format!("[{index}].requeueAfter"),
            &snapshot["requeueAfter"],
            &json!(requeue),
            out,
        );
    }
}

/// An object as typed clients write it: durations, say, have one spelling.
fn as_stored(object: &Value) -> Value {
    if object["kind"] != json!("PipelineRun") {
        return object.clone();
    }
    let typed = serde_json::from_value::<PipelineRun>(object.clone());
    typed
        .ok()
        .and_then(|run| serde_json::to_value(run).ok())
        .unwrap_or_else(|| object.clone())
}

/// Brings an object into the form in which it is compared.
fn normal(mut object: Value, kind: &str) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in [
            "uid",
            "resourceVersion",
            "managedFields",
            "generation",
            "creationTimestamp",
        ] {
            metadata.remove(key);
        }
    }
    if matches!(kind, "PersistentVolumeClaim" | "StatefulSet")
        && let Some(members) = object.as_object_mut()
    {
        members.remove("status");
    }
    pruned(compare::normal(object))
}

fn pruned(value: Value) -> Value {
    match value {
        Value::Array(list) => Value::Array(list.into_iter().map(pruned).collect()),
        Value::Object(members) => {
            let kept = members
                .into_iter()
                .map(|(key, value)| (key, pruned(value)))
                .filter(|(key, value)| match value {
                    Value::Null => false,
                    Value::Object(members) if members.is_empty() => {
                        !EMPTY_OBJECTS.contains(&key.as_str()) && key != "updateStrategy"
                    }
                    Value::String(text) if text.is_empty() => !EMPTY_STRINGS.contains(&key.as_str()),
                    _ => true,
                });
            Value::Object(kept.collect())
        }
        other => other,
    }
}

/// Writes down where two trees differ; texts that end in the words of a library are compared up to them.
fn difference(path: &str, expected: &Value, actual: &Value, out: &mut String) {
    match (expected, actual) {
        (Value::Object(wanted), Value::Object(present)) => {
            for (key, value) in wanted {
                match present.get(key) {
                    Some(actual) => difference(&format!("{path}.{key}"), value, actual, out),
                    None => {
                        let _ = writeln!(out, "{path}.{key}: missing, expected {value}");
                    }
                }
            }
            for (key, value) in present.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
                let _ = writeln!(out, "{path}.{key}: unexpected {value}");
            }
        }
        (Value::Array(wanted), Value::Array(present)) if wanted.len() == present.len() => {
            for (index, (wanted, present)) in wanted.iter().zip(present).enumerate() {
                difference(&format!("{path}[{index}]"), wanted, present, out);
            }
        }
        _ if expected == actual || same_up_to_foreign(expected, actual) => {}
        _ => {
            let _ = writeln!(out, "{path}:\n  expected {expected}\n  got      {actual}");
        }
    }
}

fn same_up_to_foreign(expected: &Value, actual: &Value) -> bool {
    let (Some(expected), Some(actual)) = (expected.as_str(), actual.as_str()) else {
        return false;
    };
    FOREIGN.iter().any(|marker| {
        let head = |text: &str| {
            text.find(marker)
                .and_then(|at| text.get(..at + marker.len()).map(str::to_owned))
        };
        head(expected).is_some_and(|wanted| head(actual) == Some(wanted))
    })
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object[key].as_str().unwrap_or_default()
}

fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object[key].as_array().map(Vec::as_slice).unwrap_or_default()
}
