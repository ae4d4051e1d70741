//! Label and field selectors: their grammar and what they match.

use serde_json::Value;

use super::error::ApiError;
use super::json::{at, text};
use super::kinds::Resource;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    Exists(String),
    Missing(String),
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
}

/// Both selectors of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selector {
    labels: Vec<Requirement>,
    fields: Vec<(String, bool, String)>,
}

impl Selector {
    /// Reads both; fields that the kind cannot be selected by are refused.
    pub(crate) fn parse(labels: &str, fields: &str, resource: &Resource) -> Result<Self, ApiError> {
        let fields = parse_fields(fields)?;
        for (field, _, _) in &fields {
            check_field(resource, field)?;
        }
        Ok(Self {
            labels: parse_labels(labels)?,
            fields,
        })
    }

    /// Whether everything matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether an object is selected.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        let labels = at(object, &["metadata", "labels"]);
        let label = |key: &str| labels.and_then(|map| map.get(key)).and_then(Value::as_str);
        self.labels.iter().all(|requirement| match requirement {
            Requirement::Exists(key) => label(key).is_some(),
            Requirement::Missing(key) => label(key).is_none(),
            Requirement::In(key, values) => {
                label(key).is_some_and(|value| values.iter().any(|one| one == value))
            }
            Requirement::NotIn(key, values) => {
                label(key).is_none_or(|value| values.iter().all(|one| one != value))
            }
        }) && self
            .fields
            .iter()
            .all(|(field, equal, wanted)| (field_value(object, field) == *wanted) == *equal)
    }
}

fn field_value(object: &Value, field: &str) -> String {
    let path: Vec<&str> = field.split('.').collect();
    match at(object, &path) {
        Some(Value::String(found)) => found.clone(),
        Some(Value::Null) | None => match field {
            "reason" | "type" | "reportingComponent" => String::new(),
            "source" => text(object, &["reportingComponent"]).to_owned(),
            _ if field.ends_with("hostNetwork") || field.ends_with("unschedulable") => "false".to_owned(),
            _ => String::new(),
        },
        Some(Value::Object(_)) if field == "source" => text(object, &["source", "component"]).to_owned(),
        Some(other) => other.to_string(),
    }
}

/// The fields a kind offers beyond name and namespace.
fn extra_fields(resource: &Resource) -> &'static [&'static str] {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Pod") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
        ("" | "events.k8s.io", "Event") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("", "Namespace") => &["status.phase"],
        ("", "Secret") => &["type"],
        ("", "Node") => &["spec.unschedulable"],
        ("", "Service") => &["spec.clusterIP", "spec.type"],
        ("batch", "Job") => &["status.successful"],
        _ => &[],
    }
}

/// Kinds whose field labels are converted by a function of their own, with its own text.
fn has_own_conversion(resource: &Resource) -> bool {
    resource.custom || !extra_fields(resource).is_empty()
}

