//! Refusals in the form Kubernetes gives them: an HTTP code and a `Status` object.
//!
//! The words are those of kube-apiserver, because clients compare them. Paths outside the API are
//! answered in plain text.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::kinds::Resource;

/// An answer that refuses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiError {
    /// The HTTP code.
    pub(crate) code: u16,
    /// The `reason` of the Status; empty when there is none.
    pub(crate) reason: &'static str,
    /// The text for people.
    pub(crate) message: String,
    /// The `details` of the Status.
    pub(crate) details: Option<Value>,
    /// Plain text instead of a Status.
    pub(crate) plain: bool,
}

/// One fault at one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldFault {
    /// The machine-readable sort of fault.
    pub(crate) reason: &'static str,
    /// Where, as in `spec.containers[0].name`.
    pub(crate) field: String,
    /// What is wrong, without the field.
    pub(crate) message: String,
}

impl FieldFault {
    /// `Required value`, with a text when there is one.
    pub(crate) fn required(field: impl Into<String>, detail: &str) -> Self {
        Self::build("FieldValueRequired", field, "Required value", detail)
    }

    /// `Invalid value: …: detail`; the value is written as JSON.
    pub(crate) fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self::build(
            "FieldValueInvalid",
            field,
            &format!("Invalid value: {value}"),
            detail,
        )
    }

    /// `Forbidden: detail`.
    pub(crate) fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self::build("FieldValueForbidden", field, "Forbidden", detail)
    }

    /// `Duplicate value: …`.
    pub(crate) fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Self::build(
            "FieldValueDuplicate",
            field,
            &format!("Duplicate value: {value}"),
            "",
        )
    }

    /// `Not found: …`.
    pub(crate) fn not_found(field: impl Into<String>, value: &Value) -> Self {
        Self::build("FieldValueNotFound", field, &format!("Not found: {value}"), "")
    }

    /// `Unsupported value: …: supported values: …`.
    pub(crate) fn unsupported(field: impl Into<String>, value: &Value, allowed: &[&str]) -> Self {
        let quoted: Vec<String> = allowed.iter().map(|one| format!("{one:?}")).collect();
        let detail = format!("supported values: {}", quoted.join(", "));
        Self::build(
            "FieldValueNotSupported",
            field,
            &format!("Unsupported value: {value}"),
            &detail,
        )
    }

    /// A type that the schema does not allow.
    pub(crate) fn mistyped(field: impl Into<String>, found: &str, detail: &str) -> Self {
        Self::build(
            "FieldValueTypeInvalid",
            field,
            &format!("Invalid value: {found:?}"),
            detail,
        )
    }

    fn build(reason: &'static str, field: impl Into<String>, head: &str, detail: &str) -> Self {
        let message = if detail.is_empty() {
            head.to_owned()
        } else {
            format!("{head}: {detail}")
        };
        Self {
            reason,
            field: field.into(),
            message,
        }
    }

    fn cause(&self) -> Value {
        json!({"reason": self.reason, "message": self.message, "field": self.field})
    }
}

