//! Values that Kubernetes fills in for built-in kinds.
//!
//! `fill` works on what the client sent, `on_create` sets what only the server may set, and
//! `after_admission` what depends on limits. Fields that Go always writes are written, too.

mod pod;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::json::{at, list, list_mut, map_at, remove, set, set_missing, text};
use super::kinds::Resource;
pub(crate) use pod::quality_of_service;

/// Defaults of an object as it comes in.
pub(crate) fn fill(resource: &Resource, value: &mut Value) {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Pod") => {
            set_missing(value, &["spec"], json!({}));
            if let Some(spec) = value.get_mut("spec") {
                pod::fill_spec(spec);
            }
            pod::fill_status(value);
        }
        ("", "Secret") => fill_secret(value),
        ("", "Event") => fill_event(
            value,
            &[
                "source",
                "firstTimestamp",
                "lastTimestamp",
                "reportingComponent",
                "involvedObject",
            ],
        ),
        ("events.k8s.io", "Event") => {
            let fields = [
                "deprecatedSource",
                "deprecatedFirstTimestamp",
                "deprecatedLastTimestamp",
                "reportingController",
                "regarding",
            ];
            fill_event(value, &fields);
        }
        ("", "PersistentVolumeClaim") => {
            set_missing(value, &["spec", "volumeMode"], "Filesystem");
            set_missing(value, &["spec", "resources"], json!({}));
            set_missing(value, &["status"], json!({}));
        }
        ("", "PersistentVolume") => {
            set_missing(value, &["spec", "persistentVolumeReclaimPolicy"], "Retain");
            set_missing(value, &["spec", "volumeMode"], "Filesystem");
        }
        ("", "LimitRange") => list_mut(value, &["spec", "limits"])
            .iter_mut()
            .for_each(fill_limit),
        ("", "Service") => fill_service(value),
        ("", "Namespace") => set_missing(value, &["spec"], json!({})),
        ("apps", "StatefulSet") => fill_stateful_set(value),
        ("apps" | "batch", _) => fill_template(value),
        ("storage.k8s.io", "StorageClass") => {
            set_missing(value, &["reclaimPolicy"], "Delete");
            set_missing(value, &["volumeBindingMode"], "Immediate");
        }
        ("rbac.authorization.k8s.io", _) => fill_rbac(value),
        _ => {}
    }
}

fn fill_secret(value: &mut Value) {
    if let Some(Value::Object(texts)) = remove(value, &["stringData"]) {
        let data = map_at(value, &["data"]);
        for (key, text) in texts {
            data.insert(key, STANDARD.encode(text.as_str().unwrap_or_default()).into());
        }
        if data.is_empty() {
            remove(value, &["data"]);
        }
    }
    set_missing(value, &["type"], "Opaque");
}

fn fill_event(value: &mut Value, [source, first, last, component, about]: &[&str; 5]) {
    set_missing(value, &[about], json!({}));
    set_missing(value, &[source], json!({}));
    for time in [first, last, &"eventTime"] {
        if value.get(*time).is_none() {
            set(value, &[time], Value::Null);
        }
    }
    if *component == "reportingComponent" {
        set_missing(value, &["reportingComponent"], "");
        set_missing(value, &["reportingInstance"], "");
    }
}

/// Limits of containers: a default limit follows the maximum, a default request the default limit.
fn fill_limit(limit: &mut Value) {
    if text(limit, &["type"]) != "Container" {
        return;
    }
    for (to, from) in [
        ("default", "max"),
        ("defaultRequest", "default"),
        ("defaultRequest", "min"),
    ] {
        let Some(values) = at(limit, &[from]).and_then(Value::as_object).cloned() else {
            continue;
        };
        for (resource, amount) in values {
            set_missing(limit, &[to, &resource], amount);
        }
    }
}

fn fill_service(value: &mut Value) {
    set_missing(value, &["spec", "type"], "ClusterIP");
    set_missing(value, &["spec", "sessionAffinity"], "None");
    set_missing(value, &["spec", "internalTrafficPolicy"], "Cluster");
    for port in list_mut(value, &["spec", "ports"]) {
        set_missing(port, &["protocol"], "TCP");
        if let Some(number) = at(port, &["port"]).cloned() {
            set_missing(port, &["targetPort"], number);
        }
    }
    set_missing(value, &["status"], json!({"loadBalancer": {}}));
}

fn fill_template(value: &mut Value) {
    if let Some(spec) = value
        .get_mut("spec")
        .and_then(|spec| spec.get_mut("template"))
        .and_then(|one| one.get_mut("spec"))
    {
        pod::fill_spec(spec);
    }
}

fn fill_stateful_set(value: &mut Value) {
    fill_template(value);
    set_missing(value, &["spec", "replicas"], 1);
    set_missing(value, &["spec", "serviceName"], "");
    set_missing(value, &["spec", "podManagementPolicy"], "OrderedReady");
    set_missing(value, &["spec", "updateStrategy", "type"], "RollingUpdate");
    if text(value, &["spec", "updateStrategy", "type"]) == "RollingUpdate" {
        set_missing(
            value,
            &["spec", "updateStrategy", "rollingUpdate", "partition"],
            0,
        );
    }
    set_missing(value, &["spec", "revisionHistoryLimit"], 10);
    let retention = ["spec", "persistentVolumeClaimRetentionPolicy"];
    for moment in ["whenDeleted", "whenScaled"] {
        set_missing(value, &[retention[0], retention[1], moment], "Retain");
    }
    set_missing(value, &["status", "replicas"], 0);
    set_missing(value, &["status", "availableReplicas"], 0);
}

