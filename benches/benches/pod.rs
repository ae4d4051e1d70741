//! Building the pod of a TaskRun with 1, 10 and 50 steps: every other step has a script, each has two
//! variables and two results, a workspace is mounted, there is one sidecar, and credentials are off.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench whose own input is wrong must stop"
)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use tekton_api::config::Config;
use tekton_api::v1::TaskRun;
use tekton_pod::{Images, Lookups, PodInput, build_pod, workspace};

fn step(index: usize) -> Value {
    let mut step = json!({
        "name": format!("step-{index}"),
        "image": "reg.example/tool:1",
        "env": [{"name": "A", "value": "a"}, {"name": "B", "value": "b"}],
        "results": [{"name": "digest"}, {"name": "url"}],
    });
    if index.is_multiple_of(2) {
        step["script"] = json!("#!/bin/sh\necho one\necho two\n");
    } else {
        step["command"] = json!(["run", "it"]);
        step["args"] = json!(["--with", "these"]);
    }
    step
}

fn run(steps: usize) -> TaskRun {
    let steps: Vec<Value> = (0..steps).map(step).collect();
    let run = json!({
        "apiVersion": "tekton.dev/v1",
        "kind": "TaskRun",
        "metadata": {"name": "bench", "namespace": "work", "uid": "bench-uid"},
        "spec": {
            "serviceAccountName": "default",
            "timeout": "1h0m0s",
            "workspaces": [{"name": "source", "emptyDir": {}}],
            "taskSpec": {
                "steps": steps,
                "sidecars": [{"name": "side", "image": "reg.example/side:1", "command": ["serve"]}],
                "workspaces": [{"name": "source"}],
                "results": [{"name": "out", "type": "string"}, {"name": "other", "type": "string"}],
            },
        },
    });
    serde_json::from_value(run).expect("a valid run")
}

fn build(criterion: &mut Criterion) {
    let flags = [(
        "feature-flags".to_owned(),
        [("disable-creds-init".to_owned(), "true".to_owned())].into(),
    )];
    let config = Config::from_config_maps(&flags.into()).expect("a valid configuration");
    let images = Images::default();
    let lookups = Lookups::default();
    let mut group = criterion.benchmark_group("build_pod");
    for steps in [1, 10, 50] {
        let run = run(steps);
        let spec = run.spec.task_spec.clone().expect("an embedded task");
        let spec = workspace::apply(spec, &run.spec.workspaces);
        let input = PodInput {
            run: &run,
            spec: &spec,
            pod_template: None,
            config: &config,
            images: &images,
            lookups: &lookups,
            release: "bench",
            suffix: "abcde",
        };
        group.bench_with_input(BenchmarkId::from_parameter(steps), &input, |bencher, input| {
            bencher.iter(|| build_pod(black_box(input)).expect("a pod"));
        });
    }
    group.finish();
}

criterion_group!(benches, build);
criterion_main!(benches);