impl ApiError {
    fn new(code: u16, reason: &'static str, message: impl Into<String>, details: Option<Value>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details,
            plain: false,
        }
    }

    /// 404 in plain text, for paths that are no API.
    pub(crate) fn no_page() -> Self {
        Self {
            plain: true,
            ..Self::new(404, "", "404 page not found\n", None)
        }
    }

    /// 404 for a resource that the API does not know.
    pub(crate) fn no_resource() -> Self {
        let text = "the server could not find the requested resource";
        Self::new(404, "NotFound", text, Some(json!({})))
    }

    /// 404 for a missing object.
    pub(crate) fn not_found(resource: &Resource, name: &str) -> Self {
        let text = format!("{} {name:?} not found", resource.qualified());
        Self::new(404, "NotFound", text, Some(resource.details(name)))
    }

    /// 409 for a name that is taken.
    pub(crate) fn already_exists(resource: &Resource, name: &str) -> Self {
        let text = format!("{} {name:?} already exists", resource.qualified());
        Self::new(409, "AlreadyExists", text, Some(resource.details(name)))
    }

    /// 409 for a write that starts from an old state.
    pub(crate) fn modified(resource: &Resource, name: &str) -> Self {
        Self::conflict(
            &resource.qualified(),
            resource.details(name),
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// 409 with another reason.
    pub(crate) fn conflict(what: &str, details: Value, name: &str, why: &str) -> Self {
        let text = format!("Operation cannot be fulfilled on {what} {name:?}: {why}");
        Self::new(409, "Conflict", text, Some(details))
    }

    /// 409 of server-side apply: the owners, as they are shown, each with the fields in dispute.
    pub(crate) fn apply_conflict(conflicts: &BTreeMap<String, Vec<String>>) -> Self {
        let count: usize = conflicts.values().map(Vec::len).sum();
        let causes: Vec<Value> = conflicts
            .iter()
            .flat_map(|(owner, fields)| fields.iter().map(move |field| (owner, field)))
            .map(|(owner, field)| {
                json!({"reason": "FieldManagerConflict", "message": format!("conflict with {owner}"), "field": field})
            })
            .collect();
        let mut lines = Vec::new();
        for (owner, fields) in conflicts {
            if count == 1 {
                lines.extend(
                    fields
                        .iter()
                        .map(|field| format!("conflict with {owner}: {field}")),
                );
            } else {
                lines.push(format!("conflicts with {owner}:"));
                lines.extend(fields.iter().map(|field| format!("- {field}")));
            }
        }
        let noun = if count == 1 { "conflict" } else { "conflicts" };
        let text = format!("Apply failed with {count} {noun}: {}", lines.join("\n"));
        Self::new(409, "Conflict", text, Some(json!({"causes": causes})))
    }

    /// 422 for an object of this kind with faults.
    pub(crate) fn invalid(resource: &Resource, name: &str, faults: &[FieldFault]) -> Self {
        Self::invalid_kind(&resource.group, &resource.kind, name, faults)
    }

    /// 422 for any kind, also for options.
    pub(crate) fn invalid_kind(group: &str, kind: &str, name: &str, faults: &[FieldFault]) -> Self {
        let qualified = if group.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}.{group}")
        };
        let mut lines: Vec<String> = Vec::new();
        for fault in faults {
            let line = format!("{}: {}", fault.field, fault.message);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let all = lines.join(", ");
        let all = if lines.len() == 1 { all } else { format!("[{all}]") };
        let causes = faults.iter().map(FieldFault::cause).collect();
        let mut details = Map::new();
        for (key, value) in [("name", name), ("group", group), ("kind", kind)] {
            if !value.is_empty() {
                details.insert(key.into(), value.into());
            }
        }
        details.insert("causes".into(), Value::Array(causes));
        let text = format!("{qualified} {name:?} is invalid: {all}");
        Self::new(422, "Invalid", text, Some(Value::Object(details)))
    }

    /// 422 without causes: a patch that cannot be applied.
    pub(crate) fn unprocessable(message: impl Into<String>) -> Self {
        let text = format!(
            "the server rejected our request due to an error in our request: {}",
            message.into()
        );
        Self::new(422, "Invalid", text, Some(json!({})))
    }

    /// 400.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message, None)
    }

    /// 401.
    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized", None)
    }

    /// 403 about an object or a kind.
    pub(crate) fn forbidden(resource: &Resource, name: &str, why: &str, causes: Option<Value>) -> Self {
        let qualified = resource.qualified();
        let subject = if name.is_empty() {
            qualified
        } else {
            format!("{qualified} {name:?}")
        };
        let mut details = resource.details(name);
        if let (Some(causes), Some(map)) = (causes, details.as_object_mut()) {
            map.insert("causes".into(), causes);
        }
        Self::new(
            403,
            "Forbidden",
            format!("{subject} is forbidden: {why}"),
            Some(details),
        )
    }

    /// 403 about a path.
    pub(crate) fn forbidden_path(message: String) -> Self {
        Self::new(403, "Forbidden", message, Some(json!({})))
    }

    /// 405.
    pub(crate) fn method_not_allowed() -> Self {
        let text = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", text, Some(json!({})))
    }

    /// 406.
    pub(crate) fn not_acceptable() -> Self {
        let text = "only the following media types are accepted: application/json";
        Self::new(406, "NotAcceptable", text, None)
    }

    /// 410 for a version that the history does not reach.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message, None)
    }

    /// 504 for a version that is not there yet.
    pub(crate) fn too_new(wanted: u64, current: u64) -> Self {
        let text = format!("Timeout: Too large resource version: {wanted}, current: {current}");
        let cause = json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
        Self::new(
            504,
            "Timeout",
            text,
            Some(json!({"causes": [cause], "retryAfterSeconds": 1})),
        )
    }

    /// 413.
    pub(crate) fn too_large(limit: usize) -> Self {
        let text = format!("Request entity too large: limit is {limit}");
        Self::new(413, "RequestEntityTooLarge", text, None)
    }

    /// 415.
    pub(crate) fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::new(415, "UnsupportedMediaType", message, None)
    }

    /// 415 of a patch.
    pub(crate) fn unsupported_patch() -> Self {
        Self::new(
            415,
            "UnsupportedMediaType",
            "415: Unsupported Media Type",
            Some(json!({})),
        )
    }

    /// 500.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(
            500,
            "InternalError",
            format!("Internal error occurred: {}", message.into()),
            None,
        )
    }

    /// 500 without a reason.
    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::new(500, "", message, None)
    }

    /// A refusal by admission, as a webhook's answer is reported.
    pub(crate) fn denied(code: u16, message: impl Into<String>) -> Self {
        let reason = match code {
            400 => "BadRequest",
            403 => "Forbidden",
            409 => "Conflict",
            422 => "Invalid",
            _ => "",
        };
        Self::new(code, reason, message, None)
    }

    /// The `Status` object.
    pub(crate) fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if let Some(map) = status.as_object_mut() {
            if !self.reason.is_empty() {
                map.insert("reason".into(), self.reason.into());
            }
            if let Some(details) = &self.details {
                map.insert("details".into(), details.clone());
            }
        }
        status
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.message.trim_end())
    }
}

impl std::error::Error for ApiError {}
