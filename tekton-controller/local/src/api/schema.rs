//! Structural schemas of custom kinds: dropping unknown fields, filling defaults, finding faults.

use regex::Regex;
use serde_json::{Map, Value, json};

use super::error::FieldFault;
use super::json::at;

fn is_set(schema: &Value, key: &str) -> bool {
    schema.get(key).and_then(Value::as_bool) == Some(true)
}

fn keeps_unknown(schema: &Value) -> bool {
    is_set(schema, "x-kubernetes-preserve-unknown-fields")
}

/// Drops unknown fields and nulls from an object, answering the paths of the unknown ones.
pub(crate) fn prune(schema: &Value, object: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    let Some(fields) = object.as_object_mut() else {
        return unknown;
    };
    let fixed: Vec<(String, Value)> = ["apiVersion", "kind", "metadata"]
        .iter()
        .filter_map(|name| fields.remove_entry(*name))
        .collect();
    prune_at(schema, object, "", &mut unknown);
    if let Some(fields) = object.as_object_mut() {
        fields.extend(fixed);
    }
    unknown
}

fn prune_at(schema: &Value, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    match value {
        Value::Object(fields) => prune_fields(schema, fields, path, unknown),
        Value::Array(items) => {
            if let Some(schema) = at(schema, &["items"]) {
                for (index, item) in items.iter_mut().enumerate() {
                    prune_at(schema, item, &format!("{path}[{index}]"), unknown);
                }
            }
        }
        _ => {}
    }
}

fn prune_fields(schema: &Value, fields: &mut Map<String, Value>, path: &str, unknown: &mut Vec<String>) {
    let properties = at(schema, &["properties"]);
    let additional = at(schema, &["additionalProperties"]);
    let embedded = is_set(schema, "x-kubernetes-embedded-resource");
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
        let property = properties.and_then(|all| all.get(&name));
        let known = property.or(additional.filter(|schema| schema.is_object()));
        if let Some(known) = known {
            if field.is_null() && !is_set(known, "nullable") && !keeps_unknown(known) {
                fields.remove(&name);
            } else {
                prune_at(known, field, &here, unknown);
            }
        } else if embedded && matches!(name.as_str(), "apiVersion" | "kind" | "metadata")
            || keeps_unknown(schema)
            || additional.is_some_and(|schema| schema.as_bool() == Some(true))
        {
            // Stays as it is.
        } else {
            if !field.is_null() {
                unknown.push(here);
            }
            fields.remove(&name);
        }
    }
}

/// Fills the defaults of missing fields.
pub(crate) fn fill_defaults(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let properties = at(schema, &["properties"]).and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                if let (false, Some(default)) = (fields.contains_key(name), at(property, &["default"])) {
                    fields.insert(name.clone(), default.clone());
                }
                if let Some(field) = fields.get_mut(name) {
                    fill_defaults(property, field);
                }
            }
            if let Some(additional) = at(schema, &["additionalProperties"]).filter(|found| found.is_object())
            {
                for (name, field) in fields.iter_mut() {
                    if properties.is_none_or(|known| !known.contains_key(name)) {
                        fill_defaults(additional, field);
                    }
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = at(schema, &["items"]) {
                for item in items {
                    fill_defaults(schema, item);
                }
            }
        }
        _ => {}
    }
}

/// The faults of a value. `prefix` stands before the field paths, but not in the messages: the
/// API server checks a status on its own, under its own name.
pub(crate) fn faults(schema: &Value, value: &Value, prefix: &str) -> Vec<FieldFault> {
    let mut found = Vec::new();
    Check {
        prefix,
        faults: &mut found,
    }
    .value(schema, value, "");
    found
}

struct Check<'a> {
    prefix: &'a str,
    faults: &'a mut Vec<FieldFault>,
}

