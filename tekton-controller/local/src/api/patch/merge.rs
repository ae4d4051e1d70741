//! JSON merge patch (RFC 7386).

use serde_json::{Map, Value};

/// Merges a patch into a value: null deletes, maps merge, everything else replaces.
pub(super) fn apply(target: &mut Value, patch: &Value) {
    let Some(fields) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(map) = target.as_object_mut() else { return };
    for (key, value) in fields {
        if value.is_null() {
            map.remove(key);
        } else {
            apply(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn null_deletes_and_lists_are_replaced() {
        let mut value = json!({"a": {"b": 1, "c": 2}, "l": [1, 2], "x": "y"});
        super::apply(
            &mut value,
            &json!({"a": {"b": null, "d": {"e": null, "f": 1}}, "l": [3], "x": {"z": 1}}),
        );
        assert_eq!(
            value,
            json!({"a": {"c": 2, "d": {"f": 1}}, "l": [3], "x": {"z": 1}})
        );
    }
}
