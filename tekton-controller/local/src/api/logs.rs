//! `pods/log`: checks the options and passes the log of a container on.

use std::sync::Arc;

use futures::StreamExt as _;
use serde_json::{Value, json};

use super::error::{ApiError, FieldFault};
use super::json::{list, text};
use super::kinds::Resource;
use super::request::{Call, Target};
use super::{Api, Reply, read};
use crate::cluster::{LogError, LogRequest};

/// Answers a log.
pub(crate) async fn read(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
) -> Result<Reply, ApiError> {
    let pod = read::find(api, resource, target)?;
    let mut request = request(call, target)?;
    text(&pod, &["metadata", "uid"]).clone_into(&mut request.uid);
    request.container = container(&pod, target, call.query.get("container"))?;
    let Some(source) = api
        .logs()
        .filter(|_| !text(&pod, &["spec", "nodeName"]).is_empty())
    else {
        // Nobody runs the Pod: nothing has been logged.
        return Ok(Reply::text(204, ""));
    };
    match source.open(request).await {
        Ok(stream) => Ok(Reply::stream(stream.map(|piece| piece)).typed("text/plain")),
        Err(LogError::NotAvailable(why)) => Err(ApiError::bad_request(why)),
        Err(LogError::Failed(why)) => Err(ApiError::internal(why)),
    }
}

fn request(call: &Call, target: &Target) -> Result<LogRequest, ApiError> {
    let query = &call.query;
    let number = |name: &str| -> Result<Option<i64>, ApiError> {
        match query.get(name) {
            "" => Ok(None),
            raw => raw.parse().map(Some).map_err(|_| {
                ApiError::bad_request(format!("strconv.ParseInt: parsing {raw:?}: invalid syntax"))
            }),
        }
    };
    let (tail, limit, since) = (
        number("tailLines")?,
        number("limitBytes")?,
        number("sinceSeconds")?,
    );
    let since_time = query.get("sinceTime");
    let mut faults = Vec::new();
    if let Some(tail) = tail.filter(|tail| *tail < 0) {
        faults.push(FieldFault::invalid(
            "tailLines",
            &json!(tail),
            "must be greater than or equal to 0",
        ));
    }
    if let Some(limit) = limit.filter(|limit| *limit < 1) {
        faults.push(FieldFault::invalid(
            "limitBytes",
            &json!(limit),
            "must be greater than 0",
        ));
    }
    if since.is_some() && !since_time.is_empty() {
        faults.push(FieldFault::forbidden(
            "",
            "at most one of `sinceTime` or `sinceSeconds` may be specified",
        ));
    } else if let Some(since) = since.filter(|since| *since < 1) {
        faults.push(FieldFault::invalid(
            "sinceSeconds",
            &json!(since),
            "must be greater than 0",
        ));
    }
    if !faults.is_empty() {
        return Err(ApiError::invalid_kind("", "PodLogOptions", &target.name, &faults));
    }
    Ok(LogRequest {
        namespace: target.namespace.clone(),
        pod: target.name.clone(),
        follow: query.flag("follow"),
        previous: query.flag("previous"),
        timestamps: query.flag("timestamps"),
        since_seconds: since,
        since_time: (!since_time.is_empty()).then(|| since_time.to_owned()),
        tail_lines: tail.and_then(|tail| tail.try_into().ok()),
        limit_bytes: limit.and_then(|limit| limit.try_into().ok()),
        ..LogRequest::default()
    })
}

fn container(pod: &Value, target: &Target, wanted: &str) -> Result<String, ApiError> {
    let names = |kind: &str| -> Vec<String> {
        list(pod, &["spec", kind])
            .iter()
            .map(|one| text(one, &["name"]).to_owned())
            .collect()
    };
    let mut all = names("initContainers");
    let main = names("containers");
    all.extend(main.iter().cloned());
    all.extend(names("ephemeralContainers"));
    if wanted.is_empty() {
        return match main.as_slice() {
            [one] => Ok(one.clone()),
            _ => Err(ApiError::bad_request(format!(
                "a container name must be specified for pod {}, choose one of: [{}]",
                target.name,
                all.join(" ")
            ))),
        };
    }
    if all.iter().any(|name| name == wanted) {
        return Ok(wanted.to_owned());
    }
    Err(ApiError::bad_request(format!(
        "container {wanted} is not valid for pod {}",
        target.name
    )))
}
