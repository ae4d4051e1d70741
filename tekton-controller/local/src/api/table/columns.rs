//! The columns of built-in kinds.

use serde_json::{Value, json};

use super::{Heading, age, or_none, pods, time_since};
use crate::api::json::{at, list, text};
use crate::api::kinds::Resource;

/// Headings of a kind.
pub(super) fn headings(resource: &Resource) -> Vec<Heading> {
    let plain = |names: &[&str]| {
        names
            .iter()
            .map(|name| Heading::new(name, "string", 0))
            .collect::<Vec<_>>()
    };
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Pod") => pods::headings(),
        ("", "ConfigMap") => plain(&["Name", "Data", "Age"]),
        ("", "Secret") => plain(&["Name", "Type", "Data", "Age"]),
        ("", "ServiceAccount") => plain(&["Name", "Secrets", "Age"]),
        ("", "Namespace") => plain(&["Name", "Status", "Age"]),
        ("", "PersistentVolumeClaim") => {
            let mut all = plain(&[
                "Name",
                "Status",
                "Volume",
                "Capacity",
                "Access Modes",
                "StorageClass",
                "VolumeAttributesClass",
                "Age",
            ]);
            all.push(Heading::new("VolumeMode", "string", 1));
            all
        }
        ("" | "events.k8s.io", "Event") => {
            let mut all = plain(&["Last Seen", "Type", "Reason", "Object"]);
            for (name, priority) in [
                ("Subobject", 1),
                ("Source", 1),
                ("Message", 0),
                ("First Seen", 1),
                ("Count", 1),
                ("Name", 1),
            ] {
                all.push(Heading::new(name, "string", priority));
            }
            all
        }
        ("", "Node") => plain(&["Name", "Status", "Roles", "Age", "Version"]),
        ("", "Service") => plain(&["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age"]),
        ("apps", "StatefulSet") => plain(&["Name", "Ready", "Age"]),
        ("coordination.k8s.io", "Lease") => plain(&["Name", "Holder", "Age"]),
        ("", "LimitRange")
        | ("rbac.authorization.k8s.io", "Role" | "ClusterRole")
        | ("apiextensions.k8s.io", _) => plain(&["Name", "Created At"]),
        ("rbac.authorization.k8s.io", _) => plain(&["Name", "Role", "Age"]),
        _ => plain(&["Name", "Age"]),
    }
}

/// One row of a kind.
pub(super) fn cells(resource: &Resource, object: &Value, now: jiff::Timestamp) -> Vec<Value> {
    let name = json!(text(object, &["metadata", "name"]));
    let age = json!(age(object, now));
    let count = |path: &str| {
        at(object, &[path])
            .and_then(Value::as_object)
            .map_or(0, serde_json::Map::len)
    };
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Pod") => pods::cells(object, now),
        ("", "ConfigMap") => vec![name, json!(count("data") + count("binaryData")), age],
        ("", "Secret") => vec![name, json!(text(object, &["type"])), json!(count("data")), age],
        ("", "ServiceAccount") => vec![name, json!(list(object, &["secrets"]).len()), age],
        ("", "Namespace") => vec![name, json!(text(object, &["status", "phase"])), age],
        ("", "PersistentVolumeClaim") => claim(object, name, age),
        ("" | "events.k8s.io", "Event") => event(object, name, now),
        ("", "Node") => vec![
            name,
            json!(node_status(object)),
            json!("<none>"),
            age,
            json!(text(object, &["status", "nodeInfo", "kubeletVersion"])),
        ],
        ("", "Service") => vec![
            name,
            json!(text(object, &["spec", "type"])),
            json!(or_none(object, &["spec", "clusterIP"], "<none>")),
            json!("<none>"),
            json!(ports(object)),
            age,
        ],
        ("apps", "StatefulSet") => {
            let ready = at(object, &["status", "readyReplicas"])
                .and_then(Value::as_i64)
                .unwrap_or(0);
            let wanted = at(object, &["spec", "replicas"])
                .and_then(Value::as_i64)
                .unwrap_or(1);
            vec![name, json!(format!("{ready}/{wanted}")), age]
        }
        ("coordination.k8s.io", "Lease") => vec![name, json!(text(object, &["spec", "holderIdentity"])), age],
        ("", "LimitRange")
        | ("apiextensions.k8s.io", _)
        | ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => {
            vec![name, json!(text(object, &["metadata", "creationTimestamp"]))]
        }
        ("rbac.authorization.k8s.io", _) => {
            let role = format!(
                "{}/{}",
                text(object, &["roleRef", "kind"]),
                text(object, &["roleRef", "name"])
            );
            vec![name, json!(role), age]
        }
        _ => vec![name, age],
    }
}

