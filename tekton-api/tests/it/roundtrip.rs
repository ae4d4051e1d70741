//! What Go writes is read and written again without a difference.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tekton_api::v1::{ParamValue, Pipeline, PipelineRun, Task, TaskRun};
use tekton_api::v1beta1::{CustomRun, StepAction};

fn rewritten<T: DeserializeOwned + Serialize>(value: &Value) -> Value {
    serde_json::to_value(serde_json::from_value::<T>(value.clone()).unwrap()).unwrap()
}

#[test]
fn always_written_members_appear() {
    let run = rewritten::<TaskRun>(
        &json!({"spec": {"taskSpec": {"steps": [{"image": "a", "script": "", "retries": null}]}}}),
    );
    assert_eq!(
        run,
        json!({
            "apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {},
            "spec": {"serviceAccountName": "", "taskSpec": {"steps": [{"name": "", "image": "a", "computeResources": {}}]}},
            "status": {"podName": ""},
        })
    );
    let run = rewritten::<PipelineRun>(&json!({"spec": {"params": null, "pipelineRef": {"name": "p"}}}));
    assert_eq!(
        run["spec"],
        json!({"pipelineRef": {"name": "p"}, "taskRunTemplate": {}})
    );
    assert_eq!(run["status"], json!({}));
    let run = rewritten::<CustomRun>(&json!({"spec": {"customSpec": {"kind": "Wait"}}}));
    assert_eq!(
        run["spec"]["customSpec"],
        json!({"kind": "Wait", "metadata": {}, "spec": null})
    );
    assert_eq!(run["status"], json!({"extraFields": null}));
}

#[test]
fn embedded_specs_keep_what_custom_tasks_are_told() {
    let task = json!({
        "apiVersion": "example.dev/v1", "kind": "Wait", "metadata": {},
        "spec": {"big": 12_345_678_901_234_567_890_u64, "list": [1, null]},
    });
    let pipeline = rewritten::<Pipeline>(&json!({"spec": {"tasks": [{"name": "t", "taskSpec": task}]}}));
    assert_eq!(pipeline["spec"]["tasks"][0]["taskSpec"], task);
    let task = json!({"metadata": {"labels": {"a": "b"}}, "spec": null, "steps": [{"name": "s", "computeResources": {}}]});
    let pipeline = rewritten::<Pipeline>(&json!({"spec": {"tasks": [{"name": "t", "taskSpec": task}]}}));
    assert_eq!(pipeline["spec"]["tasks"][0]["taskSpec"], task);
}

#[test]
fn odd_values_become_text() {
    for (json, value) in [
        ("null", ParamValue::from("")),
        ("1E5", ParamValue::from("1E5")),
        (r#"["a",null]"#, ParamValue::from(["a", ""])),
        (r#"["a", 1,  true]"#, ParamValue::from(r#"["a", 1,  true]"#)),
        (r#"{"a": 1}"#, ParamValue::from(r#"{"a": 1}"#)),
        ("[]", ParamValue::Array(Vec::new())),
    ] {
        assert_eq!(ParamValue::from_json_text(json).unwrap(), value);
    }
}

#[test]
fn a_param_needs_a_value() {
    let error = serde_json::from_value::<TaskRun>(json!({"spec": {"params": [{"name": "a"}]}})).unwrap_err();
    assert!(error.to_string().contains("missing field `value`"), "{error}");
    assert!(
        serde_json::from_value::<TaskRun>(json!({"spec": {"params": [{"name": "a", "value": null}]}}))
            .is_ok()
    );
}

#[test]
fn unknown_enum_values_survive() {
    let task = json!({"spec": {"params": [{"name": "a", "type": "integer"}], "steps": [{"name": "s", "onError": "panic"}]}});
    let task = rewritten::<Task>(&task);
    assert_eq!(task["spec"]["params"][0]["type"], "integer");
    assert_eq!(task["spec"]["steps"][0]["onError"], "panic");
    let action = rewritten::<StepAction>(&json!({"spec": {"image": "a"}}));
    assert_eq!(action["apiVersion"], "tekton.dev/v1beta1");
}
