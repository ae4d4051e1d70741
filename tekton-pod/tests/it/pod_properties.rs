//! The builder never panics, whatever it is given, and gives the same pod every time.

use k8s_openapi::api::core::v1::Pod;
use proptest::prelude::*;
use serde_json::{Value, json};
use tekton_api::config::Config;
use tekton_api::v1::TaskRun;
use tekton_pod::{
    BuildError, ImageCommands, Images, Lookups, PodInput, ServerVersion, build_pod, needs, workspace,
};

fn build(run: &TaskRun, config: &Config) -> Result<Pod, BuildError> {
    let spec = workspace::apply(
        run.spec.task_spec.clone().unwrap_or_default(),
        &run.spec.workspaces,
    );
    let account = json!({"secrets": [{"name": "s"}, {}]});
    let limits = json!([
        {"type": "Container", "defaultRequest": {"cpu": "1", "memory": "1Gi"}, "min": {"cpu": "10m"}},
    ]);
    let version = ServerVersion {
        major: "1".to_owned(),
        minor: "30".to_owned(),
    };
    let mut lookups = Lookups {
        service_account: Some(Ok(serde_json::from_value(account).unwrap())),
        server_version: Some(Ok(version)),
        limit_ranges: vec![serde_json::from_value(json!({"spec": {"limits": limits}})).unwrap()],
        ..Lookups::default()
    };
    let secret =
        json!({"type": "kubernetes.io/basic-auth", "metadata": {"annotations": {"tekton.dev/git-0": "u"}}});
    lookups
        .secrets
        .insert("s".to_owned(), Ok(serde_json::from_value(secret).unwrap()));
    for need in needs::needs(run, &spec, config).images {
        lookups.images.insert(need.image, Ok(ImageCommands::default()));
    }
    build_pod(&PodInput {
        run,
        spec: &spec,
        pod_template: run.spec.pod_template.as_ref(),
        config,
        images: &Images::default(),
        lookups: &lookups,
        release: "r",
        suffix: "abcde",
    })
}

fn config(flags: &[(&str, &str)]) -> Config {
    let flags = flags
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    Config::from_config_maps(&[("feature-flags".to_owned(), flags)].into()).unwrap()
}

/// Text with a liking for what the builder treats specially.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9-]{0,70}",
        "\\PC{0,12}",
        Just("#!win".to_owned()),
        Just("#!win powershell -File\nx".to_owned()),
        Just("/workspace/../x//y/".to_owned()),
        Just("reg.example/tool:1".to_owned()),
        Just("tool@sha256:0".to_owned()),
        Just("$(step.artifacts.path)".to_owned()),
        Just("1Gi".to_owned()),
        Just("-3e99".to_owned()),
    ]
}

fn resources() -> impl Strategy<Value = Value> {
    let list =
        || prop::collection::btree_map(prop_oneof![Just("cpu"), Just("memory"), Just("x")], text(), 0..3);
    (list(), list()).prop_map(|(limits, requests)| json!({"limits": limits, "requests": requests}))
}

fn container() -> impl Strategy<Value = Value> {
    let lists = (
        prop::collection::vec(text(), 0..3),
        prop::collection::vec(text(), 0..3),
    );
    let keyed = (
        prop::collection::vec((text(), text()), 0..4),
        prop::collection::vec((text(), text()), 0..4),
    );
    (text(), text(), lists, keyed, text(), text(), resources()).prop_map(
        |(name, image, (command, args), (env, mounts), script, dir, resources)| {
            let env: Vec<Value> = env
                .iter()
                .map(|(name, value)| json!({"name": name, "value": value}))
                .collect();
            let mounts: Vec<Value> = mounts
                .iter()
                .map(|(name, path)| json!({"name": name, "mountPath": path}))
                .collect();
            json!({
                "name": name, "image": image, "command": command, "args": args, "env": env,
                "volumeMounts": mounts, "script": script, "workingDir": dir, "computeResources": resources,
            })
        },
    )
}

fn run() -> impl Strategy<Value = TaskRun> {
    let containers = (
        prop::collection::vec(container(), 0..4),
        prop::collection::vec(container(), 0..3),
    );
    let rest = (
        prop::option::of(container()),
        prop::option::of(resources()),
        text(),
        text(),
    );
    (containers, rest, prop::collection::vec(text(), 0..4)).prop_map(
        |((steps, sidecars), (template, whole, name, on_failure), names)| {
            let named: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
            let bound: Vec<Value> = names.iter().map(|name| json!({"name": name, "emptyDir": {}})).collect();
            let run = json!({
                "metadata": {"name": name},
                "spec": {
                    "computeResources": whole,
                    "debug": {"breakpoints": {"onFailure": on_failure, "beforeSteps": names}},
                    "workspaces": bound,
                    "podTemplate": {"env": named, "volumes": named, "nodeSelector": {"kubernetes.io/os": name}},
                    "taskSpec": {
                        "steps": steps, "sidecars": sidecars, "stepTemplate": template, "results": named,
                        "volumes": named,
                    },
                },
            });
            serde_json::from_value(run).unwrap()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, fork: false, ..ProptestConfig::default() })]

    #[test]
    fn no_run_makes_it_panic(run in run(), flags in prop::sample::subsequence(vec![
        ("enable-api-fields", "alpha"), ("results-from", "sidecar-logs"), ("enable-kubernetes-sidecar", "true"),
        ("set-security-context", "true"), ("keep-pod-on-cancel", "true"), ("disable-creds-init", "true"),
        ("enforce-nonfalsifiability", "spire"), ("await-sidecar-readiness", "false"),
    ], 0..8)) {
        let config = config(&flags);
        prop_assert_eq!(build(&run, &config), build(&run, &config));
    }
}

#[test]
fn a_thousand_pods_are_equal() {
    let run: TaskRun = serde_json::from_value(json!({
        "metadata": {"name": "r", "labels": {"b": "1", "a": "2"}, "annotations": {"z": "1", "y": "2"}},
        "spec": {
            "workspaces": [{"name": "w", "emptyDir": {}}, {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
            "computeResources": {"requests": {"cpu": "1", "memory": "1Gi", "x/y": "3"}},
            "taskSpec": {
                "steps": [{"name": "a", "image": "i/i", "script": "x"}, {"name": "b", "image": "i/j"}],
                "sidecars": [{"name": "s", "image": "i/s", "script": "y"}],
                "results": [{"name": "r"}],
            },
        },
    }))
    .unwrap();
    let config = config(&[("results-from", "sidecar-logs"), ("enable-api-fields", "alpha")]);
    let first = build(&run, &config).unwrap();
    let text = serde_json::to_string(&first).unwrap();
    for _ in 0..1000 {
        assert_eq!(build(&run, &config).unwrap(), first);
    }
    assert_eq!(
        serde_json::to_string(&build(&run, &config).unwrap()).unwrap(),
        text
    );
}
