//! Small readers and writers for objects kept as JSON values.
//!
//! Nothing here fails: a missing or mistyped place reads as empty, and a write creates the maps on
//! its way (an intermediate value of another type is replaced).

use serde_json::{Map, Value};

/// The text below `path`, or `""`.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).and_then(Value::as_str).unwrap_or_default()
}

/// The value below `path`; null counts as missing.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    let mut here = value;
    for key in path {
        here = here.get(*key)?;
    }
    (!here.is_null()).then_some(here)
}

/// The list below `path`, or an empty one.
pub(crate) fn list<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The mutable list below `path`, when there is one.
pub(crate) fn list_mut<'a>(value: &'a mut Value, path: &[&str]) -> &'a mut [Value] {
    let mut here = value;
    for key in path {
        match here.get_mut(*key) {
            Some(next) => here = next,
            None => return &mut [],
        }
    }
    here.as_array_mut().map_or(&mut [], Vec::as_mut_slice)
}

/// The map behind a value, which becomes one if it is not.
pub(crate) fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable_map(),
    }
}

#[expect(clippy::panic, reason = "the caller has just made the value an object")]
fn unreachable_map() -> ! {
    panic!("an object that was just assigned")
}

/// The map below `path`, created when missing.
pub(crate) fn map_at<'a>(value: &'a mut Value, path: &[&str]) -> &'a mut Map<String, Value> {
    let mut here = value;
    for key in path {
        here = object(here).entry((*key).to_owned()).or_insert(Value::Null);
    }
    object(here)
}

/// Writes `new` below `path`.
pub(crate) fn set(value: &mut Value, path: &[&str], new: impl Into<Value>) {
    if let Some((last, parents)) = path.split_last() {
        map_at(value, parents).insert((*last).to_owned(), new.into());
    }
}

/// Writes `new` below `path` when nothing is there.
pub(crate) fn set_missing(value: &mut Value, path: &[&str], new: impl Into<Value>) {
    if at(value, path).is_none() {
        set(value, path, new);
    }
}

/// Takes out what is below `path`.
pub(crate) fn remove(value: &mut Value, path: &[&str]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    let mut here = value;
    for key in parents {
        here = here.get_mut(*key)?;
    }
    here.as_object_mut()?.remove(*last)
}

/// Takes over the value below `path` from another object, or its absence.
pub(crate) fn copy(from: &Value, to: &mut Value, path: &[&str]) {
    match at(from, path) {
        Some(found) => set(to, path, found.clone()),
        None => {
            remove(to, path);
        }
    }
}

/// Removes nulls from maps, at any depth.
pub(crate) fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, inner| !inner.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
