//! Deriving the status of a TaskRun from a finished pod with 1, 10 and 50 steps: each step left a start time,
//! two results of the task and one of its own; one sidecar still runs.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench whose own input is wrong must stop"
)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use tekton_api::config::Config;
use tekton_api::v1::TaskRun;
use tekton_pod::status::{StatusInput, observe};

fn run(steps: usize) -> TaskRun {
    let steps: Vec<Value> = (0..steps)
        .map(|index| json!({"name": format!("s{index}"), "image": "reg.example/tool:1", "results": [{"name": "own"}]}))
        .collect();
    let run = json!({
        "metadata": {"name": "bench", "namespace": "work", "uid": "bench-uid"},
        "spec": {"taskSpec": {"steps": steps, "results": [
            {"name": "digest", "type": "string"}, {"name": "list", "type": "array"},
        ]}},
    });
    serde_json::from_value(run).expect("a valid run")
}

fn pod(steps: usize) -> Pod {
    let message = json!([
        {"key": "StartedAt", "value": "2026-01-01T00:00:05.000Z", "type": 3},
        {"key": "digest", "value": "sha256:00000000000000000000000000000000", "type": 1},
        {"key": "list", "value": "[\"a\",\"b\"]", "type": 1},
        {"key": "own", "value": "text", "type": 4},
    ])
    .to_string();
    let terminated = json!({"terminated": {
        "exitCode": 0, "reason": "Completed", "message": message,
        "startedAt": "2026-01-01T00:00:04Z", "finishedAt": "2026-01-01T00:00:10Z",
    }});
    let status = |name: &str, state: &Value| json!({"name": name, "state": state, "ready": true, "restartCount": 0, "image": "i", "imageID": "i@sha256:0"});
    let mut statuses: Vec<Value> = (0..steps)
        .rev()
        .map(|index| status(&format!("step-s{index}"), &terminated))
        .collect();
    statuses.push(status(
        "sidecar-db",
        &json!({"running": {"startedAt": "2026-01-01T00:00:03Z"}}),
    ));
    let mut containers: Vec<Value> = (0..steps)
        .map(|index| json!({"name": format!("step-s{index}")}))
        .collect();
    containers.push(json!({"name": "sidecar-db"}));
    let pod = json!({
        "metadata": {"name": "bench-pod", "namespace": "work"},
        "spec": {"containers": containers},
        "status": {"phase": "Running", "containerStatuses": statuses},
    });
    serde_json::from_value(pod).expect("a valid pod")
}

fn status(criterion: &mut Criterion) {
    let config = Config::default();
    let mut group = criterion.benchmark_group("observe");
    for steps in [1, 10, 50] {
        let (run, pod) = (run(steps), pod(steps));
        let spec = run.spec.task_spec.clone().expect("an embedded task");
        let input = StatusInput {
            run: &run,
            pod: &pod,
            task_spec: &spec,
            features: &config.features,
            log: None,
            now: Timestamp::UNIX_EPOCH,
        };
        group.bench_with_input(BenchmarkId::from_parameter(steps), &input, |bencher, input| {
            bencher.iter(|| observe(black_box(input)));
        });
    }
    group.finish();
}

criterion_group!(benches, status);
criterion_main!(benches);
