//! Fields kept in annotations, as JSON that equals Go's byte by byte.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ConvertError, go_json};
use crate::decode;

/// Keeps a value in an annotation.
pub(super) fn keep<T: Serialize>(
    meta: &mut ObjectMeta,
    key: &'static str,
    value: &T,
) -> Result<(), ConvertError> {
    let text = serde_json::to_string(value).map_err(|error| ConvertError::Annotation {
        action: "serializing",
        key,
        problem: error.to_string(),
    })?;
    set(meta, key, go_json::escaped(&text));
    Ok(())
}

/// Puts a text into an annotation.
pub(super) fn set(meta: &mut ObjectMeta, key: &str, text: String) {
    meta.annotations
        .get_or_insert_with(BTreeMap::new)
        .insert(key.to_owned(), text);
}

/// Reads the value of an annotation and leaves the annotation.
pub(super) fn peek<T: DeserializeOwned>(
    meta: &ObjectMeta,
    key: &'static str,
    action: &'static str,
) -> Result<Option<T>, ConvertError> {
    let Some(text) = meta
        .annotations
        .as_ref()
        .and_then(|annotations| annotations.get(key))
    else {
        return Ok(None);
    };
    let failed = |problem| ConvertError::Annotation { action, key, problem };
    if let Some(problem) = go_json::syntax_error(text) {
        return Err(failed(problem));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| failed(error.to_string()))?;
    decode::lenient(&value)
        .map(Some)
        .map_err(|error| failed(error.to_string()))
}

/// Reads the value of an annotation and removes the annotation.
pub(super) fn take<T: DeserializeOwned>(
    meta: &mut ObjectMeta,
    key: &'static str,
) -> Result<Option<T>, ConvertError> {
    let value = peek(meta, key, "deserializing")?;
    if value.is_some() {
        remove(meta, key);
    }
    Ok(value)
}

/// Removes an annotation, and the map with it when it was the last.
pub(super) fn remove(meta: &mut ObjectMeta, key: &str) {
    if let Some(annotations) = &mut meta.annotations {
        annotations.remove(key);
        if annotations.is_empty() {
            meta.annotations = None;
        }
    }
}
