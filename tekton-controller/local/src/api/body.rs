//! Request bodies: JSON, YAML and Kubernetes' protobuf envelope, read into a JSON value.

use serde_json::Value;

use super::error::ApiError;
use super::protobuf;
use super::request::Call;

/// The body as a value; an empty one is refused.
pub(crate) fn read(call: &Call) -> Result<Value, ApiError> {
    match call.content_type() {
        "" | "application/json" => read_json(&call.body),
        "application/yaml" | "text/yaml" => read_yaml(&call.body),
        "application/vnd.kubernetes.protobuf" => protobuf::read(&call.body),
        other => Err(ApiError::unsupported_media_type(format!(
            "the body of the request was in an unknown format - accepted media types include: application/json, \
             application/yaml, application/vnd.kubernetes.protobuf (got {other})"
        ))),
    }
}

/// A JSON document.
pub(crate) fn read_json(body: &[u8]) -> Result<Value, ApiError> {
    if body.is_empty() {
        return Err(ApiError::bad_request("unexpected end of JSON input"));
    }
    serde_json::from_slice(body)
        .map_err(|why| ApiError::bad_request(format!("couldn't get version/kind; json parse error: {why}")))
}

/// A YAML document (JSON is YAML, too), with the booleans of YAML 1.1, as Go's reader takes them.
pub(crate) fn read_yaml(body: &[u8]) -> Result<Value, ApiError> {
    let bad = |why: String| ApiError::bad_request(format!("error converting YAML to JSON: {why}"));
    let text = std::str::from_utf8(body).map_err(|why| bad(why.to_string()))?;
    let mut documents = tekton_api::yaml::documents(text).map_err(|why| bad(why.to_string()))?;
    match (documents.pop(), documents.is_empty()) {
        (Some(document), true) => Ok(document),
        (None, _) => Err(bad("no document".to_owned())),
        (Some(_), false) => Err(bad("more than one document".to_owned())),
    }
}
