//! Kinds that are not stored: a POST asks, the answer comes back in `status`.
//!
//! There is no authorisation beyond the token: who is let in may do everything.

use http::Method;
use serde_json::{Value, json};

use super::error::ApiError;
use super::json::{set, text};
use super::kinds::Resource;
use super::request::{Call, Target};
use super::{Api, Reply, body};

/// Answers a question.
pub(crate) fn answer(
    api: &Api,
    resource: &Resource,
    target: &Target,
    call: &Call,
) -> Result<Reply, ApiError> {
    if call.method != Method::POST || !target.name.is_empty() {
        return Err(ApiError::method_not_allowed());
    }
    let mut question = body::read(call)?;
    if !question.is_object() {
        return Err(ApiError::bad_request("the body is no object"));
    }
    set(&mut question, &["kind"], resource.kind.as_str());
    set(&mut question, &["apiVersion"], resource.api_version());
    super::json::set_missing(&mut question, &["metadata"], json!({"creationTimestamp": null}));
    let status = match resource.kind.as_str() {
        "SelfSubjectRulesReview" => json!({
            "incomplete": false, "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
        }),
        "TokenReview" => token_review(api, text(&question, &["spec", "token"])),
        "SelfSubjectReview" => {
            json!({"userInfo": {"username": call.user, "groups": ["system:authenticated"]}})
        }
        _ => json!({"allowed": true}),
    };
    set(&mut question, &["status"], status);
    Ok(Reply::json(201, question))
}

fn token_review(api: &Api, token: &str) -> Value {
    match crate::cluster::user_of_token(api, token) {
        Some(user) => {
            json!({"authenticated": true, "user": {"username": user, "groups": ["system:authenticated"]}})
        }
        None => json!({"authenticated": false, "error": "invalid bearer token"}),
    }
}
