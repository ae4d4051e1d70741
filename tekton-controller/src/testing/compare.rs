//! Compares JSON trees by the rules of the golden traces and writes down where they differ.

use std::fmt::Write as _;
use std::sync::LazyLock;

use k8s_openapi::jiff::Timestamp;
use regex::Regex;
use serde_json::{Map, Value, json};
use tekton_api::labels;

static RANDOM: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"((?:sidecar-)?script-\d+|heredoc-randomly-generated)-[a-z0-9]{5}").ok());

/// Texts after which a message goes on in the words of a Go library.
const FOREIGN: [&str; 8] = [
    "parsing message json: ",
    "invalid runtime object: ",
    " in ExitCode field: ",
    " in StartedAt field: ",
    "decompressing termination message: ",
    "invalid result \"",
    "transient: invalid character ",
    "Warning InternalError invalid character ",
];
/// Members that the original prints even when they are empty.
const MAY_BE_EMPTY: [&str; 4] = ["resources", "computeResources", "provenance", "artifacts"];

/// Brings an object into the form in which it is compared: no server-set or random parts.
pub(super) fn normal(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(match RANDOM.as_ref() {
            Some(random) if text.contains('-') => {
                without_debug_scripts(&random.replace_all(&text, "$1-XXXXX"))
            }
            _ => text,
        }),
        Value::Array(list) => Value::Array(list.into_iter().map(normal).collect()),
        Value::Object(members) => {
            let mut members: Map<String, Value> = members
                .into_iter()
                .map(|(key, value)| (key, normal(value)))
                .collect();
            if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
                for key in ["resourceVersion", "generation", "managedFields"] {
                    metadata.remove(key);
                }
                if let Some(release) = metadata
                    .get_mut("annotations")
                    .and_then(|all| all.get_mut(labels::RELEASE))
                {
                    *release = json!("RELEASE");
                }
            }
            if let Some(Value::Object(artifacts)) = members.get_mut("artifacts") {
                for list in artifacts.values_mut().filter_map(Value::as_array_mut) {
                    list.sort_by_key(|artifact| artifact["name"].as_str().unwrap_or_default().to_owned());
                }
            }
            Value::Object(members)
        }
        other => other,
    }
}

/// Replaces the bodies of the scripts that help at a breakpoint; they are free as long as they do the same.
fn without_debug_scripts(text: &str) -> String {
    if !text.contains("/tekton/debug/scripts/") {
        return text.to_owned();
    }
    let mut out = Vec::new();
    let mut end: Option<&str> = None;
    for line in text.split('\n') {
        match end {
            Some(terminator) if line == terminator => end = None,
            Some(_) => continue,
            None => {}
        }
        out.push(line);
        let opened = line
            .split_once("<< '")
            .and_then(|(_, rest)| rest.strip_suffix('\''));
        if let Some(terminator) = opened.filter(|name| name.starts_with("debug-")) {
            out.push("<DEBUG-SCRIPT-BODY>");
            end = Some(terminator);
        }
    }
    out.join("\n")
}

/// Appends one line a difference.
pub(super) fn json(path: &str, expected: &Value, actual: &Value, out: &mut String) {
    match (expected, actual) {
        (Value::Object(wanted), Value::Object(present)) => {
            for (key, value) in wanted {
                let path = format!("{path}.{key}");
                match present.get(key) {
                    Some(actual) => json(&path, value, actual, out),
                    None if is_nothing(key, value) => {}
                    None => {
                        let _ = writeln!(out, "{path}: missing, expected {value}");
                    }
                }
            }
            for (key, value) in present {
                if !wanted.contains_key(key) && !is_nothing(key, value) {
                    let _ = writeln!(out, "{path}.{key}: unexpected {value}");
                }
            }
        }
        (Value::Array(wanted), Value::Array(present)) if wanted.len() == present.len() => {
            for (index, (wanted, present)) in wanted.iter().zip(present).enumerate() {
                json(&format!("{path}[{index}]"), wanted, present, out);
            }
        }
        _ if same(path, expected, actual) => {}
        _ => {
            let _ = writeln!(out, "{path}:\n  expected {expected}\n  got      {actual}");
        }
    }
}

fn is_nothing(key: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => {
            (MAY_BE_EMPTY.contains(&key) && members.iter().all(|(key, value)| is_nothing(key, value)))
                || (key == "pods" || key == "pvcs" || key == "resolutionRequests") && members.is_empty()
        }
        Value::Number(_) => false,
    }
}

fn same(path: &str, expected: &Value, actual: &Value) -> bool {
    if expected == actual {
        return true;
    }
    let (Some(expected), Some(actual)) = (expected.as_str(), actual.as_str()) else {
        return false;
    };
    if let (Ok(expected), Ok(actual)) = (expected.parse::<Timestamp>(), actual.parse::<Timestamp>()) {
        return expected == actual;
    }
    if [".requests.", ".limits.", ".sizeLimit"]
        .iter()
        .any(|part| path.contains(part))
        && let (Some(expected), Some(actual)) = (quantity(expected), quantity(actual))
    {
        return expected == actual;
    }
    FOREIGN.iter().any(|marker| {
        let head = |text: &str| {
            text.find(marker)
                .and_then(|at| text.get(..at + marker.len()).map(str::to_owned))
        };
        head(expected).is_some_and(|wanted| head(actual) == Some(wanted))
    })
}

/// A quantity in nano units.
fn quantity(text: &str) -> Option<i128> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor: i128 = match unit {
        "n" => 1,
        "u" => 1_000,
        "m" => 1_000_000,
        "" => 1_000_000_000,
        "k" => 1_000_000_000_000,
        "M" => 1_000_000_000_000_000,
        "G" => 1_000_000_000_000_000_000,
        "Ki" => 1_000_000_000 << 10,
        "Mi" => 1_000_000_000 << 20,
        "Gi" => 1_000_000_000 << 30,
        "Ti" => 1_000_000_000 << 40,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = i128::from(10_u8).checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let value: i128 = format!("{whole}{fraction}").parse().ok()?;
    Some(value.checked_mul(factor)? / digits)
}
