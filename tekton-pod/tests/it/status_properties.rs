//! No pod status, however odd, makes the derivation of a TaskRun's status panic, and deriving twice from the
//! same pod changes nothing but what accumulates.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use tekton_api::config::Config;
use tekton_api::v1::TaskRun;
use tekton_pod::patch;
use tekton_pod::status::{StatusInput, completion, needs_log, observe};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("OOMKilled".to_owned()),
        Just("Evicted".to_owned()),
        Just("CreateContainerConfigError".to_owned()),
        Just("ImagePullBackOff".to_owned()),
        Just("failed to create subPath directory".to_owned()),
        Just("tknz:x".to_owned()),
        Just("[{\"key\":\"ExitCode\",\"value\":\"x\",\"type\":3},{\"key\":\"StartedAt\",\"value\":\"y\",\"type\":3}]".to_owned()),
        Just("[{\"key\":\"r\",\"value\":\"[1]\",\"type\":1},{\"key\":\"r\",\"value\":\"{}\",\"type\":4}]".to_owned()),
        Just("[{\"key\":\"a\",\"value\":\"{\\\"inputs\\\":[{}]}\",\"type\":5},{\"key\":\"b\",\"value\":\"{\",\"type\":6}]".to_owned()),
        "\\PC{0,30}",
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("step-a".to_owned()),
        Just("step-b".to_owned()),
        Just("step-".to_owned()),
        Just("sidecar-tekton-log-results".to_owned()),
        Just("sidecar-x".to_owned()),
        Just("prepare".to_owned()),
        "[a-z-]{0,8}",
    ]
}

fn state() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({})),
        Just(json!({"running": {}})),
        (text(), text())
            .prop_map(|(reason, message)| json!({"waiting": {"reason": reason, "message": message}})),
        (any::<i32>(), text(), text()).prop_map(|(code, reason, message)| {
            json!({"terminated": {"exitCode": code, "reason": reason, "message": message}})
        }),
    ]
}

fn statuses() -> impl Strategy<Value = Vec<Value>> {
    let status = (name(), state(), any::<bool>()).prop_map(|(name, state, ready)| {
        json!({"name": name, "state": state, "ready": ready, "restartCount": 0, "image": "", "imageID": ""})
    });
    prop::collection::vec(status, 0..5)
}

fn pod() -> impl Strategy<Value = Value> {
    let phase = prop::sample::select(vec!["", "Pending", "Running", "Succeeded", "Failed", "Unknown"]);
    let containers = prop::collection::vec(name().prop_map(|name| json!({"name": name})), 0..5);
    (phase, text(), text(), statuses(), statuses(), containers).prop_map(
        |(phase, reason, message, statuses, init, containers)| {
            json!({
                "metadata": {"name": "p"},
                "spec": {"containers": containers},
                "status": {
                    "phase": phase, "reason": reason, "message": message,
                    "containerStatuses": statuses, "initContainerStatuses": init,
                    "conditions": [{"type": "Ready", "status": "False", "reason": "Unschedulable", "message": message}],
                },
            })
        },
    )
}

fn config(sidecar_logs: bool) -> Config {
    let results = if sidecar_logs {
        "sidecar-logs"
    } else {
        "termination-message"
    };
    let data = [("results-from".to_owned(), results.to_owned())].into();
    Config::from_config_maps(&[("feature-flags".to_owned(), data)].into()).unwrap()
}

proptest! {
    #[test]
    fn no_pod_status_panics(pod in pod(), log in text(), sidecar_logs: bool, reference in text()) {
        let pod: Pod = serde_json::from_value(pod).unwrap();
        let mut run: TaskRun = serde_json::from_value(json!({
            "metadata": {"name": "r", "namespace": "n"},
            "spec": {"taskSpec": {
                "results": [{"name": "r", "type": "string"}, {"name": "q", "value": reference}],
                "steps": [{"name": "a", "image": "i", "results": [{"name": "r", "type": "array"}]}],
            }},
        }))
        .unwrap();
        let config = config(sidecar_logs);
        let spec = run.spec.task_spec.clone().unwrap();
        for _ in 0..2 {
            let log = needs_log(&run, &pod, &spec, &config.features).then_some(Ok(log.as_str()));
            let input = StatusInput {
                run: &run, pod: &pod, task_spec: &spec, features: &config.features, log, now: Timestamp::UNIX_EPOCH,
            };
            let observed = observe(&input);
            prop_assert_eq!(&observed.status.pod_name, "p");
            run.status = Some(observed.status);
        }
        completion::sidecars_ready(&pod);
        patch::stop_sidecars(&pod, "nop", Some("sidecar-tekton-log-results"));
    }
}
