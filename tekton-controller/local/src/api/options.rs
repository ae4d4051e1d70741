//! Options of requests that all verbs share: dry run, field validation, delete options.

use serde_json::{Value, json};

use super::error::{ApiError, FieldFault};
use super::json::{at, text};
use super::request::Call;

/// What happens to fields that a kind does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// Dropped without a word.
    Ignore,
    /// Dropped with a warning.
    Warn,
    /// Refused.
    Strict,
}

/// Options of a create, update or patch.
#[derive(Clone, Debug)]
pub(crate) struct WriteOptions {
    /// Answer as usual, store nothing.
    pub(crate) dry_run: bool,
    /// Treatment of unknown fields.
    pub(crate) validation: FieldValidation,
    /// Owner of the written fields.
    pub(crate) manager: String,
    /// `force` of server-side apply.
    pub(crate) force: bool,
}

impl WriteOptions {
    /// Reads them; `kind` is that of the options object, for messages.
    pub(crate) fn parse(call: &Call, kind: &str) -> Result<Self, ApiError> {
        let dry_run = dry_run(&call.query.all("dryRun"), kind)?;
        let validation = match call.query.get("fieldValidation") {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let allowed = ["", "Ignore", "Strict", "Warn"];
                return Err(refused(
                    kind,
                    FieldFault::unsupported("fieldValidation", &json!(other), &allowed),
                ));
            }
        };
        let manager = call.field_manager();
        if manager.len() > 128 {
            let fault =
                FieldFault::invalid("fieldManager", &json!(manager), "may not be more than 128 bytes");
            return Err(refused(kind, fault));
        }
        Ok(Self {
            dry_run,
            validation,
            manager,
            force: call.query.flag("force"),
        })
    }
}

fn refused(kind: &str, fault: FieldFault) -> ApiError {
    ApiError::invalid_kind("meta.k8s.io", kind, "", &[fault])
}

fn dry_run(values: &[&str], kind: &str) -> Result<bool, ApiError> {
    let values: Vec<&str> = values.iter().copied().filter(|value| !value.is_empty()).collect();
    if values.iter().any(|value| *value != "All") {
        return Err(refused(
            kind,
            FieldFault::unsupported("dryRun", &json!(values), &["All"]),
        ));
    }
    Ok(!values.is_empty())
}

/// Who else goes with a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// Dependents are removed afterwards.
    Background,
    /// The object waits for its dependents.
    Foreground,
    /// Dependents stay, without the reference.
    Orphan,
}

/// Options of a delete.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    /// Seconds a Pod may take; unset: the Pod's own.
    pub(crate) grace: Option<i64>,
    /// Propagation, when given.
    pub(crate) propagation: Option<Propagation>,
    /// The uid the object must have.
    pub(crate) uid: String,
    /// The version the object must have.
    pub(crate) version: String,
    /// Answer as usual, delete nothing.
    pub(crate) dry_run: bool,
}

impl DeleteOptions {
    /// From the body, or from the query when there is none.
    pub(crate) fn parse(call: &Call, body: Option<&Value>) -> Result<Self, ApiError> {
        let query = &call.query;
        let from_body = body.filter(|body| body.as_object().is_some_and(|map| !map.is_empty()));
        let mut options = Self::default();
        let (grace, policy, orphan, dry) = if let Some(body) = from_body {
            let dry = super::json::list(body, &["dryRun"])
                .iter()
                .filter_map(Value::as_str)
                .collect();
            (
                at(body, &["gracePeriodSeconds"]).and_then(Value::as_i64),
                text(body, &["propagationPolicy"]).to_owned(),
                at(body, &["orphanDependents"]).and_then(Value::as_bool),
                dry,
            )
        } else {
            let orphan = query
                .has("orphanDependents")
                .then(|| query.flag("orphanDependents"));
            let policy = query.get("propagationPolicy").to_owned();
            (
                grace_of(query.get("gracePeriodSeconds"))?,
                policy,
                orphan,
                query.all("dryRun"),
            )
        };
        options.grace = grace;
        if let Some(seconds) = grace.filter(|seconds| *seconds < 0) {
            // A negative period means at once, as the smallest that is accepted.
            options.grace = Some(if seconds == -1 { 1 } else { seconds.max(0) });
        }
        options.propagation = match policy.as_str() {
            "" => orphan.map(|orphan| {
                if orphan {
                    Propagation::Orphan
                } else {
                    Propagation::Background
                }
            }),
            "Background" => Some(Propagation::Background),
            "Foreground" => Some(Propagation::Foreground),
            "Orphan" => Some(Propagation::Orphan),
            other => {
                let allowed = ["Foreground", "Background", "Orphan", "nil"];
                let fault = FieldFault::unsupported("propagationPolicy", &json!(other), &allowed);
                return Err(refused("DeleteOptions", fault));
            }
        };
        options.dry_run = dry_run(&dry, "DeleteOptions")?;
        if let Some(body) = from_body {
            text(body, &["preconditions", "uid"]).clone_into(&mut options.uid);
            text(body, &["preconditions", "resourceVersion"]).clone_into(&mut options.version);
        }
        Ok(options)
    }
}

fn grace_of(raw: &str) -> Result<Option<i64>, ApiError> {
    if raw.is_empty() {
        return Ok(None);
    }
    let wrong = |_| ApiError::bad_request(format!("strconv.ParseInt: parsing {raw:?}: invalid syntax"));
    raw.parse().map(Some).map_err(wrong)
}
