//! From the stored form of an object to the one a resource shows, and back.
//!
//! Custom kinds are stored in their storage version and converted by a function that the owner of
//! the cluster may hand in; without one only `apiVersion` changes. The two Event groups show one
//! object under different field names.

use serde_json::{Value, json};

use super::error::ApiError;
use super::json::{remove, set, text};
use super::kinds::Resource;
use crate::cluster::Convert;

/// Field names of an Event: core, events.k8s.io.
const EVENT_FIELDS: &[(&str, &str)] = &[
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

fn is_new_event(resource: &Resource) -> bool {
    resource.group == "events.k8s.io"
}

fn renamed(mut object: Value, to_new: bool) -> Value {
    if let Some(map) = object.as_object_mut() {
        for (old, new) in EVENT_FIELDS {
            let (from, to) = if to_new { (*old, *new) } else { (*new, *old) };
            if let Some(value) = map.remove(from) {
                map.insert(to.to_owned(), value);
            }
        }
    }
    object
}

/// The object as the resource shows it.
pub(crate) fn served(
    resource: &Resource,
    object: &Value,
    convert: Option<&Convert>,
) -> Result<Value, ApiError> {
    if is_new_event(resource) {
        let mut event = renamed(object.clone(), true);
        set(&mut event, &["apiVersion"], resource.api_version());
        if event.get("deprecatedSource").is_none() {
            set(&mut event, &["deprecatedSource"], json!({}));
        }
        return Ok(event);
    }
    into_version(resource, object.clone(), &resource.api_version(), convert)
}

/// The object as it is stored.
pub(crate) fn stored(
    resource: &Resource,
    object: Value,
    convert: Option<&Convert>,
) -> Result<Value, ApiError> {
    if is_new_event(resource) {
        let mut event = renamed(object, false);
        set(&mut event, &["apiVersion"], "v1");
        for field in ["reportingComponent", "reportingInstance"] {
            if event.get(field).is_none() {
                set(&mut event, &[field], "");
            }
        }
        return Ok(event);
    }
    let version = if resource.group.is_empty() {
        resource.storage_version.clone()
    } else {
        format!("{}/{}", resource.group, resource.storage_version)
    };
    into_version(resource, object, &version, convert)
}

fn into_version(
    resource: &Resource,
    mut object: Value,
    version: &str,
    convert: Option<&Convert>,
) -> Result<Value, ApiError> {
    if text(&object, &["apiVersion"]) == version {
        return Ok(object);
    }
    if let (true, Some(convert)) = (resource.custom, convert) {
        return convert(object, version).map_err(|why| {
            ApiError::internal(format!("conversion webhook for {} failed: {why}", resource.kind))
        });
    }
    set(&mut object, &["apiVersion"], version);
    Ok(object)
}

/// A list item: those of built-in kinds carry no type.
pub(crate) fn without_type(resource: &Resource, mut object: Value) -> Value {
    if !resource.custom {
        remove(&mut object, &["kind"]);
        remove(&mut object, &["apiVersion"]);
    }
    object
}
