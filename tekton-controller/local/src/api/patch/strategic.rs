//! Strategic merge patch: lists whose elements have a key are merged by it.
//!
//! The directives of kubectl are honoured: `$patch: replace|delete|merge`, `$retainKeys`,
//! `$setElementOrder/…` and `$deleteFromPrimitiveList/…`. New elements stand where the patch has
//! them relative to the elements both know, as in Kubernetes' own merge.

use serde_json::{Map, Value};

use crate::api::error::ApiError;
use crate::api::json::text;
use crate::api::kinds::Resource;
use crate::api::shapes::{Elements, Shape};

/// Merges a patch into an object of a built-in kind.
pub(super) fn apply(resource: &Resource, object: &Value, patch: &Value) -> Result<Value, ApiError> {
    let shape = Shape::of_kind(&resource.kind);
    match patch.as_object() {
        Some(patch) => Ok(Value::Object(merge_map(
            shape,
            object.as_object().cloned().unwrap_or_default(),
            patch,
        )?)),
        None => Err(ApiError::bad_request(
            "error decoding patch: the patch is no object",
        )),
    }
}

fn merge_map(
    shape: Shape,
    mut original: Map<String, Value>,
    patch: &Map<String, Value>,
) -> Result<Map<String, Value>, ApiError> {
    match patch.get("$patch").and_then(Value::as_str) {
        Some("replace") => {
            let mut whole = patch.clone();
            whole.remove("$patch");
            return Ok(whole);
        }
        Some("delete") => return Ok(Map::new()),
        Some("merge") | None => {}
        Some(other) => {
            return Err(ApiError::bad_request(format!(
                "Unknown patch type found: {other}"
            )));
        }
    }
    if let Some(retained) = patch.get("$retainKeys").and_then(Value::as_array) {
        original.retain(|key, _| retained.iter().any(|one| one == key));
    }
    for (key, value) in patch {
        if let Some(field) = key.strip_prefix("$deleteFromPrimitiveList/") {
            let gone = value.as_array().cloned().unwrap_or_default();
            if let Some(items) = original.get_mut(field).and_then(Value::as_array_mut) {
                items.retain(|item| !gone.contains(item));
            }
        }
        if let Some(field) = key.strip_prefix("$setElementOrder/")
            && !patch.contains_key(field)
            && let Some(items) = original.get(field).and_then(Value::as_array).cloned()
        {
            let order = value.as_array().map_or(&[][..], Vec::as_slice);
            let (_, elements) = shape.field(field);
            original.insert(
                field.to_owned(),
                Value::Array(ordered(items.clone(), &items, order, elements)),
            );
        }
    }
    for (key, value) in patch.iter().filter(|(key, _)| !key.starts_with('$')) {
        if value.is_null() {
            original.remove(key);
            continue;
        }
        let (below, elements) = shape.field(key);
        let merged = match (original.remove(key), value) {
            (Some(Value::Object(map)), Value::Object(patch)) => Value::Object(merge_map(below, map, patch)?),
            (None, Value::Object(patch)) => Value::Object(merge_map(below, Map::new(), patch)?),
            (old, Value::Array(items)) => {
                let old = old
                    .as_ref()
                    .and_then(Value::as_array)
                    .cloned()
                    .unwrap_or_default();
                let order = patch
                    .get(&format!("$setElementOrder/{key}"))
                    .and_then(Value::as_array);
                Value::Array(merge_list(
                    below,
                    elements,
                    &old,
                    items,
                    order.map(Vec::as_slice),
                )?)
            }
            (_, other) => other.clone(),
        };
        if value.get("$patch").and_then(Value::as_str) != Some("delete") {
            original.insert(key.clone(), merged);
        }
    }
    Ok(original)
}

fn same_element(elements: Elements, one: &Value, other: &Value) -> bool {
    match elements.merge_key() {
        Some(key) => one.get(key).is_some() && one.get(key) == other.get(key),
        None => one == other,
    }
}

fn merge_list(
    shape: Shape,
    elements: Elements,
    original: &[Value],
    patch: &[Value],
    order: Option<&[Value]>,
) -> Result<Vec<Value>, ApiError> {
    if elements == Elements::Whole {
        return Ok(patch.to_vec());
    }
    let replace = patch
        .iter()
        .any(|item| text(item, &["$patch"]) == "replace" && elements != Elements::Set);
    let mut merged = if replace { Vec::new() } else { original.to_vec() };
    for item in patch {
        let directive = text(item, &["$patch"]);
        if directive == "replace" {
            if let (Some(fields), Some(key)) = (item.as_object(), elements.merge_key())
                && fields.contains_key(key)
            {
                let mut whole = fields.clone();
                whole.remove("$patch");
                merged.push(Value::Object(whole));
            }
            continue;
        }
        if elements != Elements::Set
            && let Some(key) = elements.merge_key()
            && item.get(key).is_none()
        {
            return Err(ApiError::bad_request(format!(
                "map: {item} does not contain declared merge key: {key}"
            )));
        }
        let place = merged
            .iter()
            .position(|known| same_element(elements, known, item));
        if directive == "delete" {
            merged.retain(|known| !same_element(elements, known, item));
            continue;
        }
        match (place.and_then(|place| merged.get_mut(place)), item.as_object()) {
            (Some(known), Some(fields)) => {
                let old = known.as_object().cloned().unwrap_or_default();
                *known = Value::Object(merge_map(shape, old, fields)?);
            }
            (None, Some(fields)) => merged.push(Value::Object(merge_map(shape, Map::new(), fields)?)),
            (Some(_), None) => {}
            (None, None) => merged.push(item.clone()),
        }
    }
    let wanted: Vec<Value> = match order {
        Some(order) => order.to_vec(),
        None => patch
            .iter()
            .filter(|item| text(item, &["$patch"]).is_empty())
            .cloned()
            .collect(),
    };
    Ok(ordered(merged, original, &wanted, elements))
}

/// Sorts merged elements: those of the patch in its order, the others in the original order,
/// interleaved by the original order where it knows both.
fn ordered(merged: Vec<Value>, original: &[Value], order: &[Value], elements: Elements) -> Vec<Value> {
    let place = |within: &[Value], item: &Value| {
        within
            .iter()
            .position(|known| same_element(elements, known, item))
    };
    let (mut patched, others): (Vec<Value>, Vec<Value>) =
        merged.into_iter().partition(|item| place(order, item).is_some());
    patched.sort_by_key(|item| place(order, item));
    let mut left = others.into_iter().peekable();
    let mut right = patched.into_iter().peekable();
    let mut result = Vec::new();
    loop {
        let take_left = match (left.peek(), right.peek()) {
            (None, None) => return result,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(one), Some(other)) => match (place(original, one), place(original, other)) {
                (Some(one), Some(other)) => one < other,
                _ => false,
            },
        };
        result.extend(if take_left { left.next() } else { right.next() });
    }
}
