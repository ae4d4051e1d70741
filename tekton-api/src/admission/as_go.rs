//! Members that Go writes though they are empty, and that the generated types do not know of.
//!
//! Upstream counterpart: the JSON tags without `omitempty`, and embedded structs, in `k8s.io/api`.

use serde_json::{Map, Value, json};

/// Deepest nesting that is looked at; objects are not deeper.
const DEEPEST: usize = 128;

/// Completes an object as it is written; `given` is the object it was read from.
pub(super) fn complete(written: &mut Value, given: &Value) {
    own_kind(written, given);
    if written.get("kind").and_then(Value::as_str) == Some("VerificationPolicy") {
        for field in ["resources", "authorities"] {
            let is_given = given
                .pointer(&format!("/spec/{field}"))
                .is_some_and(Value::is_array);
            if let Some(spec) = written.get_mut("spec").and_then(Value::as_object_mut)
                && !is_given
            {
                spec.insert(field.to_owned(), Value::Null);
            }
        }
    }
    walk(written, given, 0);
}

/// An object says of itself what it said before, whatever it was taken for.
fn own_kind(written: &mut Value, given: &Value) {
    let is_request = written.get("kind").and_then(Value::as_str) == Some("ResolutionRequest");
    let Value::Object(members) = written else {
        return;
    };
    for field in ["apiVersion", "kind"] {
        match given.get(field) {
            Some(Value::String(text)) if !text.is_empty() => {
                members.insert(field.to_owned(), json!(text));
            }
            // Defaulting names requests that have no kind, and only those.
            _ if is_request => {}
            _ => {
                members.remove(field);
            }
        }
    }
}

fn walk(written: &mut Value, given: &Value, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    match written {
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                walk(item, given.get(index).unwrap_or(&Value::Null), depth + 1);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                let given = given.get(key).unwrap_or(&Value::Null);
                member(key, value, given);
                walk(value, given, depth + 1);
            }
        }
        _ => {}
    }
}

fn member(key: &str, value: &mut Value, given: &Value) {
    let Value::Object(members) = value else {
        return;
    };
    match key {
        "projected" => {
            members.entry("sources").or_insert(Value::Null);
        }
        "resourceFieldRef" => {
            members.entry("divisor").or_insert_with(|| json!("0"));
        }
        "volumeClaimTemplate" => claim_template(members, given),
        _ => {}
    }
}

/// A claim template of a workspace is a whole object, that of an ephemeral volume only a part of one.
fn claim_template(members: &mut Map<String, Value>, given: &Value) {
    if members.contains_key("kind") {
        for field in ["apiVersion", "kind"] {
            match given.get(field) {
                Some(Value::String(text)) if !text.is_empty() => {
                    members.insert(field.to_owned(), json!(text));
                }
                _ => {
                    members.remove(field);
                }
            }
        }
        members.entry("status").or_insert_with(|| json!({}));
    }
    members.entry("metadata").or_insert_with(|| json!({}));
    let spec = members.entry("spec").or_insert_with(|| json!({}));
    if let Value::Object(spec) = spec {
        spec.entry("resources").or_insert_with(|| json!({}));
    }
}
