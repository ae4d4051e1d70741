//! LimitRanges: defaults and bounds of new Pods and claims.
//!
//! Upstream counterpart: the LimitRanger admission plugin of Kubernetes.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::error::ApiError;
use super::json::{at, list, list_mut, set, set_missing, text};
use super::kinds::Resource;
use super::{Api, quantity};

/// Fills and checks a new object against the LimitRanges of its namespace.
pub(crate) fn apply(api: &Api, resource: &Resource, mut value: Value) -> Result<Value, ApiError> {
    let pod = resource.is_core("Pod");
    if !pod && !resource.is_core("PersistentVolumeClaim") {
        return Ok(value);
    }
    let (ranges, _) = api
        .store()
        .list("limitranges", Some(text(&value, &["metadata", "namespace"])));
    for range in &ranges {
        let limits = list(range, &["spec", "limits"]);
        if pod {
            limits
                .iter()
                .filter(|limit| text(limit, &["type"]) == "Container")
                .for_each(|limit| fill(&mut value, limit));
        }
    }
    for range in &ranges {
        for limit in list(range, &["spec", "limits"]) {
            if let Some(fault) = fault(&value, limit, pod) {
                return Err(ApiError::forbidden(
                    resource,
                    text(&value, &["metadata", "name"]),
                    &fault,
                    None,
                ));
            }
        }
    }
    Ok(value)
}

fn amounts<'a>(value: &'a Value, path: &[&str]) -> impl Iterator<Item = (&'a String, &'a Value)> {
    at(value, path).and_then(Value::as_object).into_iter().flatten()
}

fn fill(pod: &mut Value, limit: &Value) {
    let mut notes = Vec::new();
    for kind in ["containers", "initContainers"] {
        let label = if kind == "containers" {
            "container"
        } else {
            "init container"
        };
        for container in list_mut(pod, &["spec", kind]) {
            let name = text(container, &["name"]).to_owned();
            for (field, from, word) in [
                ("requests", "defaultRequest", "request"),
                ("limits", "default", "limit"),
            ] {
                let mut filled = Vec::new();
                for (resource, amount) in amounts(limit, &[from]) {
                    if at(container, &["resources", field, resource]).is_none() {
                        set_missing(container, &["resources", field, resource], amount.clone());
                        filled.push(resource.as_str());
                    }
                }
                if !filled.is_empty() {
                    notes.push(format!("{} {word} for {label} {name}", filled.join(", ")));
                }
            }
        }
    }
    if !notes.is_empty() {
        let text = format!("LimitRanger plugin set: {}", notes.join("; "));
        set(
            pod,
            &["metadata", "annotations", "kubernetes.io/limit-ranger"],
            text,
        );
    }
}

fn fault(value: &Value, limit: &Value, pod: bool) -> Option<String> {
    match (text(limit, &["type"]), pod) {
        ("Container", true) => ["containers", "initContainers"]
            .into_iter()
            .flat_map(|kind| list(value, &["spec", kind]))
            .find_map(|container| {
                bounds(
                    container.get("resources").unwrap_or(&Value::Null),
                    limit,
                    "Container",
                )
            }),
        ("Pod", true) => bounds(&total(value), limit, "Pod"),
        ("PersistentVolumeClaim", false) => claim_bounds(value, limit),
        _ => None,
    }
}

/// The sum of the containers' amounts; those that leave one open do not count.
fn total(pod: &Value) -> Value {
    let mut all = Map::new();
    for field in ["limits", "requests"] {
        let mut sums: BTreeMap<String, i128> = BTreeMap::new();
        for container in list(pod, &["spec", "containers"]) {
            for (resource, amount) in amounts(container, &["resources", field]) {
                *sums.entry(resource.clone()).or_default() +=
                    amount.as_str().and_then(quantity::milli).unwrap_or(0);
            }
        }
        let sums = sums
            .into_iter()
            .map(|(resource, sum)| (resource, Value::String(format!("{sum}m"))))
            .collect();
        all.insert(field.to_owned(), Value::Object(sums));
    }
    Value::Object(all)
}

fn bounds(resources: &Value, limit: &Value, kind: &str) -> Option<String> {
    let amount = |field: &str, resource: &str| at(resources, &[field, resource]).and_then(Value::as_str);
    for (resource, least) in amounts(limit, &["min"]) {
        let least = least.as_str().unwrap_or_default();
        let word = format!("minimum {resource} usage per {kind} is {least}");
        match amount("requests", resource) {
            None => return Some(format!("{word}.  No request is specified")),
            Some(request) if quantity::milli(request) < quantity::milli(least) => {
                return Some(format!("{word}, but request is {request}"));
            }
            Some(_) => {}
        }
    }
    for (resource, most) in amounts(limit, &["max"]) {
        let most = most.as_str().unwrap_or_default();
        let word = format!("maximum {resource} usage per {kind} is {most}");
        match (amount("limits", resource), amount("requests", resource)) {
            (None, _) => return Some(format!("{word}.  No limit is specified")),
            (Some(found), _) if quantity::milli(found) > quantity::milli(most) => {
                return Some(format!("{word}, but limit is {found}"));
            }
            (_, Some(request)) if quantity::milli(request) > quantity::milli(most) => {
                return Some(format!("{word}, but request is {request}"));
            }
            _ => {}
        }
    }
    None
}

fn claim_bounds(claim: &Value, limit: &Value) -> Option<String> {
    let request = text(claim, &["spec", "resources", "requests", "storage"]);
    let kind = "PersistentVolumeClaim";
    let least = text(limit, &["min", "storage"]);
    if !least.is_empty() && quantity::milli(request) < quantity::milli(least) {
        return Some(format!(
            "minimum storage usage per {kind} is {least}, but request is {request}"
        ));
    }
    let most = text(limit, &["max", "storage"]);
    if !most.is_empty() && quantity::milli(request) > quantity::milli(most) {
        return Some(format!(
            "maximum storage usage per {kind} is {most}, but request is {request}"
        ));
    }
    None
}
