//! Fields of built-in kinds: which exist and which types they have.
//!
//! The structs of k8s-openapi are the schema: a value is read into one and written again, and what
//! does not come back was no field of the kind. The values themselves stay as the client wrote them.

use k8s_openapi::api::{
    admissionregistration::v1 as admission, apps::v1 as apps, batch::v1 as batch,
    coordination::v1 as coordination, core::v1 as core, events::v1 as events, policy::v1 as policy,
    rbac::v1 as rbac, scheduling::v1 as scheduling, storage::v1 as storage,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as apiextensions;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::kinds::Resource;

/// Maps with keys of the client's choice: written only when they hold something.
const MAPS: &[&str] = &[
    "labels",
    "annotations",
    "data",
    "binaryData",
    "stringData",
    "nodeSelector",
    "matchLabels",
    "limits",
    "requests",
    "overhead",
    "default",
    "defaultRequest",
    "max",
    "min",
    "maxLimitRequestRatio",
    "capacity",
    "allocatable",
];
/// Lists that are written even when they are empty.
const KEPT_LISTS: &[&str] = &["finalizers", "containers", "webhooks", "versions"];

fn written_again<T: DeserializeOwned + Serialize>(value: &Value) -> Result<Value, String> {
    let typed: T = serde_json::from_value(value.clone()).map_err(|why| why.to_string())?;
    serde_json::to_value(typed).map_err(|why| why.to_string())
}

/// Drops what is no field of the kind and answers the paths of what was dropped.
///
/// The error tells which value has a wrong type.
pub(crate) fn prune(resource: &Resource, value: &mut Value) -> Result<Vec<String>, String> {
    let Some(known) = known_form(resource, value) else {
        super::json::drop_nulls(value);
        return Ok(Vec::new());
    };
    let mut unknown = Vec::new();
    keep_known(value, &known?, "", &mut unknown);
    Ok(unknown)
}

fn known_form(resource: &Resource, value: &Value) -> Option<Result<Value, String>> {
    Some(match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Namespace") => written_again::<core::Namespace>(value),
        ("", "Pod") => written_again::<core::Pod>(value),
        ("", "ConfigMap") => written_again::<core::ConfigMap>(value),
        ("", "Secret") => written_again::<core::Secret>(value),
        ("", "ServiceAccount") => written_again::<core::ServiceAccount>(value),
        ("", "PersistentVolumeClaim") => written_again::<core::PersistentVolumeClaim>(value),
        ("", "PersistentVolume") => written_again::<core::PersistentVolume>(value),
        ("", "Event") => written_again::<core::Event>(value),
        ("", "LimitRange") => written_again::<core::LimitRange>(value),
        ("", "ResourceQuota") => written_again::<core::ResourceQuota>(value),
        ("", "Service") => written_again::<core::Service>(value),
        ("", "Node") => written_again::<core::Node>(value),
        ("apps", "StatefulSet") => written_again::<apps::StatefulSet>(value),
        ("apps", "Deployment") => written_again::<apps::Deployment>(value),
        ("apps", "ReplicaSet") => written_again::<apps::ReplicaSet>(value),
        ("apps", "DaemonSet") => written_again::<apps::DaemonSet>(value),
        ("batch", "Job") => written_again::<batch::Job>(value),
        ("coordination.k8s.io", "Lease") => written_again::<coordination::Lease>(value),
        ("events.k8s.io", "Event") => written_again::<events::Event>(value),
        ("policy", "PodDisruptionBudget") => written_again::<policy::PodDisruptionBudget>(value),
        ("rbac.authorization.k8s.io", "Role") => written_again::<rbac::Role>(value),
        ("rbac.authorization.k8s.io", "RoleBinding") => written_again::<rbac::RoleBinding>(value),
        ("rbac.authorization.k8s.io", "ClusterRole") => written_again::<rbac::ClusterRole>(value),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding") => {
            written_again::<rbac::ClusterRoleBinding>(value)
        }
        ("storage.k8s.io", "StorageClass") => written_again::<storage::StorageClass>(value),
        ("scheduling.k8s.io", "PriorityClass") => written_again::<scheduling::PriorityClass>(value),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            written_again::<apiextensions::CustomResourceDefinition>(value)
        }
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration") => {
            written_again::<admission::MutatingWebhookConfiguration>(value)
        }
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration") => {
            written_again::<admission::ValidatingWebhookConfiguration>(value)
        }
        _ => return None,
    })
}

fn keep_known(value: &mut Value, known: &Value, path: &str, unknown: &mut Vec<String>) {
    match (value, known) {
        (Value::Object(fields), Value::Object(known)) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            for name in names {
                let here = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                let Some(field) = fields.get_mut(&name) else {
                    continue;
                };
                match known.get(&name) {
                    Some(form) if !field.is_null() && !is_empty_field(&name, field) => {
                        keep_known(field, form, &here, unknown);
                    }
                    other => {
                        if other.is_none() && !field.is_null() {
                            unknown.push(here);
                        }
                        fields.remove(&name);
                    }
                }
            }
        }
        (Value::Array(items), Value::Array(known)) => {
            for (index, (item, form)) in items.iter_mut().zip(known).enumerate() {
                keep_known(item, form, &format!("{path}[{index}]"), unknown);
            }
        }
        // Numbers where texts belong (quantities) are written as texts.
        (value @ Value::Number(_), Value::String(text)) => *value = Value::String(text.clone()),
        _ => {}
    }
}

fn is_empty_field(name: &str, field: &Value) -> bool {
    match field {
        Value::Array(items) => items.is_empty() && !KEPT_LISTS.contains(&name),
        Value::Object(map) => map.is_empty() && MAPS.contains(&name),
        _ => false,
    }
}
