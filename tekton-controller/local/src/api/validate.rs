//! What makes an object invalid: metadata of all kinds, the built-in kinds' own rules, and the
//! schemas of custom kinds.

mod pod;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::error::{ApiError, FieldFault};
use super::json::{at, list, text};
use super::kinds::Resource;
use super::write::Part;
use super::{names, schema};

type Faults = Vec<FieldFault>;

/// Checks a new object.
pub(crate) fn on_create(resource: &Resource, value: &Value) -> Result<(), ApiError> {
    let mut faults = Faults::new();
    let name = text(value, &["metadata", "name"]);
    if name.is_empty() {
        faults.push(FieldFault::required(
            "metadata.name",
            "name or generateName is required",
        ));
        return finish(resource, value, &faults);
    }
    metadata(resource, value, &mut faults);
    own_rules(resource, value, &mut faults);
    custom_schema(resource, Part::Main, value, &mut faults);
    finish(resource, value, &faults)
}

/// Checks a changed object.
pub(crate) fn on_update(resource: &Resource, part: Part, old: &Value, value: &Value) -> Result<(), ApiError> {
    let mut faults = Faults::new();
    metadata(resource, value, &mut faults);
    if at(old, &["metadata", "deletionTimestamp"]).is_some() {
        let known = list(old, &["metadata", "finalizers"]);
        let added: Vec<&Value> = list(value, &["metadata", "finalizers"])
            .iter()
            .filter(|one| !known.contains(one))
            .collect();
        if !added.is_empty() {
            let quoted: Vec<String> = added.iter().map(|one| format!("{one}")).collect();
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                quoted.join(", ")
            );
            faults.push(FieldFault::forbidden("metadata.finalizers", &detail));
        }
    }
    if part == Part::Main {
        own_rules(resource, value, &mut faults);
        immutable(resource, old, value, &mut faults);
    }
    custom_schema(resource, part, value, &mut faults);
    finish(resource, value, &faults)
}

fn finish(resource: &Resource, value: &Value, faults: &[FieldFault]) -> Result<(), ApiError> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(
        resource,
        text(value, &["metadata", "name"]),
        faults,
    ))
}

fn custom_schema(resource: &Resource, part: Part, value: &Value, faults: &mut Faults) {
    let Some(definition) = &resource.schema else {
        return;
    };
    if part == Part::Status {
        if let Some(status) = at(value, &["status"]) {
            faults.extend(schema::faults(
                &schema::property(definition, "status"),
                status,
                "status",
            ));
        }
        return;
    }
    faults.extend(schema::faults(definition, value, ""));
}

fn metadata(resource: &Resource, value: &Value, faults: &mut Faults) {
    let meta = at(value, &["metadata"]).cloned().unwrap_or_default();
    let name = text(&meta, &["name"]);
    let checked = match resource.kind.as_str() {
        "Namespace" if !resource.custom => names::dns_label(name),
        "ClusterRole" | "ClusterRoleBinding" | "Role" | "RoleBinding" if !resource.custom => Ok(()),
        _ => names::subdomain(name),
    };
    if let Err(why) = checked {
        faults.push(FieldFault::invalid("metadata.name", &json!(name), &why));
    }
    let empty = Map::new();
    let map = |field: &str| {
        at(&meta, &[field])
            .and_then(Value::as_object)
            .unwrap_or(&empty)
            .clone()
    };
    for (key, label) in map("labels") {
        if let Err(why) = names::qualified_name(&key) {
            faults.push(FieldFault::invalid("metadata.labels", &json!(key), &why));
        }
        if let Err(why) = names::label_value(label.as_str().unwrap_or_default()) {
            faults.push(FieldFault::invalid("metadata.labels", &label, &why));
        }
    }
    let mut size = 0;
    for (key, note) in map("annotations") {
        if let Err(why) = names::qualified_name(&key.to_lowercase()) {
            faults.push(FieldFault::invalid("metadata.annotations", &json!(key), &why));
        }
        size += key.len() + note.as_str().map_or(0, str::len);
    }
    if size > 256 * 1024 {
        faults.push(FieldFault {
            reason: "FieldValueTooLong",
            field: "metadata.annotations".into(),
            message: "Too long: may not be more than 262144 bytes".into(),
        });
    }
    for finalizer in list(&meta, &["finalizers"]) {
        if let Err(why) = names::qualified_name(finalizer.as_str().unwrap_or_default()) {
            faults.push(FieldFault::invalid("metadata.finalizers", finalizer, &why));
        }
    }
    owners(list(&meta, &["ownerReferences"]), faults);
}