impl Check<'_> {
    fn field(&self, path: &str) -> String {
        match (self.prefix, path) {
            (prefix, "") => prefix.to_owned(),
            ("", path) => path.to_owned(),
            (prefix, path) => format!("{prefix}.{path}"),
        }
    }

    fn value(&mut self, schema: &Value, value: &Value, path: &str) {
        if value.is_null() && is_set(schema, "nullable") {
            return;
        }
        if !self.has_type(schema, value, path) {
            return;
        }
        self.constraints(schema, value, path);
        match value {
            Value::Object(fields) => self.object(schema, fields, path),
            Value::Array(items) => {
                if let Some(schema) = at(schema, &["items"]) {
                    for (index, item) in items.iter().enumerate() {
                        self.value(schema, item, &format!("{path}[{index}]"));
                    }
                }
            }
            _ => {}
        }
    }

    fn has_type(&mut self, schema: &Value, value: &Value, path: &str) -> bool {
        if is_set(schema, "x-kubernetes-int-or-string") {
            return true;
        }
        let Some(wanted) = at(schema, &["type"]).and_then(Value::as_str) else {
            return true;
        };
        let found = type_name(value);
        if wanted == found || (wanted == "number" && found == "integer") {
            return true;
        }
        let name = if path.is_empty() {
            String::new()
        } else {
            format!("{path} ")
        };
        let detail = format!("{name}in body must be of type {wanted}: {found:?}");
        self.faults
            .push(FieldFault::mistyped(self.field(path), found, &detail));
        false
    }

    fn constraints(&mut self, schema: &Value, value: &Value, path: &str) {
        if let Some(allowed) = at(schema, &["enum"]).and_then(Value::as_array)
            && !allowed.contains(value)
        {
            let texts: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
            self.faults
                .push(FieldFault::unsupported(self.field(path), value, &texts));
        }
        let limit = |name: &str| at(schema, &[name]).and_then(Value::as_f64);
        let mut fault = |check: Option<String>| {
            if let Some(detail) = check {
                self.faults
                    .push(FieldFault::invalid(self.field(path), value, &detail));
            }
        };
        if let Some(text) = value.as_str() {
            let length = u32::try_from(text.chars().count()).map_or(f64::MAX, f64::from);
            fault(
                limit("minLength")
                    .filter(|least| length < *least)
                    .map(|least| format!("{path} in body should be at least {least} chars long")),
            );
            fault(
                limit("maxLength")
                    .filter(|most| length > *most)
                    .map(|most| format!("may not be more than {most} bytes")),
            );
            if let Some(pattern) = at(schema, &["pattern"]).and_then(Value::as_str)
                && let Ok(expression) = Regex::new(pattern)
                && !expression.is_match(text)
            {
                fault(Some(format!("{path} in body should match '{pattern}'")));
            }
        } else if let Some(number) = value.as_f64() {
            fault(
                limit("minimum")
                    .filter(|least| number < *least)
                    .map(|least| format!("{path} in body should be greater than or equal to {least}")),
            );
            fault(
                limit("maximum")
                    .filter(|most| number > *most)
                    .map(|most| format!("{path} in body should be less than or equal to {most}")),
            );
        }
    }

    fn object(&mut self, schema: &Value, fields: &Map<String, Value>, path: &str) {
        let below = |name: &str| {
            if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}.{name}")
            }
        };
        for name in super::json::list(schema, &["required"])
            .iter()
            .filter_map(Value::as_str)
        {
            if !fields.contains_key(name) {
                self.faults
                    .push(FieldFault::required(self.field(&below(name)), ""));
            }
        }
        let properties = at(schema, &["properties"]);
        let additional = at(schema, &["additionalProperties"]).filter(|found| found.is_object());
        for (name, field) in fields {
            if let Some(schema) = properties.and_then(|all| all.get(name)).or(additional) {
                self.value(schema, field, &below(name));
            }
        }
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The schema of a field, or one that allows everything.
pub(crate) fn property(schema: &Value, name: &str) -> Value {
    at(schema, &["properties", name])
        .cloned()
        .unwrap_or_else(|| json!({"x-kubernetes-preserve-unknown-fields": true}))
}