fn check_field(resource: &Resource, field: &str) -> Result<(), ApiError> {
    if matches!(field, "metadata.name" | "metadata.namespace") || extra_fields(resource).contains(&field) {
        return Ok(());
    }
    Err(ApiError::bad_request(if has_own_conversion(resource) {
        format!("field label not supported: {field}")
    } else {
        format!("{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
    }))
}

fn parse_fields(raw: &str) -> Result<Vec<(String, bool, String)>, ApiError> {
    let mut fields = Vec::new();
    for part in split_unescaped(raw) {
        let (key, equal, value) = if let Some((key, value)) = part.split_once("!=") {
            (key, false, value)
        } else if let Some((key, value)) = part.split_once("==") {
            (key, true, value)
        } else if let Some((key, value)) = part.split_once('=') {
            (key, true, value)
        } else {
            return Err(ApiError::bad_request(format!(
                "invalid selector: '{part}'; can't understand '{part}'"
            )));
        };
        fields.push((key.to_owned(), equal, unescape(value)));
    }
    Ok(fields)
}

/// Splits at commas that no backslash protects.
fn split_unescaped(raw: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut escaped = false;
    for letter in raw.chars() {
        if letter == ',' && !escaped {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(letter);
        }
        escaped = letter == '\\' && !escaped;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn unescape(value: &str) -> String {
    let mut plain = String::new();
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        plain.push(if letter == '\\' {
            letters.next().unwrap_or('\\')
        } else {
            letter
        });
    }
    plain
}

/// Words and signs of a label selector.
fn tokens(raw: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut letters = raw.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_whitespace() || "=!,()<>".contains(letter) {
            if !word.is_empty() {
                tokens.push(std::mem::take(&mut word));
            }
            if letter.is_whitespace() {
                continue;
            }
            let mut sign = letter.to_string();
            if (letter == '=' || letter == '!') && letters.peek() == Some(&'=') {
                sign.push('=');
                letters.next();
            }
            tokens.push(sign);
        } else {
            word.push(letter);
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

fn is_word(token: &str) -> bool {
    !token.starts_with(['=', '!', ',', '(', ')', '<', '>'])
}

fn parse_labels(raw: &str) -> Result<Vec<Requirement>, ApiError> {
    let all = tokens(raw);
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let mut rest = all.as_slice();
    let mut requirements = Vec::new();
    loop {
        let (requirement, tail) = parse_requirement(rest)
            .map_err(|why| ApiError::bad_request(format!("unable to parse requirement: {why}")))?;
        requirements.push(requirement);
        match tail.split_first() {
            None => return Ok(requirements),
            Some((comma, next)) if comma == "," && !next.is_empty() => rest = next,
            Some((other, _)) => {
                let why =
                    format!("unable to parse requirement: found '{other}', expected: ',' or 'end of string'");
                return Err(ApiError::bad_request(why));
            }
        }
    }
}

fn parse_requirement(rest: &[String]) -> Result<(Requirement, &[String]), String> {
    let (first, tail) = rest
        .split_first()
        .ok_or("found '', expected: !, identifier, or ','")?;
    if first == "!" {
        let (key, tail) = tail
            .split_first()
            .filter(|(key, _)| is_word(key))
            .ok_or("found '', expected: identifier")?;
        check_label_key(key)?;
        return Ok((Requirement::Missing(key.clone()), tail));
    }
    if !is_word(first) {
        return Err(format!(
            "found '{first}', expected: !, identifier, or 'end of string'"
        ));
    }
    check_label_key(first)?;
    let key = first.clone();
    let Some((operator, after)) = tail.split_first() else {
        return Ok((Requirement::Exists(key), tail));
    };
    match operator.as_str() {
        "," => Ok((Requirement::Exists(key), tail)),
        "=" | "==" | "!=" => {
            let (value, tail) = match after.split_first() {
                Some((value, tail)) if is_word(value) => (value.clone(), tail),
                _ => (String::new(), after),
            };
            check_label_value(&value)?;
            let requirement = if operator == "!=" {
                Requirement::NotIn(key, vec![value])
            } else {
                Requirement::In(key, vec![value])
            };
            Ok((requirement, tail))
        }
        "in" | "notin" => {
            let (values, tail) = parse_set(after)?;
            for value in &values {
                check_label_value(value)?;
            }
            let requirement = if operator == "in" {
                Requirement::In(key, values)
            } else {
                Requirement::NotIn(key, values)
            };
            Ok((requirement, tail))
        }
        other => Err(format!("found '{other}', expected: in, notin, =, ==, !=, gt, lt")),
    }
}

fn parse_set(tokens: &[String]) -> Result<(Vec<String>, &[String]), String> {
    let (open, mut rest) = tokens.split_first().ok_or("found '', expected: '('")?;
    if open != "(" {
        return Err(format!("found '{open}', expected: '('"));
    }
    let mut values = vec![String::new()];
    loop {
        let (token, tail) = rest.split_first().ok_or("found '', expected: ',' or ')'")?;
        rest = tail;
        match token.as_str() {
            ")" => return Ok((values, rest)),
            "," => values.push(String::new()),
            word if is_word(word) => match values.last_mut() {
                Some(last) if last.is_empty() => word.clone_into(last),
                _ => return Err(format!("found '{word}', expected: ',' or ')'")),
            },
            other => return Err(format!("found '{other}', expected: ',', or ')'")),
        }
    }
}

fn check_label_key(key: &str) -> Result<(), String> {
    super::names::qualified_name(key).map_err(|why| format!("key: Invalid value: {key:?}: {why}"))
}

fn check_label_value(value: &str) -> Result<(), String> {
    super::names::label_value(value).map_err(|why| format!("values: Invalid value: {value:?}: {why}"))
}
