//! Rules of Pods: the faults that clients meet, and what of a Pod may still change.

use serde_json::{Value, json};

use crate::api::error::FieldFault;
use crate::api::json::{at, list, list_mut, remove, text};
use crate::api::names;

const MAY_CHANGE: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
     `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
     tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Checks a pod spec below a path.
pub(super) fn spec(spec: &Value, path: &str, faults: &mut Vec<FieldFault>) {
    let volumes = volumes(spec, path, faults);
    let mut names_seen: Vec<String> = Vec::new();
    if list(spec, &["containers"]).is_empty() {
        faults.push(FieldFault::required(format!("{path}.containers"), ""));
    }
    for kind in ["containers", "initContainers"] {
        for (index, container) in list(spec, &[kind]).iter().enumerate() {
            let here = format!("{path}.{kind}[{index}]");
            check_container(container, &here, &volumes, &mut names_seen, faults);
        }
    }
    let policy = text(spec, &["restartPolicy"]);
    if !matches!(policy, "Always" | "OnFailure" | "Never") {
        let allowed = ["Always", "OnFailure", "Never"];
        faults.push(FieldFault::unsupported(
            format!("{path}.restartPolicy"),
            &json!(policy),
            &allowed,
        ));
    }
    if let Some(seconds) = at(spec, &["activeDeadlineSeconds"]).and_then(Value::as_i64)
        && !(1..=i64::from(i32::MAX)).contains(&seconds)
    {
        let detail = "must be between 1 and 2147483647, inclusive";
        faults.push(FieldFault::invalid(
            format!("{path}.activeDeadlineSeconds"),
            &json!(seconds),
            detail,
        ));
    }
}

fn volumes(spec: &Value, path: &str, faults: &mut Vec<FieldFault>) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for (index, volume) in list(spec, &["volumes"]).iter().enumerate() {
        let name = text(volume, &["name"]);
        let field = format!("{path}.volumes[{index}].name");
        if name.is_empty() {
            faults.push(FieldFault::required(field, ""));
        } else if let Err(why) = names::dns_label(name) {
            faults.push(FieldFault::invalid(field, &json!(name), &why));
        } else if known.iter().any(|one| one == name) {
            faults.push(FieldFault::duplicate(field, &json!(name)));
        }
        if volume.as_object().is_some_and(|fields| fields.len() > 2) {
            let sources: Vec<&String> = volume
                .as_object()
                .into_iter()
                .flatten()
                .map(|(key, _)| key)
                .filter(|key| *key != "name")
                .collect();
            for extra in sources.iter().skip(1) {
                let detail = "may not specify more than 1 volume type";
                faults.push(FieldFault::forbidden(
                    format!("{path}.volumes[{index}].{extra}"),
                    detail,
                ));
            }
        }
        known.push(name.to_owned());
    }
    known
}

fn check_container(
    container: &Value,
    here: &str,
    volumes: &[String],
    seen: &mut Vec<String>,
    faults: &mut Vec<FieldFault>,
) {
    let name = text(container, &["name"]);
    let field = format!("{here}.name");
    if name.is_empty() {
        faults.push(FieldFault::required(field, ""));
    } else if let Err(why) = names::dns_label(name) {
        faults.push(FieldFault::invalid(field, &json!(name), &why));
    } else if seen.iter().any(|one| one == name) {
        faults.push(FieldFault::duplicate(field, &json!(name)));
    }
    seen.push(name.to_owned());
    if text(container, &["image"]).is_empty() {
        faults.push(FieldFault::required(format!("{here}.image"), ""));
    }
    let mut paths: Vec<&str> = Vec::new();
    for (index, mount) in list(container, &["volumeMounts"]).iter().enumerate() {
        let (volume, path) = (text(mount, &["name"]), text(mount, &["mountPath"]));
        let place = format!("{here}.volumeMounts[{index}]");
        if volume.is_empty() {
            faults.push(FieldFault::required(format!("{place}.name"), ""));
        } else if !volumes.iter().any(|one| one == volume) {
            faults.push(FieldFault::not_found(format!("{place}.name"), &json!(volume)));
        }
        if path.is_empty() {
            faults.push(FieldFault::required(format!("{place}.mountPath"), ""));
        } else if paths.contains(&path) {
            faults.push(FieldFault::invalid(
                format!("{place}.mountPath"),
                &json!(path),
                "must be unique",
            ));
        }
        paths.push(path);
    }
    for (index, variable) in list(container, &["env"]).iter().enumerate() {
        if text(variable, &["name"]).is_empty() {
            faults.push(FieldFault::required(format!("{here}.env[{index}].name"), ""));
        }
        if !text(variable, &["value"]).is_empty() && at(variable, &["valueFrom"]).is_some() {
            let detail = "may not be specified when `value` is not empty";
            faults.push(FieldFault::invalid(
                format!("{here}.env[{index}].valueFrom"),
                &json!(""),
                detail,
            ));
        }
    }
}

/// Checks that only the changeable parts of a Pod differ.
pub(super) fn changes(old: &Value, value: &Value, faults: &mut Vec<FieldFault>) {
    const DEADLINE: [&str; 2] = ["spec", "activeDeadlineSeconds"];
    let seconds = |pod: &Value| at(pod, &DEADLINE).and_then(Value::as_i64);
    match (seconds(old), seconds(value)) {
        (Some(before), Some(after)) if after > before => {
            let detail = format!("must be less than or equal to previous value: {before}");
            faults.push(FieldFault::invalid(
                "spec.activeDeadlineSeconds",
                &json!(after),
                &detail,
            ));
            return;
        }
        (Some(_), None) => {
            faults.push(FieldFault::invalid(
                "spec.activeDeadlineSeconds",
                &Value::Null,
                "must not update from a positive integer to nil value",
            ));
            return;
        }
        _ => {}
    }
    for kind in ["containers", "initContainers"] {
        let (before, after) = (list(old, &["spec", kind]), list(value, &["spec", kind]));
        if before.len() != after.len() {
            faults.push(FieldFault::forbidden(
                format!("spec.{kind}"),
                "pod updates may not add or remove containers",
            ));
            return;
        }
    }
    let tolerations = list(value, &["spec", "tolerations"]);
    if list(old, &["spec", "tolerations"])
        .iter()
        .any(|one| !tolerations.contains(one))
    {
        faults.push(FieldFault::forbidden(
            "spec.tolerations",
            "existing toleration can not be modified except its tolerationSeconds",
        ));
        return;
    }
    if fixed_part(old) != fixed_part(value) {
        faults.push(FieldFault::forbidden("spec", MAY_CHANGE));
    }
}

fn fixed_part(pod: &Value) -> Value {
    let mut spec = at(pod, &["spec"]).cloned().unwrap_or_default();
    for kind in ["containers", "initContainers"] {
        for container in list_mut(&mut spec, &[kind]) {
            remove(container, &["image"]);
        }
    }
    for field in ["activeDeadlineSeconds", "tolerations", "ephemeralContainers"] {
        remove(&mut spec, &[field]);
    }
    if at(&spec, &["terminationGracePeriodSeconds"])
        .and_then(Value::as_i64)
        .is_some_and(|seconds| seconds < 0)
    {
        remove(&mut spec, &["terminationGracePeriodSeconds"]);
    }
    spec
}
