//! The pods of the golden TaskRun traces, which are kept with the controller.
//!
//! Here the builder stands alone: the specification is the substituted one that the trace has in the
//! status, so traces in which the reconciler does more to the input are left to the controller's tests.

use std::path::PathBuf;

use serde_json::{Map, Value};
use tekton_api::testing::diff;
use tekton_api::v1::TaskRun;
use tekton_pod::{PodInput, build_pod, workspace};

use crate::support::{config, images, lookups, objects};

/// All traces.
fn cases() -> Vec<Value> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tekton-controller/tests/golden/taskrun");
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap())
        .collect()
}

#[test]
fn pods_are_those_of_the_traces() {
    let mut built = 0;
    let mut failures = Vec::new();
    for case in cases() {
        let first = &case["expected"]["snapshots"][0];
        for (name, expected) in first["pods"].as_object().into_iter().flatten() {
            let Some((stored, original)) = run_of(&case, first, expected) else {
                continue;
            };
            built += 1;
            if let Err(difference) = check(&case, &stored, &original, expected) {
                failures.push(format!("{} {name}\n{difference}", case["id"]));
            }
        }
    }
    assert!(built > 150, "only {built} pods were built");
    assert!(
        failures.is_empty(),
        "{} of {built} pods differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// The run of a pod as it is stored after the first stage and as it was given, if the builder alone can
/// make the pod of it.
fn run_of(case: &Value, snapshot: &Value, pod: &Value) -> Option<(TaskRun, TaskRun)> {
    let name = &pod["metadata"]["labels"]["tekton.dev/taskRun"];
    let stored: TaskRun = serde_json::from_value(snapshot["taskRuns"][name.as_str()?].clone()).ok()?;
    let original = objects(case, "TaskRun").find(|object| object["metadata"]["name"] == *name)?;
    let from_cluster =
        objects(case, "Pod").any(|object| object["metadata"]["name"] == pod["metadata"]["name"]);
    let spec = serde_json::to_string(stored.status.as_ref()?.task_spec.as_ref()?).unwrap();
    let bindings = serde_json::to_string(&stored.spec.workspaces).unwrap();
    let unfinished = [
        "$(params.",
        "$(context.",
        "$(workspaces.",
        "$(credentials.",
        "volumeClaimTemplate",
    ]
    .iter()
    .any(|text| spec.contains(text) || bindings.contains(text));
    let twice = original["spec"]["params"].to_string().contains("$(");
    (!from_cluster && !unfinished && !twice)
        .then(|| (stored, serde_json::from_value(original.clone()).unwrap()))
}

fn check(case: &Value, stored: &TaskRun, original: &TaskRun, expected: &Value) -> Result<(), String> {
    let mut run = original.clone();
    run.metadata.clone_from(&stored.metadata);
    let spec = stored
        .status
        .clone()
        .and_then(|status| status.task_spec)
        .unwrap_or_default();
    let spec = workspace::apply(spec, &run.spec.workspaces);
    let config = config(case);
    let pod = build_pod(&PodInput {
        run: &run,
        spec: &spec,
        pod_template: run.spec.pod_template.as_ref(),
        config: &config,
        images: &images(),
        lookups: &lookups(case, &run, &spec, &config),
        release: "RELEASE",
        suffix: "XXXXX",
    })
    .map_err(|error| error.to_string())?;
    diff::compare(
        &normalised(expected.clone()),
        &normalised(serde_json::to_value(pod).unwrap()),
    )
}

/// Without members that the API does not tell from absent ones, and without the bodies of debug scripts.
fn normalised(mut value: Value) -> Value {
    prune(&mut value);
    for container in value["spec"]["initContainers"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        if let Some(Value::String(script)) = container.pointer_mut("/args/1") {
            *script = without_debug_bodies(script);
        }
    }
    value
}

fn prune(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(prune);
            members.retain(|key, value| match value {
                Value::Null | Value::Bool(false) => false,
                Value::Array(items) => !items.is_empty(),
                Value::String(text) => !text.is_empty(),
                Value::Object(members) => {
                    !(members.is_empty() && matches!(key.as_str(), "resources" | "metadata"))
                }
                Value::Bool(true) | Value::Number(_) => true,
            });
        }
        Value::Array(items) => items.iter_mut().for_each(prune),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    if let Value::Object(members) = value {
        normalise_quantities(members);
    }
}

/// Quantities are compared by value; the traces have them in canonical form, inputs may not.
fn normalise_quantities(members: &mut Map<String, Value>) {
    for list in ["limits", "requests"] {
        let amounts = members.get_mut(list).and_then(Value::as_object_mut);
        for amount in amounts.into_iter().flat_map(|amounts| amounts.values_mut()) {
            if *amount == "1000m" {
                *amount = "1".into();
            }
        }
    }
}

fn without_debug_bodies(script: &str) -> String {
    let mut out = String::new();
    let mut end: Option<&str> = None;
    for line in script.split_inclusive('\n') {
        let text = line.trim_end_matches('\n');
        if end == Some(text) {
            end = None;
            out.push_str("<DEBUG-SCRIPT-BODY>\n");
        }
        if end.is_none() {
            out.push_str(line);
        }
        if text.contains("<< 'debug-") {
            end = text.split('\'').nth(1);
        }
    }
    out
}
