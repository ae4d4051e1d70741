//! Subresources that act: binding, eviction, service account tokens.

use std::sync::Arc;

use serde_json::{Value, json};

use super::error::{ApiError, FieldFault};
use super::json::{at, list, set, text};
use super::kinds::Resource;
use super::options::DeleteOptions;
use super::request::{Call, Target};
use super::{Api, Reply, body, delete, read, write};
use crate::store::{ObjectKey, StoreError};

fn success(code: u16) -> Reply {
    let status =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code});
    Reply::json(code, status)
}

/// Puts a Pod on a node.
pub(crate) fn bind(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
) -> Result<Reply, ApiError> {
    let binding = body::read(call)?;
    let node = text(&binding, &["target", "name"]);
    if node.is_empty() {
        let fault = FieldFault::required("target.name", "");
        return Err(ApiError::invalid_kind("", "Binding", &target.name, &[fault]));
    }
    let key = ObjectKey::new(&*target.namespace, &*target.name);
    for _ in 0..write::ATTEMPTS {
        let before = read::find(api, resource, target)?;
        let refused = |why: String| {
            let details = json!({"name": target.name, "kind": "pods/binding"});
            ApiError::conflict("pods/binding", details, &target.name, &why)
        };
        if at(&before, &["metadata", "deletionTimestamp"]).is_some() {
            return Err(refused(format!(
                "pod {} is being deleted, cannot be assigned to a host",
                target.name
            )));
        }
        let present = text(&before, &["spec", "nodeName"]);
        if !present.is_empty() {
            return Err(refused(format!(
                "pod {} is already assigned to node {present:?}",
                target.name
            )));
        }
        let mut after = Value::clone(&before);
        set(&mut after, &["spec", "nodeName"], node);
        let mut conditions = list(&after, &["status", "conditions"]).to_vec();
        conditions.retain(|one| text(one, &["type"]) != "PodScheduled");
        conditions.push(
            json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null,
            "lastTransitionTime": write::now()}),
        );
        set(&mut after, &["status", "conditions"], conditions);
        match api.store().replace(&resource.bucket, key.clone(), &before, after) {
            Ok(_) => return Ok(success(201)),
            Err(StoreError::Missing) => return Err(ApiError::not_found(resource, &target.name)),
            Err(_) => {}
        }
    }
    Err(ApiError::modified(resource, &target.name))
}

/// Deletes a Pod by eviction; there are no disruption budgets to respect.
pub(crate) fn evict(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
) -> Result<Reply, ApiError> {
    let eviction = body::read(call)?;
    let name = text(&eviction, &["metadata", "name"]);
    if !name.is_empty() && name != target.name {
        return Err(ApiError::bad_request(
            "name in URL does not match name in Eviction object",
        ));
    }
    let mut options = DeleteOptions::parse(call, at(&eviction, &["deleteOptions"]))?;
    options.dry_run |= !call.query.all("dryRun").is_empty();
    delete::remove(
        api,
        resource,
        &ObjectKey::new(&*target.namespace, &*target.name),
        &options,
    )?;
    Ok(success(201))
}

/// Issues a token of a service account.
pub(crate) fn token(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
) -> Result<Reply, ApiError> {
    let account = read::find(api, resource, target)?;
    let mut request = body::read(call)?;
    let seconds = at(&request, &["spec", "expirationSeconds"])
        .and_then(Value::as_i64)
        .unwrap_or(3600);
    if seconds < 600 {
        let fault = FieldFault::invalid(
            "spec.expirationSeconds",
            &json!(seconds),
            "may not specify a duration less than 10 minutes",
        );
        return Err(ApiError::invalid_kind(
            "authentication.k8s.io",
            "TokenRequest",
            "",
            &[fault],
        ));
    }
    let seconds = seconds.min(1 << 32);
    let mut audiences: Vec<String> = list(&request, &["spec", "audiences"])
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    if audiences.is_empty() {
        audiences.push("https://kubernetes.default.svc".to_owned());
    }
    let token = crate::cluster::issue_token(api, &target.namespace, &target.name, &audiences, seconds);
    let expires = jiff::Timestamp::now()
        .checked_add(jiff::SignedDuration::from_secs(seconds))
        .unwrap_or_else(|_| jiff::Timestamp::now());
    let bound = at(&request, &["spec", "boundObjectRef"])
        .cloned()
        .unwrap_or_default();
    set(&mut request, &["kind"], "TokenRequest");
    set(&mut request, &["apiVersion"], "authentication.k8s.io/v1");
    let created = json!({"name": target.name, "namespace": target.namespace, "uid": text(&account, &["metadata", "uid"]),
        "creationTimestamp": write::now()});
    set(&mut request, &["metadata"], created);
    set(
        &mut request,
        &["spec"],
        json!({"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": bound}),
    );
    set(
        &mut request,
        &["status"],
        json!({"token": token, "expirationTimestamp": write::timestamp(expires)}),
    );
    Ok(Reply::json(201, request))
}