fn owners(references: &[Value], faults: &mut Faults) {
    const FIELD: &str = "metadata.ownerReferences";
    for reference in references {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if text(reference, &[field]).is_empty() {
                let found = json!(text(reference, &[field]));
                faults.push(FieldFault::invalid(
                    format!("{FIELD}.{field}"),
                    &found,
                    "must not be empty",
                ));
            }
        }
    }
    let controllers: Vec<&Value> = references
        .iter()
        .filter(|one| one.get("controller").and_then(Value::as_bool) == Some(true))
        .collect();
    if let [first, second, ..] = controllers.as_slice() {
        let label = |one: &Value| format!("{}/{}", text(one, &["kind"]), text(one, &["name"]));
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {} and {}",
            label(first),
            label(second)
        );
        // The order of fields in the message is that of the Go struct.
        let ordered: Vec<String> = references.iter().map(in_go_order).collect();
        faults.push(FieldFault {
            reason: "FieldValueInvalid",
            field: FIELD.into(),
            message: format!("Invalid value: [{}]: {detail}", ordered.join(",")),
        });
    }
}

fn in_go_order(reference: &Value) -> String {
    let fields = [
        "apiVersion",
        "kind",
        "name",
        "uid",
        "controller",
        "blockOwnerDeletion",
    ];
    let parts: Vec<String> = fields
        .into_iter()
        .filter_map(|field| reference.get(field).map(|value| format!("{field:?}:{value}")))
        .collect();
    format!("{{{}}}", parts.join(","))
}

fn own_rules(resource: &Resource, value: &Value, faults: &mut Faults) {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Pod") => pod::spec(at(value, &["spec"]).unwrap_or(&Value::Null), "spec", faults),
        ("apps", _) => {
            if let Some(spec) = at(value, &["spec", "template", "spec"]) {
                pod::spec(spec, "spec.template.spec", faults);
            }
        }
        ("", "ConfigMap") => config_map(value, faults),
        ("", "Secret") => secret(value, faults),
        ("", "PersistentVolumeClaim") => claim(value, faults),
        ("", "Event") => event(value, "involvedObject", faults),
        ("events.k8s.io", "Event") => new_event(value, faults),
        _ => {}
    }
}

fn config_map(value: &Value, faults: &mut Faults) {
    let fields = |name: &str| {
        at(value, &[name])
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default()
    };
    let (data, binary) = (fields("data"), fields("binaryData"));
    for (field, map) in [("data", &data), ("binaryData", &binary)] {
        for key in map.keys() {
            let path = format!("{field}[{key}]");
            if let Err(why) = names::config_key(key) {
                faults.push(FieldFault::invalid(&*path, &json!(key), &why));
            }
            if field == "data" && binary.contains_key(key) {
                faults.push(FieldFault::invalid(
                    path,
                    &json!(key),
                    "duplicate of key present in binaryData",
                ));
            }
        }
    }
}

