//! Cases of kind `validate`: decoding, defaults and rules as the admission webhook applies them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::diff::compare;
use crate::admission::{AdmissionError, Operation, Request, default_object, validate_object};
use crate::config::{Config, Data, Defaults};
use crate::duration::Duration;

/// Prefix of an error that goes on with words of the CEL library.
const CEL_PREFIX: &str = "invalid cel expression: %s with err: %s:";

/// Runs one case.
///
/// # Errors
/// What differs.
pub fn check(case: &Value) -> Result<(), String> {
    let input = case.get("input").unwrap_or(&Value::Null);
    let expected = case.get("expected").unwrap_or(&Value::Null);
    let config = match config(input.get("config").unwrap_or(&Value::Null)) {
        Ok(config) => config,
        Err(error) => {
            let actual = json!({"configError": error});
            // The words of a decoder's error are free, those of Tekton are not.
            return match expected.get("configError") {
                Some(_) => compare(expected, &actual),
                None => Err(format!("unexpected {actual}")),
            };
        }
    };
    if expected.get("configError").is_some() {
        return Err(format!("missing {expected}"));
    }
    let operation = match text(input, "operation") {
        "config" => return compare(expected, &written(&config)),
        "create" => Operation::Create,
        "update" => Operation::Update,
        other => return Err(format!("unknown operation {other:?}")),
    };
    let null = Value::Null;
    let object = input.get("object").unwrap_or(&null);
    let request = Request {
        operation,
        kind: None,
        object,
        old: input.get("old"),
    };
    admission(&request, &config, expected)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn config(input: &Value) -> Result<Config, String> {
    let maps: BTreeMap<String, Data> = input
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, data)| {
            (
                name.clone(),
                serde_json::from_value(data.clone()).unwrap_or_default(),
            )
        })
        .collect();
    Config::from_config_maps(&maps).map_err(|error| error.to_string())
}

/// The configuration as cases write it.
fn written(config: &Config) -> Value {
    json!({
        "featureFlags": config.features,
        "defaults": defaults(&config.defaults),
    })
}

fn defaults(defaults: &Defaults) -> Value {
    let duration = |duration: Duration| duration.to_string();
    let list = |list: &[String]| if list.is_empty() { Value::Null } else { json!(list) };
    let resources = &defaults.container_resource_requirements;
    json!({
        "timeoutMinutes": defaults.timeout_minutes,
        "serviceAccount": defaults.service_account,
        "managedByLabelValue": defaults.managed_by_label_value,
        "podTemplate": defaults.pod_template,
        "affinityAssistantPodTemplate": defaults.affinity_assistant_pod_template,
        "cloudEventsSink": defaults.cloud_events_sink,
        "taskRunWorkspaceBinding": defaults.task_run_workspace_binding,
        "maxMatrixCombinationsCount": defaults.max_matrix_combinations_count,
        "forbiddenEnv": list(&defaults.forbidden_env),
        "resolverType": defaults.resolver_type,
        "containerResourceRequirements": if resources.is_empty() { Value::Null } else { json!(resources) },
        "imagePullBackOffTimeout": duration(defaults.image_pull_back_off_timeout),
        "createContainerErrorTimeout": duration(defaults.create_container_error_timeout),
        "maximumResolutionTimeout": duration(defaults.maximum_resolution_timeout),
        "sidecarLogPollingInterval": duration(defaults.sidecar_log_polling_interval),
        "stepRefConcurrencyLimit": defaults.step_ref_concurrency_limit,
    })
}

fn admission(request: &Request<'_>, config: &Config, expected: &Value) -> Result<(), String> {
    let defaulted = match default_object(request, config) {
        Ok(object) => object,
        Err(error) => return failed(&error, expected),
    };
    let outcome = validate_object(&request.with_object(&defaulted), config);
    if expected.get("panic").is_some() {
        return outcome
            .err()
            .map(drop)
            .ok_or_else(|| "an error was expected".to_owned());
    }
    let mut actual = Map::new();
    actual.insert("defaulted".to_owned(), defaulted);
    let error = outcome.err().map(|error| error.to_string());
    let mut expected = expected.clone();
    if let Some(expected) = expected.as_object_mut() {
        if let Some(Value::Array(any)) = expected.remove("errorAnyOf") {
            let chosen = any.iter().find(|text| text.as_str() == error.as_deref());
            let chosen = chosen.or(any.first()).cloned().unwrap_or_default();
            expected.insert("error".to_owned(), chosen);
        }
        if let Some(Value::String(text)) = expected.get("error")
            && text.starts_with(CEL_PREFIX)
        {
            let prefix = cel_prefix(text);
            if error.as_deref().is_some_and(|error| cel_prefix(error) == prefix) {
                expected.insert("error".to_owned(), json!(error));
            }
        }
    }
    actual.insert("error".to_owned(), error.map_or(Value::Null, Value::String));
    let mut actual = Value::Object(actual);
    same_spacing(&mut expected);
    same_spacing(&mut actual);
    compare(&expected, &actual)
}

/// Rewrites texts that are JSON without spaces. A value of a parameter that is neither a text nor a list or
/// map of texts becomes the text it was written as, and a case does not tell how it was written.
fn same_spacing(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(same_spacing),
        Value::Object(members) => members.values_mut().for_each(same_spacing),
        Value::String(text) if text.starts_with(['[', '{']) => {
            if let Ok(parsed) = serde_json::from_str::<Value>(text) {
                *text = parsed.to_string();
            }
        }
        _ => {}
    }
}

/// The part of a CEL error that is Tekton's: up to the index of the expression.
fn cel_prefix(error: &str) -> &str {
    let end = error.find("when[").and_then(|start| {
        let rest = error.get(start..)?;
        Some(start + rest.find(']')? + 1)
    });
    end.and_then(|end| error.get(..end)).unwrap_or(error)
}

/// Whether the case expects the object to fail before its rules are looked at. The words are the decoder's,
/// but for the name of an unknown field.
fn failed(error: &AdmissionError, expected: &Value) -> Result<(), String> {
    let message = error.to_string();
    if expected.get("panic").is_some() || expected.get("marshalError").is_some() {
        return Ok(());
    }
    match expected.get("decodeError").and_then(Value::as_str) {
        Some(wanted) if wanted.contains("unknown field") && wanted != message => {
            Err(format!("expected {wanted:?}, got {message:?}"))
        }
        Some(_) => Ok(()),
        None => Err(format!("unexpected error: {message}")),
    }
}
