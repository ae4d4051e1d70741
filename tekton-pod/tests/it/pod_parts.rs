//! Single parts of built pods that no golden trace shows.

use serde_json::{Value, json};
use tekton_api::config::Config;
use tekton_api::v1::TaskRun;
use tekton_pod::{
    BuildError, ImageCommands, Images, LookupFailure, Lookups, PlatformCommand, PodInput, ServerVersion,
    build_pod, needs, workspace,
};

/// What is given to the builder, as JSON where that is shorter.
struct Given {
    spec: Value,
    flags: Vec<(&'static str, &'static str)>,
    lookups: Lookups,
}

fn given(spec: Value) -> Given {
    let lookups = Lookups {
        service_account: Some(Ok(serde_json::from_value(json!({})).unwrap())),
        server_version: Some(Ok(ServerVersion {
            major: "1".to_owned(),
            minor: "33".to_owned(),
        })),
        ..Lookups::default()
    };
    Given {
        spec,
        flags: Vec::new(),
        lookups,
    }
}

fn build(given: &Given) -> Result<Value, BuildError> {
    let metadata = json!({"name": "r", "namespace": "n", "uid": "u"});
    let run: TaskRun =
        serde_json::from_value(json!({"metadata": metadata, "spec": given.spec.clone()})).unwrap();
    let flags = given.flags.iter();
    let flags = flags
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let config = Config::from_config_maps(&[("feature-flags".to_owned(), flags)].into()).unwrap();
    let spec = workspace::apply(
        run.spec.task_spec.clone().unwrap_or_default(),
        &run.spec.workspaces,
    );
    let pod = build_pod(&PodInput {
        run: &run,
        spec: &spec,
        pod_template: run.spec.pod_template.as_ref(),
        config: &config,
        images: &Images::default(),
        lookups: &given.lookups,
        release: "v",
        suffix: "xxxxx",
    })?;
    Ok(serde_json::to_value(pod).unwrap())
}

fn names(list: &Value) -> Vec<&str> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| item["name"].as_str()).collect()
}

fn args(pod: &Value, container: usize) -> Vec<String> {
    serde_json::from_value(pod["spec"]["containers"][container]["args"].clone()).unwrap()
}

#[test]
fn a_breakpoint_before_a_step_holds_only_that_step() {
    let mut given = given(json!({
        "debug": {"breakpoints": {"beforeSteps": ["b"]}},
        "taskSpec": {"steps": [
            {"name": "a", "image": "i/i", "command": ["x"]},
            {"name": "b", "image": "i/i", "command": ["x"]},
        ]},
    }));
    given.flags.push(("enable-api-fields", "alpha"));
    let pod = build(&given).unwrap();
    assert!(!args(&pod, 0).contains(&"-debug_before_step".to_owned()));
    assert!(args(&pod, 1).contains(&"-debug_before_step".to_owned()));
    let place_scripts = &pod["spec"]["initContainers"][1];
    let script = place_scripts["args"][1].as_str().unwrap();
    assert!(script.contains("tmpfile=\"/tekton/debug/scripts/debug-beforestep-continue\""));
    assert!(script.contains("<< 'debug-beforestep-fail-continue-heredoc-randomly-generated-xxxxx'"));
    assert!(script.contains("/out.beforestepexit.err\""));
    assert!(!script.contains("debug-continue"));

    given.flags.clear();
    let pod = build(&given).unwrap();
    assert_eq!(names(&pod["spec"]["initContainers"]), ["prepare"]);
}

#[test]
fn spire_is_mounted_into_steps_and_init_containers() {
    let mut given = given(json!({
        "taskSpec": {
            "steps": [{"name": "a", "image": "i/i", "command": ["x"]}],
            "sidecars": [{"name": "s", "image": "i/s"}],
        },
    }));
    given.flags.push(("enforce-nonfalsifiability", "spire"));
    let pod = build(&given).unwrap();
    let spec = &pod["spec"];
    assert!(args(&pod, 0).contains(&"-enable_spire".to_owned()));
    assert_eq!(names(&spec["volumes"]).last(), Some(&"spiffe-workload-api"));
    let mounted =
        |container: &Value| names(&container["volumeMounts"]).last() == Some(&"spiffe-workload-api");
    assert!(mounted(&spec["containers"][0]) && mounted(&spec["initContainers"][0]));
    assert!(!mounted(&spec["containers"][1]));
}

#[test]
fn several_limit_ranges_are_taken_together() {
    let mut given = given(json!({"taskSpec": {"steps": [
        {"name": "a", "image": "i/i", "command": ["x"]},
        {"name": "b", "image": "i/i", "command": ["x"], "computeResources": {"requests": {"memory": "1Gi"}}},
    ]}}));
    let limit_range = |limits: Value| serde_json::from_value(json!({"spec": {"limits": [limits]}})).unwrap();
    given.lookups.limit_ranges = vec![
        limit_range(
            json!({"type": "Container", "defaultRequest": {"cpu": "1", "memory": "1Gi"}, "min": {"cpu": "10m"}}),
        ),
        limit_range(
            json!({"type": "Container", "defaultRequest": {"cpu": "3"}, "min": {"cpu": "600m", "memory": "1"}}),
        ),
        limit_range(json!({"type": "Pod", "min": {"cpu": "100"}})),
    ];
    let pod = build(&given).unwrap();
    let requests = |container: usize| pod["spec"]["containers"][container]["resources"]["requests"].clone();
    // Half of the smaller default is below the larger minimum; the second range takes away the first
    // one's default for memory, and its minimum remains.
    assert_eq!(requests(0), json!({"cpu": "600m", "memory": "1"}));
    assert_eq!(requests(1), json!({"cpu": "600m", "memory": "1Gi"}));
}