fn secret(value: &Value, faults: &mut Faults) {
    let data = at(value, &["data"])
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    for key in data.keys() {
        if let Err(why) = names::config_key(key) {
            faults.push(FieldFault::invalid(format!("data[{key}]"), &json!(key), &why));
        }
    }
    let required = |key: &str, faults: &mut Faults| {
        if !data.contains_key(key) {
            faults.push(FieldFault::required(format!("data[{key}]"), ""));
        }
    };
    match text(value, &["type"]) {
        kind @ ("kubernetes.io/dockerconfigjson" | "kubernetes.io/dockercfg") => {
            let key = if kind.ends_with("json") {
                ".dockerconfigjson"
            } else {
                ".dockercfg"
            };
            required(key, faults);
            let parsed = data
                .get(key)
                .and_then(Value::as_str)
                .map(|text| STANDARD.decode(text).unwrap_or_default());
            if parsed.is_some_and(|bytes| serde_json::from_slice::<Value>(&bytes).is_err()) {
                let hidden = json!("<secret contents redacted>");
                faults.push(FieldFault::invalid(
                    format!("data[{key}]"),
                    &hidden,
                    "unexpected end of JSON input",
                ));
            }
        }
        "kubernetes.io/basic-auth" if !data.contains_key("username") && !data.contains_key("password") => {
            required("username", faults);
            required("password", faults);
        }
        "kubernetes.io/ssh-auth" => {
            let empty = data
                .get("ssh-privatekey")
                .and_then(Value::as_str)
                .is_none_or(str::is_empty);
            if empty {
                faults.push(FieldFault::required("data[ssh-privatekey]", ""));
            }
        }
        "kubernetes.io/tls" => {
            required("tls.crt", faults);
            required("tls.key", faults);
        }
        "kubernetes.io/service-account-token" => {
            let account = at(
                value,
                &["metadata", "annotations", "kubernetes.io/service-account.name"],
            );
            if account.and_then(Value::as_str).is_none_or(str::is_empty) {
                faults.push(FieldFault::required(
                    "metadata.annotations[kubernetes.io/service-account.name]",
                    "",
                ));
            }
        }
        _ => {}
    }
}

fn claim(value: &Value, faults: &mut Faults) {
    if list(value, &["spec", "accessModes"]).is_empty() {
        faults.push(FieldFault::required(
            "spec.accessModes",
            "at least 1 access mode is required",
        ));
    }
    if at(value, &["spec", "resources", "requests", "storage"]).is_none() {
        faults.push(FieldFault::required("spec.resources[storage]", ""));
    }
}

fn event(value: &Value, about: &str, faults: &mut Faults) {
    let namespace = text(value, &["metadata", "namespace"]);
    let involved = text(value, &[about, "namespace"]);
    let fits =
        involved == namespace || (involved.is_empty() && matches!(namespace, "default" | "kube-system"));
    if !fits {
        faults.push(FieldFault::invalid(
            format!("{about}.namespace"),
            &json!(involved),
            "does not match event.namespace",
        ));
    }
}

fn new_event(value: &Value, faults: &mut Faults) {
    event(value, "regarding", faults);
    if at(value, &["eventTime"]).is_none() {
        faults.push(FieldFault::required("eventTime", ""));
    }
    for (field, name) in [
        ("reportingController", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ] {
        if text(value, &[field]).is_empty() {
            faults.push(FieldFault::required(name, ""));
        }
    }
    for field in ["action", "reason"] {
        if text(value, &[field]).is_empty() {
            faults.push(FieldFault::required(field, ""));
        }
    }
}

fn immutable(resource: &Resource, old: &Value, value: &Value, faults: &mut Faults) {
    let mut fixed = |path: &[&str]| {
        if at(old, path) != at(value, path) {
            let found = at(value, path).cloned().unwrap_or_default();
            faults.push(FieldFault::invalid(path.join("."), &found, "field is immutable"));
        }
    };
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Secret") => {
            fixed(&["type"]);
            if old.get("immutable").and_then(Value::as_bool) == Some(true) {
                frozen(old, value, &["data"], faults);
            }
        }
        ("", "ConfigMap") if old.get("immutable").and_then(Value::as_bool) == Some(true) => {
            frozen(old, value, &["data", "binaryData"], faults);
        }
        ("", "Pod") => pod::changes(old, value, faults),
        ("rbac.authorization.k8s.io", _) => fixed(&["roleRef"]),
        _ => {}
    }
}

/// `immutable: true` freezes the content and itself.
fn frozen(old: &Value, value: &Value, fields: &[&str], faults: &mut Faults) {
    let detail = "field is immutable when `immutable` is set";
    if value.get("immutable").and_then(Value::as_bool) != Some(true) {
        faults.push(FieldFault::forbidden("immutable", detail));
    }
    for field in fields {
        if at(old, &[field]) != at(value, &[field]) {
            faults.push(FieldFault::forbidden(*field, detail));
        }
    }
}
