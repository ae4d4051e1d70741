//! Tables: what `kubectl get` prints.
//!
//! Columns of custom kinds come from their definitions, those of built-in kinds from `columns`.

mod columns;
mod pods;

use jsonpath_rust::JsonPath as _;
use serde_json::{Value, json};

use super::error::{ApiError, FieldFault};
use super::json::{at, text};
use super::kinds::{Column, Resource};
use super::read::metadata_only;

/// How much of the object a row carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Include {
    /// Nothing.
    None,
    /// Its metadata.
    Metadata,
    /// All of it.
    Object,
}

impl Include {
    /// The `includeObject` parameter.
    pub(crate) fn parse(text: &str) -> Result<Self, ApiError> {
        match text {
            "" | "Metadata" => Ok(Self::Metadata),
            "None" => Ok(Self::None),
            "Object" => Ok(Self::Object),
            other => {
                let fault =
                    FieldFault::unsupported("includeObject", &json!(other), &["None", "Metadata", "Object"]);
                Err(ApiError::invalid_kind(
                    "meta.k8s.io",
                    "TableOptions",
                    "",
                    &[fault],
                ))
            }
        }
    }
}

/// One column's heading.
pub(super) struct Heading {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) format: String,
    pub(super) description: String,
    pub(super) priority: i64,
}

impl Heading {
    pub(super) fn new(name: &str, kind: &str, priority: i64) -> Self {
        let format = if name == "Name" { "name" } else { "" };
        Self {
            name: name.into(),
            kind: kind.into(),
            format: format.into(),
            description: String::new(),
            priority,
        }
    }

    fn definition(&self) -> Value {
        json!({"name": self.name, "type": self.kind, "format": self.format, "description": self.description,
            "priority": self.priority})
    }
}

/// The Table of some objects; `with_columns` is false for all but the first event of a watch.
pub(crate) fn table(
    resource: &Resource,
    objects: &[Value],
    include: Include,
    meta: &Value,
    with_columns: bool,
) -> Value {
    let now = jiff::Timestamp::now();
    let headings = headings(resource);
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| {
            let cells = if resource.custom {
                custom_cells(resource, object, now)
            } else {
                columns::cells(resource, object, now)
            };
            let mut row = json!({"cells": cells});
            let carried = match include {
                Include::None => None,
                Include::Metadata => Some(metadata_only(object)),
                Include::Object => Some(object.clone()),
            };
            if let (Some(map), Some(carried)) = (row.as_object_mut(), carried) {
                map.insert("object".into(), carried);
            }
            row
        })
        .collect();
    let definitions = if with_columns {
        headings.iter().map(Heading::definition).collect()
    } else {
        Value::Null
    };
    json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "columnDefinitions": definitions, "rows": rows})
}

fn headings(resource: &Resource) -> Vec<Heading> {
    if !resource.custom {
        return columns::headings(resource);
    }
    let mut all = vec![Heading::new("Name", "string", 0)];
    if resource.columns.is_empty() {
        all.push(Heading::new("Age", "date", 0));
    }
    all.extend(resource.columns.iter().map(|column| Heading {
        name: column.name.clone(),
        kind: column.kind.clone(),
        format: column.format.clone(),
        description: column.description.clone(),
        priority: column.priority,
    }));
    all
}

fn custom_cells(resource: &Resource, object: &Value, now: jiff::Timestamp) -> Vec<Value> {
    let mut cells = vec![json!(text(object, &["metadata", "name"]))];
    if resource.columns.is_empty() {
        cells.push(json!(age(object, now)));
    }
    cells.extend(
        resource
            .columns
            .iter()
            .map(|column| custom_cell(column, object, now)),
    );
    cells
}

fn custom_cell(column: &Column, object: &Value, now: jiff::Timestamp) -> Value {
    let path = format!("${}", column.json_path.trim_start_matches('$'));
    let Some(found) = object
        .query(&path)
        .ok()
        .and_then(|found| found.into_iter().next())
    else {
        return Value::Null;
    };
    match (column.kind.as_str(), found) {
        (_, Value::Null) => Value::Null,
        ("date", Value::String(time)) => time
            .parse()
            .map_or_else(|_| json!("<invalid>"), |time| json!(since(time, now))),
        ("integer" | "number" | "boolean", value) => value.clone(),
        ("string", Value::String(text)) => json!(text),
        ("string", other) => json!(other.to_string()),
        (_, other) => other.clone(),
    }
}

/// The age of an object, as kubectl shows it.
pub(super) fn age(object: &Value, now: jiff::Timestamp) -> String {
    time_since(text(object, &["metadata", "creationTimestamp"]), now)
}

/// The time since a moment given as text.
pub(super) fn time_since(moment: &str, now: jiff::Timestamp) -> String {
    moment
        .parse()
        .map_or_else(|_| "<unknown>".to_owned(), |time| since(time, now))
}

fn since(time: jiff::Timestamp, now: jiff::Timestamp) -> String {
    short_duration(now.duration_since(time).as_secs())
}

/// A duration in one or two units, the finer the shorter it is.
fn short_duration(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    let pair = |major: i64, sign: &str, minor: i64, minor_sign: &str| {
        if minor == 0 {
            format!("{major}{sign}")
        } else {
            format!("{major}{sign}{minor}{minor_sign}")
        }
    };
    match seconds {
        i64::MIN..=-2 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        _ if seconds < 2 * MINUTE => format!("{seconds}s"),
        _ if seconds < 10 * MINUTE => pair(seconds / MINUTE, "m", seconds % MINUTE, "s"),
        _ if seconds < 3 * HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < 8 * HOUR => pair(seconds / HOUR, "h", seconds % HOUR / MINUTE, "m"),
        _ if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        _ if seconds < 8 * DAY => pair(seconds / DAY, "d", seconds % DAY / HOUR, "h"),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => pair(seconds / YEAR, "y", seconds % YEAR / DAY, "d"),
        _ => format!("{}y", seconds / YEAR),
    }
}

/// The text at a path, or a placeholder.
pub(super) fn or_none(object: &Value, path: &[&str], none: &str) -> String {
    match at(object, path) {
        Some(Value::String(text)) if !text.is_empty() => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => none.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::short_duration;

    #[test]
    fn durations_lose_detail_as_they_grow() {
        let shown: Vec<String> = [0, 119, 125, 600, 11_000, 28_700, 90_000, 180_000, 900_000]
            .map(short_duration)
            .to_vec();
        assert_eq!(
            shown,
            ["0s", "119s", "2m5s", "10m", "3h3m", "7h58m", "25h", "2d2h", "10d"]
        );
    }
}