fn claim(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let status = if at(object, &["metadata", "deletionTimestamp"]).is_some() {
        "Terminating"
    } else {
        text(object, &["status", "phase"])
    };
    let modes: Vec<&str> = list(object, &["status", "accessModes"])
        .iter()
        .filter_map(Value::as_str)
        .map(|mode| match mode {
            "ReadWriteOnce" => "RWO",
            "ReadOnlyMany" => "ROX",
            "ReadWriteMany" => "RWX",
            "ReadWriteOncePod" => "RWOP",
            other => other,
        })
        .collect();
    vec![
        name,
        json!(status),
        json!(text(object, &["spec", "volumeName"])),
        json!(text(object, &["status", "capacity", "storage"])),
        json!(modes.join(",")),
        json!(text(object, &["spec", "storageClassName"])),
        json!("<unset>"),
        age,
        json!(or_none(object, &["spec", "volumeMode"], "<unset>")),
    ]
}

fn event(object: &Value, name: Value, now: jiff::Timestamp) -> Vec<Value> {
    let get = |old: &str, new: &str| {
        at(object, &[old])
            .or_else(|| at(object, &[new]))
            .cloned()
            .unwrap_or_default()
    };
    let time = |value: &Value| value.as_str().map(str::to_owned);
    let moment = text(object, &["eventTime"]).to_owned();
    let first = time(&get("firstTimestamp", "deprecatedFirstTimestamp")).unwrap_or_else(|| moment.clone());
    let last = time(&get("lastTimestamp", "deprecatedLastTimestamp")).unwrap_or_else(|| first.clone());
    let about = get("involvedObject", "regarding");
    let kind = text(&about, &["kind"]).to_lowercase();
    let source = get("source", "deprecatedSource");
    let component = match text(&source, &["component"]) {
        "" => get("reportingComponent", "reportingController")
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        given => given.to_owned(),
    };
    let count = get("count", "deprecatedCount").as_i64().unwrap_or(1).max(1);
    vec![
        json!(time_since(&last, now)),
        json!(text(object, &["type"])),
        json!(text(object, &["reason"])),
        json!(format!("{kind}/{}", text(&about, &["name"]))),
        json!(text(&about, &["fieldPath"])),
        json!(component),
        json!(get("message", "note").as_str().unwrap_or_default().trim()),
        json!(time_since(&first, now)),
        json!(count),
        name,
    ]
}

fn node_status(object: &Value) -> String {
    let ready = list(object, &["status", "conditions"])
        .iter()
        .find(|one| text(one, &["type"]) == "Ready");
    let mut status = match ready.map(|one| text(one, &["status"])) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if at(object, &["spec", "unschedulable"]).and_then(Value::as_bool) == Some(true) {
        status.push_str(",SchedulingDisabled");
    }
    status
}

fn ports(object: &Value) -> String {
    let all: Vec<String> = list(object, &["spec", "ports"])
        .iter()
        .map(|port| {
            let number = at(port, &["port"]).and_then(Value::as_i64).unwrap_or(0);
            format!("{number}/{}", or_none(port, &["protocol"], "TCP"))
        })
        .collect();
    if all.is_empty() {
        "<none>".to_owned()
    } else {
        all.join(",")
    }
}