fn fill_rbac(value: &mut Value) {
    if at(value, &["roleRef"]).is_some() {
        set_missing(value, &["roleRef", "apiGroup"], "rbac.authorization.k8s.io");
    }
    for subject in list_mut(value, &["subjects"]) {
        if matches!(text(subject, &["kind"]), "User" | "Group") {
            set_missing(subject, &["apiGroup"], "rbac.authorization.k8s.io");
        }
    }
}

/// What the server sets on a new object whatever the client sent.
pub(crate) fn on_create(resource: &Resource, value: &mut Value) {
    if resource.status && !matches!(resource.kind.as_str(), "Node" | "CustomResourceDefinition") {
        remove(value, &["status"]);
    }
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Namespace") => {
            set(value, &["status", "phase"], "Active");
            if list(value, &["spec", "finalizers"]).is_empty() {
                set(value, &["spec", "finalizers"], json!(["kubernetes"]));
            }
            let name = text(value, &["metadata", "name"]).to_owned();
            set(
                value,
                &["metadata", "labels", "kubernetes.io/metadata.name"],
                name,
            );
        }
        ("", "PersistentVolumeClaim") => {
            set(value, &["status", "phase"], "Pending");
            protect(value, "kubernetes.io/pvc-protection");
        }
        ("", "PersistentVolume") => {
            set(value, &["status", "phase"], "Pending");
            protect(value, "kubernetes.io/pv-protection");
        }
        ("apps", "StatefulSet") => {
            set(value, &["status"], json!({"replicas": 0, "availableReplicas": 0}));
        }
        ("apps" | "batch", _) => set(value, &["status"], json!({})),
        ("", "Service") => set(value, &["status"], json!({"loadBalancer": {}})),
        ("apiextensions.k8s.io", _) => establish(value),
        _ => {}
    }
}

fn protect(value: &mut Value, finalizer: &str) {
    let mut all = list(value, &["metadata", "finalizers"]).to_vec();
    if !all.iter().any(|one| one == finalizer) {
        all.push(finalizer.into());
        set(value, &["metadata", "finalizers"], all);
    }
}

/// A definition is served as soon as it is stored.
pub(crate) fn establish(value: &mut Value) {
    let names = at(value, &["spec", "names"]).cloned().unwrap_or_default();
    let kind = text(&names, &["kind"]).to_owned();
    set_missing(value, &["spec", "names", "listKind"], format!("{kind}List"));
    set_missing(value, &["spec", "names", "singular"], kind.to_lowercase());
    set_missing(value, &["spec", "conversion", "strategy"], "None");
    let names = at(value, &["spec", "names"]).cloned().unwrap_or_default();
    let stored: Vec<Value> = list(value, &["spec", "versions"])
        .iter()
        .filter(|version| version.get("storage").and_then(Value::as_bool) == Some(true))
        .filter_map(|version| version.get("name").cloned())
        .collect();
    let condition = |kind: &str, reason: &str, message: &str| json!({"type": kind, "status": "True", "lastTransitionTime": super::write::now(), "reason": reason, "message": message});
    let conditions = json!([
        condition("NamesAccepted", "NoConflicts", "no conflicts found"),
        condition(
            "Established",
            "InitialNamesAccepted",
            "the initial names have been accepted"
        ),
    ]);
    set(
        value,
        &["status"],
        json!({"acceptedNames": names, "conditions": conditions, "storedVersions": stored}),
    );
}

/// What admission plugins of a plain cluster add, and what follows from the final resources.
pub(crate) fn after_admission(resource: &Resource, value: &mut Value) {
    if resource.is_core("Pod") {
        set_missing(value, &["spec", "preemptionPolicy"], "PreemptLowerPriority");
        set_missing(value, &["spec", "priority"], 0);
        let quality = quality_of_service(value);
        set(
            value,
            &["status"],
            json!({"phase": "Pending", "qosClass": quality}),
        );
    }
}

/// Fields that an update fills or keeps.
pub(crate) fn on_update(resource: &Resource, old: &Value, after: &mut Value) {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Pod") => {
            for field in ["preemptionPolicy", "priority"] {
                if let Some(value) = at(old, &["spec", field]) {
                    set_missing(after, &["spec", field], value.clone());
                }
            }
            if let Some(quality) = at(old, &["status", "qosClass"]) {
                set(after, &["status", "qosClass"], quality.clone());
            }
            set_missing(after, &["status", "phase"], "Pending");
        }
        ("", "Namespace") => {
            let name = text(after, &["metadata", "name"]).to_owned();
            set(
                after,
                &["metadata", "labels", "kubernetes.io/metadata.name"],
                name,
            );
        }
        _ => {}
    }
}
