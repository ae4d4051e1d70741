//! Defaults of Pods and pod templates, and the parts of a Pod's status that Go always writes.

use serde_json::{Value, json};

use crate::api::json::{at, list, list_mut, set, set_missing, text};

/// Fills a pod spec.
pub(super) fn fill_spec(spec: &mut Value) {
    set_missing(spec, &["restartPolicy"], "Always");
    set_missing(spec, &["terminationGracePeriodSeconds"], 30);
    set_missing(spec, &["dnsPolicy"], "ClusterFirst");
    set_missing(spec, &["schedulerName"], "default-scheduler");
    set_missing(spec, &["securityContext"], json!({}));
    set_missing(spec, &["enableServiceLinks"], true);
    let account = text(spec, &["serviceAccountName"]).to_owned();
    if !account.is_empty() {
        set(spec, &["serviceAccount"], account);
    }
    for containers in ["initContainers", "containers", "ephemeralContainers"] {
        list_mut(spec, &[containers]).iter_mut().for_each(fill_container);
    }
    list_mut(spec, &["volumes"]).iter_mut().for_each(fill_volume);
}

fn fill_container(container: &mut Value) {
    set_missing(container, &["resources"], json!({}));
    set_missing(container, &["terminationMessagePath"], "/dev/termination-log");
    set_missing(container, &["terminationMessagePolicy"], "File");
    let policy = if is_latest(text(container, &["image"])) {
        "Always"
    } else {
        "IfNotPresent"
    };
    set_missing(container, &["imagePullPolicy"], policy);
    for port in list_mut(container, &["ports"]) {
        set_missing(port, &["protocol"], "TCP");
    }
    for variable in list_mut(container, &["env"]) {
        if at(variable, &["valueFrom", "fieldRef"]).is_some() {
            set_missing(variable, &["valueFrom", "fieldRef", "apiVersion"], "v1");
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get_mut(probe) {
            fill_probe(probe);
        }
    }
    for hook in ["postStart", "preStop"] {
        if let Some(action) = container.get_mut("lifecycle").and_then(|all| all.get_mut(hook)) {
            fill_http(action);
        }
    }
    let limits = at(container, &["resources", "limits"])
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    for (resource, amount) in limits {
        set_missing(container, &["resources", "requests", &resource], amount);
    }
}

fn fill_http(action: &mut Value) {
    if at(action, &["httpGet"]).is_some() {
        set_missing(action, &["httpGet", "path"], "/");
        set_missing(action, &["httpGet", "scheme"], "HTTP");
    }
}

fn fill_probe(probe: &mut Value) {
    for (field, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        if at(probe, &[field]).and_then(Value::as_i64).unwrap_or(0) == 0 {
            set(probe, &[field], value);
        }
    }
    fill_http(probe);
    if at(probe, &["grpc"]).is_some() {
        set_missing(probe, &["grpc", "service"], "");
    }
}

/// No tag and no digest, or the tag `latest`.
fn is_latest(image: &str) -> bool {
    if image.contains('@') {
        return false;
    }
    let last = image.rsplit('/').next().unwrap_or_default();
    last.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

fn fill_volume(volume: &mut Value) {
    const MODE: i64 = 0o644;
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        if at(volume, &[source]).is_some() {
            set_missing(volume, &[source, "defaultMode"], MODE);
        }
    }
    fill_field_refs(list_mut(volume, &["downwardAPI", "items"]));
    for source in list_mut(volume, &["projected", "sources"]) {
        if at(source, &["serviceAccountToken"]).is_some() {
            set_missing(source, &["serviceAccountToken", "expirationSeconds"], 3600);
        }
        fill_field_refs(list_mut(source, &["downwardAPI", "items"]));
    }
    if at(volume, &["hostPath"]).is_some() {
        set_missing(volume, &["hostPath", "type"], "");
    }
    let bare = volume
        .as_object()
        .is_some_and(|fields| fields.len() == 1 && fields.contains_key("name"));
    if bare {
        set(volume, &["emptyDir"], json!({}));
    }
    if at(volume, &["ephemeral", "volumeClaimTemplate"]).is_some() {
        set_missing(
            volume,
            &["ephemeral", "volumeClaimTemplate", "spec", "volumeMode"],
            "Filesystem",
        );
    }
}

fn fill_field_refs(items: &mut [Value]) {
    for item in items {
        if at(item, &["fieldRef"]).is_some() {
            set_missing(item, &["fieldRef", "apiVersion"], "v1");
        }
    }
}

/// Fills what a Pod's status always holds.
pub(super) fn fill_status(pod: &mut Value) {
    if at(pod, &["status"]).is_none() {
        return;
    }
    for condition in list_mut(pod, &["status", "conditions"]) {
        for time in ["lastProbeTime", "lastTransitionTime"] {
            if condition.get(time).is_none() {
                set(condition, &[time], Value::Null);
            }
        }
    }
    for statuses in [
        "initContainerStatuses",
        "containerStatuses",
        "ephemeralContainerStatuses",
    ] {
        for status in list_mut(pod, &["status", statuses]) {
            for state in ["state", "lastState"] {
                set_missing(status, &[state], json!({}));
                for (phase, time) in [
                    ("running", "startedAt"),
                    ("terminated", "startedAt"),
                    ("terminated", "finishedAt"),
                ] {
                    if at(status, &[state, phase]).is_some_and(|found| found.get(time).is_none()) {
                        set(status, &[state, phase, time], Value::Null);
                    }
                }
            }
        }
    }
    let address = text(pod, &["status", "podIP"]).to_owned();
    if !address.is_empty() && list(pod, &["status", "podIPs"]).is_empty() {
        set(pod, &["status", "podIPs"], json!([{"ip": address}]));
    }
    let host = text(pod, &["status", "hostIP"]).to_owned();
    if !host.is_empty() && list(pod, &["status", "hostIPs"]).is_empty() {
        set(pod, &["status", "hostIPs"], json!([{"ip": host}]));
    }
}

/// The quality of service class that follows from requests and limits.
pub(crate) fn quality_of_service(pod: &Value) -> &'static str {
    let (mut any, mut guaranteed) = (false, true);
    let containers = ["initContainers", "containers"]
        .into_iter()
        .flat_map(|kind| list(pod, &["spec", kind]));
    for container in containers {
        for resource in ["cpu", "memory"] {
            let limit = at(container, &["resources", "limits", resource]);
            let request = at(container, &["resources", "requests", resource]);
            any |= limit.is_some() || request.is_some();
            guaranteed &= limit.is_some() && (request.is_none() || request == limit);
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}
