//! From a request's body to an object that may go on to admission: type, name, namespace, fields.

use serde_json::{Value, json};

use super::error::{ApiError, FieldFault};
use super::json::{at, drop_nulls, object, remove, set, text};
use super::kinds::Resource;
use super::options::FieldValidation;
use super::request::Target;
use super::{defaults, schema, typed};

/// Checks kind and version, drops unknown fields (answering their paths) and fills defaults.
pub(crate) fn accept(resource: &Resource, value: &mut Value) -> Result<Vec<String>, ApiError> {
    let unknown = accept_partial(resource, value)?;
    if let Some(schema) = resource.schema.as_ref().filter(|_| resource.custom) {
        schema::fill_defaults(schema, value);
    }
    defaults::fill(resource, value);
    Ok(unknown)
}

/// The same without defaults, for a configuration that is applied.
pub(crate) fn accept_partial(resource: &Resource, value: &mut Value) -> Result<Vec<String>, ApiError> {
    if !value.is_object() {
        let text = format!(
            "json: cannot unmarshal {} into Go value of type {}",
            kind_of(value),
            resource.kind
        );
        return Err(ApiError::bad_request(text));
    }
    check_type(resource, value)?;
    if at(value, &["metadata"]).is_some_and(|meta| !meta.is_object()) {
        return Err(ApiError::bad_request("metadata must be an object"));
    }
    normalise_metadata(value)?;
    prune(resource, value)
}

fn prune(resource: &Resource, value: &mut Value) -> Result<Vec<String>, ApiError> {
    if !resource.custom {
        return typed::prune(resource, value).map_err(|why| {
            let version = &resource.version;
            ApiError::bad_request(format!(
                "{0} in version {version:?} cannot be handled as a {0}: {why}",
                resource.kind
            ))
        });
    }
    let Some(schema) = &resource.schema else {
        drop_nulls(value);
        return Ok(Vec::new());
    };
    Ok(schema::prune(schema, value))
}

/// What to do about unknown fields on a create or PUT: a refusal, or warnings.
pub(crate) fn judge_unknown(
    resource: &Resource,
    unknown: &[String],
    validation: FieldValidation,
) -> Result<Vec<String>, ApiError> {
    let lines: Vec<String> = unknown
        .iter()
        .map(|path| format!("unknown field {path:?}"))
        .collect();
    match validation {
        _ if lines.is_empty() => Ok(lines),
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => Ok(lines),
        FieldValidation::Strict => Err(ApiError::bad_request(format!(
            "{0} in version {1:?} cannot be handled as a {0}: strict decoding error: {2}",
            resource.kind,
            resource.version,
            lines.join(", ")
        ))),
    }
}

/// The same for a patch, where the refusal quotes the patch.
pub(crate) fn judge_unknown_patch(
    unknown: &[String],
    validation: FieldValidation,
    patch: &str,
) -> Result<Vec<String>, ApiError> {
    let lines: Vec<String> = unknown
        .iter()
        .map(|path| format!("unknown field {path:?}"))
        .collect();
    match validation {
        _ if lines.is_empty() => Ok(lines),
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => Ok(lines),
        FieldValidation::Strict => {
            let detail = format!("strict decoding error: {}", lines.join(", "));
            let fault = FieldFault::invalid("patch", &json!(patch), &detail);
            Err(ApiError::invalid_kind("", "", "", &[fault]))
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "bool",
        _ => "null",
    }
}

fn check_type(resource: &Resource, value: &mut Value) -> Result<(), ApiError> {
    let (version, kind) = (
        text(value, &["apiVersion"]).to_owned(),
        text(value, &["kind"]).to_owned(),
    );
    let expected = resource.api_version();
    if resource.custom {
        for (name, found) in [("Kind", &kind), ("apiVersion", &version)] {
            if found.is_empty() {
                return Err(ApiError::bad_request(format!(
                    "Object '{name}' is missing in '{value}'"
                )));
            }
        }
        if version != expected {
            return Err(ApiError::bad_request(format!(
                "the API version in the data ({version}) does not match the expected API version ({expected})"
            )));
        }
        if kind != resource.kind {
            let fault = FieldFault::invalid("kind", &json!(kind), &format!("must be {}", resource.kind));
            return Err(ApiError::invalid_kind(
                &resource.group,
                &kind,
                text(value, &["metadata", "name"]),
                &[fault],
            ));
        }
        return Ok(());
    }
    let differs = (!kind.is_empty() && kind != resource.kind) || (!version.is_empty() && version != expected);
    if differs {
        let shown = version.rsplit('/').next().unwrap_or_default();
        return Err(ApiError::bad_request(format!(
            "{kind} in version {shown:?} cannot be handled as a {}: no kind {kind:?} is registered for version {version:?}",
            resource.kind
        )));
    }
    set(value, &["apiVersion"], expected);
    set(value, &["kind"], resource.kind.as_str());
    Ok(())
}

/// Metadata has the same fields in all kinds; texts elsewhere than in texts are refused.
fn normalise_metadata(value: &mut Value) -> Result<(), ApiError> {
    const TEXTS: &[&str] = &[
        "name",
        "generateName",
        "namespace",
        "uid",
        "resourceVersion",
        "selfLink",
    ];
    let Some(meta) = value.get_mut("metadata") else {
        return Ok(());
    };
    drop_nulls(meta);
    for name in TEXTS {
        if at(meta, &[name]).is_some_and(|found| !found.is_string()) {
            return Err(ApiError::bad_request(format!(
                "json: cannot unmarshal into Go struct field ObjectMeta.{name} of type string"
            )));
        }
    }
    for name in ["labels", "annotations"] {
        let Some(map) = at(meta, &[name]) else { continue };
        let texts = map
            .as_object()
            .is_some_and(|map| map.values().all(Value::is_string));
        if !texts {
            return Err(ApiError::bad_request(format!(
                "json: cannot unmarshal into Go struct field ObjectMeta.{name} of type map[string]string"
            )));
        }
    }
    for name in ["finalizers", "ownerReferences", "managedFields"] {
        if at(meta, &[name]).is_some_and(|found| !found.is_array()) {
            return Err(ApiError::bad_request(format!(
                "json: cannot unmarshal into Go struct field ObjectMeta.{name} of type array"
            )));
        }
    }
    let fields = object(meta);
    for name in [
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
        "managedFields",
        "name",
        "generateName",
        "namespace",
    ] {
        let empty = fields.get(name).is_some_and(|found| match found {
            Value::Object(map) => map.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::String(text) => text.is_empty(),
            _ => false,
        });
        if empty {
            fields.remove(name);
        }
    }
    Ok(())
}

/// Puts the path's namespace on the object; another one in the body is refused.
pub(crate) fn place(resource: &Resource, target: &Target, value: &mut Value) -> Result<(), ApiError> {
    if !resource.namespaced {
        remove(value, &["metadata", "namespace"]);
        return Ok(());
    }
    let given = text(value, &["metadata", "namespace"]);
    if !given.is_empty() && given != target.namespace {
        let text = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(ApiError::bad_request(text));
    }
    set(value, &["metadata", "namespace"], target.namespace.as_str());
    Ok(())
}