#[test]
fn an_isolated_workspace_is_mounted_where_it_is_asked_for() {
    let pod = build(&given(json!({
        "workspaces": [{"name": "w", "emptyDir": {}, "subPath": "d"}],
        "taskSpec": {"steps": [
            {"name": "a", "image": "i/i", "command": ["x"], "workspaces": [{"name": "w", "mountPath": "/here"}]},
            {"name": "b", "image": "i/i", "command": ["x"]},
        ]},
    })))
    .unwrap();
    let first = &pod["spec"]["containers"][0]["volumeMounts"][0];
    assert_eq!(
        first,
        &json!({"name": "ws-f20c3", "mountPath": "/here", "subPath": "d"})
    );
    assert!(!names(&pod["spec"]["containers"][1]["volumeMounts"]).contains(&"ws-f20c3"));
}

#[test]
fn the_first_failure_in_upstreams_order_is_reported() {
    let mut given = given(json!({"taskSpec": {
        "steps": [
            {"name": "a", "image": "not a reference"},
            {"name": "b", "image": "i/i", "command": ["x"], "onError": "never"},
        ],
        "volumes": [{"name": "v"}, {"name": "v"}, {"name": "v"}, {"name": "tekton-internal-bin"}],
    }}));
    let missing = |name: &str| LookupFailure {
        not_found: true,
        message: format!("serviceaccounts {name:?} not found"),
    };
    let account = given.lookups.service_account.replace(Err(missing("x")));
    let message = |given: &Given| build(given).unwrap_err().to_string();
    assert_eq!(message(&given), "serviceaccounts \"x\" not found");

    given.lookups.service_account = account;
    assert_eq!(message(&given), "could not parse reference: not a reference");

    given.spec["taskSpec"]["steps"][0]["command"] = json!(["x"]);
    assert_eq!(
        message(&given),
        "task step onError must be either \"continue\" or \"stopAndFail\" but it is set to an invalid value \"never\""
    );

    given.spec["taskSpec"]["steps"][1]["onError"] = json!("continue");
    assert_eq!(
        message(&given),
        "multiple volumes with same name \"tekton-internal-bin\": [14].name\n\
         multiple volumes with same name \"v\": [12].name, [13].name"
    );

    given.spec["taskSpec"]["steps"] = json!([]);
    assert_eq!(message(&given), "no steps specified");
}

#[test]
fn an_image_is_looked_up_once_and_pinned_everywhere() {
    let mut given = given(json!({"taskSpec": {"steps": [
        {"name": "a", "image": "busybox", "args": ["own"]},
        {"name": "b", "image": "busybox"},
        {"name": "c", "image": "busybox", "script": "x"},
    ]}}));
    let run: TaskRun = serde_json::from_value(json!({"spec": given.spec.clone()})).unwrap();
    let needed = needs::needs(&run, run.spec.task_spec.as_ref().unwrap(), &Config::default());
    let [image] = needed.images.as_slice() else {
        panic!("{needed:?}")
    };
    assert!(image.has_args);
    let texts = |texts: &[&str]| -> Vec<String> { texts.iter().map(|text| (*text).to_owned()).collect() };
    let (entrypoint, cmd) = (texts(&["sh"]), texts(&["-c", "a<b"]));
    let platform = PlatformCommand {
        os: "linux",
        architecture: "arm",
        variant: "v7",
        entrypoint: &entrypoint,
        cmd: &cmd,
    };
    let commands = |has_args| ImageCommands::from_platforms("sha256:0", [platform], has_args);
    given
        .lookups
        .images
        .insert("busybox".to_owned(), Ok(commands(true)));
    let pod = build(&given).unwrap();
    let container = |index: usize| pod["spec"]["containers"][index].clone();
    for index in [0, 1] {
        assert_eq!(
            container(index)["image"],
            "index.docker.io/library/busybox@sha256:0"
        );
        assert_eq!(container(index)["env"][0]["value"], r#"{"linux/arm/v7":["sh"]}"#);
    }
    assert_eq!(container(2)["image"], "busybox");
    given
        .lookups
        .images
        .insert("busybox".to_owned(), Ok(commands(false)));
    let pod = build(&given).unwrap();
    assert_eq!(
        pod["spec"]["containers"][0]["env"][0]["value"],
        r#"{"linux/arm/v7":["sh","-c","a\u003cb"]}"#
    );
}

#[test]
fn step_templates_are_merged_deeply() {
    let pod = build(&given(json!({"taskSpec": {
        "stepTemplate": {
            "env": [{"name": "A", "value": "t"}, {"name": "B", "value": "t"}],
            "computeResources": {"limits": {"cpu": "1", "memory": "1Gi"}},
            "securityContext": {"runAsUser": 1, "capabilities": {"add": ["X"], "drop": ["Y"]}},
            "image": "i/t",
        },
        "steps": [{
            "name": "a", "command": ["x"],
            "env": [{"name": "C", "value": "s"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "f"}}}],
            "computeResources": {"limits": {"cpu": "2"}},
            "securityContext": {"runAsGroup": 2, "capabilities": {"add": ["Z"]}},
        }],
    }})))
    .unwrap();
    let step = &pod["spec"]["containers"][0];
    assert_eq!(
        step["env"],
        json!([
            {"name": "C", "value": "s"},
            {"name": "A", "value": "t"},
            {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "f"}}},
        ])
    );
    assert_eq!(step["resources"]["limits"], json!({"cpu": "2", "memory": "1Gi"}));
    assert_eq!(
        step["securityContext"],
        json!({"runAsUser": 1, "runAsGroup": 2, "capabilities": {"add": ["Z"], "drop": ["Y"]}})
    );
    assert_eq!(step["image"], "i/t");
}
