//! TaskRuns whose Task or StepActions come from a resolver.

use serde_json::{Value, json};
use tekton_api::config::Config;
use tekton_api::v1::{TaskRun, TaskRunStatus};
use tekton_controller::images::Images;
use tekton_controller::memory::MemoryCluster;
use tekton_controller::plan::{ObjectRef, Pass, PassInput};
use tekton_controller::taskrun::reconcile;

use base64::Engine as _;

struct World {
    cluster: MemoryCluster,
    run: TaskRun,
}

impl World {
    fn new(spec: Value) -> Self {
        let mut cluster = MemoryCluster::new("2026-01-01T00:00:00Z".parse().unwrap());
        cluster.insert(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "ci"}}));
        let run = json!({"metadata": {"name": "r", "namespace": "ci", "uid": "u"}, "spec": spec});
        Self {
            cluster,
            run: serde_json::from_value(run).unwrap(),
        }
    }

    fn pass(&mut self) -> Pass<TaskRunStatus> {
        let (config, images) = (Config::default(), Images::local());
        let input = PassInput {
            config: &config,
            images: &images,
            now: self.cluster.now,
            suffix: "abcde",
        };
        let run = self.run.clone();
        let pass = self.cluster.run(|answers| reconcile(&run, &input, answers));
        if let Some(status) = &pass.status {
            self.run.status = Some(status.clone());
        }
        pass
    }

    fn requests(&self) -> Vec<ObjectRef> {
        self.cluster
            .of_kind("ResolutionRequest")
            .into_iter()
            .map(ObjectRef::of)
            .collect()
    }

    fn answer(&mut self, request: &ObjectRef, object: &Value) {
        let data = base64::engine::general_purpose::STANDARD.encode(object.to_string());
        self.cluster.object_mut(request).unwrap()["status"] = json!({
            "conditions": [{"type": "Succeeded", "status": "True"}],
            "data": data, "refSource": {"uri": "git+https://x", "entryPoint": "task.yaml"},
        });
    }

    fn message(&self) -> String {
        self.run
            .status
            .as_ref()
            .unwrap()
            .conditions
            .succeeded()
            .unwrap()
            .message()
            .to_owned()
    }
}

fn remote_task(object: &Value) -> World {
    let mut world =
        World::new(json!({"taskRef": {"resolver": "git", "params": [{"name": "url", "value": "u"}]}}));
    let first = world.pass();
    assert_eq!(first.requeue, Some(std::time::Duration::from_secs(1)));
    let request = world.requests().remove(0);
    world.answer(&request, object);
    world.pass();
    world
}

#[test]
fn an_old_task_is_converted() {
    let world = remote_task(&json!({
        "apiVersion": "tekton.dev/v1beta1", "kind": "Task", "metadata": {"name": "old", "labels": {"l": "1"}},
        "spec": {"steps": [{"name": "s", "image": "i", "command": ["c"], "resources": {"requests": {"cpu": "1"}}}]},
    }));
    let status = world.run.status.unwrap();
    assert_eq!(status.pod_name, "r-pod");
    assert_eq!(
        status
            .provenance
            .unwrap()
            .ref_source
            .unwrap()
            .entry_point
            .as_deref(),
        Some("task.yaml")
    );
    let step = &status.task_spec.unwrap().steps[0];
    assert_eq!(step.compute_resources.requests.as_ref().unwrap()["cpu"].0, "1");
}

#[test]
fn what_is_no_task_fails_the_run() {
    let pipeline = remote_task(
        &json!({"apiVersion": "tekton.dev/v1", "kind": "Pipeline", "metadata": {"name": "p"}, "spec": {}}),
    );
    assert_eq!(pipeline.message(), "resource is not a task");
    let config_map =
        remote_task(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}));
    assert!(
        config_map
            .message()
            .starts_with("invalid runtime object: no kind \"ConfigMap\"")
    );
    let typo = remote_task(
        &json!({"apiVersion": "tekton.dev/v1", "kind": "Task", "metadata": {"name": "t"}, "spec": {"stepz": []}}),
    );
    assert!(
        typo.message()
            .starts_with("invalid runtime object: strict decoding error: "),
        "{}",
        typo.message()
    );
}

#[test]
fn step_actions_are_asked_for_together() {
    let step = |name: &str| json!({"name": name, "ref": {"resolver": "hub", "params": [{"name": "name", "value": name}]}});
    let mut world = World::new(json!({"taskSpec": {"steps": [step("a"), step("b")]}}));
    world.pass();
    let requests = world.requests();
    assert_eq!(requests.len(), 2);
    for (request, version) in requests.iter().zip(["v1beta1", "v1alpha1"]) {
        let action = json!({
            "apiVersion": format!("tekton.dev/{version}"), "kind": "StepAction", "metadata": {"name": "x"},
            "spec": {"image": "i", "command": ["c"], "params": [{"name": "p", "default": "d"}], "args": ["$(params.p)"]},
        });
        world.answer(request, &action);
    }
    world.pass();
    let status = world.run.status.unwrap();
    assert_eq!(status.pod_name, "r-pod");
    assert_eq!(status.steps.len(), 2);
    assert_eq!(status.task_spec.unwrap().steps[1].args, ["d"]);
}
