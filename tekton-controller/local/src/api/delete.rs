//! DELETE of one object or of a collection: grace periods, finalizers, preconditions.

use std::sync::Arc;

use serde_json::{Value, json};

use super::error::ApiError;
use super::json::{at, list, set, text};
use super::kinds::Resource;
use super::options::{DeleteOptions, Propagation};
use super::request::{Call, Target};
use super::write::{self, ATTEMPTS};
use super::{Api, Reply, body, read, versions};
use crate::store::{ObjectKey, StoreError};

/// Namespaces without which a cluster is none.
const KEPT_NAMESPACES: &[&str] = &["default", "kube-system", "kube-public"];

fn options(call: &Call) -> Result<DeleteOptions, ApiError> {
    let body = if call.body.is_empty() {
        None
    } else {
        Some(body::read(call)?)
    };
    DeleteOptions::parse(call, body.as_ref())
}

/// DELETE of one object.
pub(crate) fn one(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
) -> Result<Reply, ApiError> {
    let options = options(call)?;
    let key = ObjectKey::new(&*target.namespace, &*target.name);
    let (object, gone) = remove(api, resource, &key, &options)?;
    let whole = !gone || resource.returns_deleted || resource.is_core("Namespace");
    if whole {
        return Ok(Reply::json(
            200,
            versions::served(resource, &object, api.convert())?,
        ));
    }
    let mut details = resource.details(&target.name);
    set(&mut details, &["uid"], text(&object, &["metadata", "uid"]));
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
    Ok(Reply::json(200, status))
}

/// DELETE of a collection answers what was removed.
pub(crate) fn collection(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
) -> Result<Reply, ApiError> {
    let options = options(call)?;
    let page = read::page(api, resource, target, call)?;
    let mut items = Vec::new();
    for object in &page.objects {
        match remove(api, resource, &read::key_of(object), &options) {
            Ok((last, _)) => {
                items.push(versions::without_type(
                    resource,
                    versions::served(resource, &last, api.convert())?,
                ));
            }
            Err(why) if why.code == 404 => {}
            Err(why) => return Err(why),
        }
    }
    let list = json!({"kind": resource.list_kind, "apiVersion": resource.api_version(), "metadata": page.meta, "items": items});
    Ok(Reply::json(200, list))
}

/// Removes an object, or marks it for removal; answers its last state and whether it is gone.
pub(crate) fn remove(
    api: &Api,
    resource: &Arc<Resource>,
    key: &ObjectKey,
    options: &DeleteOptions,
) -> Result<(Arc<Value>, bool), ApiError> {
    for _ in 0..ATTEMPTS {
        let before = api
            .store()
            .get(&resource.bucket, key)
            .ok_or_else(|| ApiError::not_found(resource, &key.name))?;
        check_preconditions(resource, &before, options)?;
        if resource.is_core("Namespace") && KEPT_NAMESPACES.contains(&key.name.as_str()) {
            return Err(ApiError::forbidden(
                resource,
                &key.name,
                "this namespace may not be deleted",
                None,
            ));
        }
        let step = plan(resource, &before, options);
        if options.dry_run {
            return Ok((step.object(&before), matches!(step, Step::Remove(_))));
        }
        let store = api.store();
        let done = match step {
            Step::Nothing => Ok((Arc::clone(&before), false)),
            Step::Mark(object) => store
                .replace(&resource.bucket, key.clone(), &before, object)
                .map(|object| (object, false)),
            Step::Remove(None) => store
                .remove(&resource.bucket, key.clone(), &before)
                .map(|object| (object, true)),
            Step::Remove(Some(last)) => store
                .replace(&resource.bucket, key.clone(), &before, last)
                .and_then(|last| store.remove(&resource.bucket, key.clone(), &last))
                .map(|object| (object, true)),
        };
        match done {
            Ok((object, gone)) => {
                if gone {
                    api.after_removal(resource, &object);
                }
                return Ok((object, gone));
            }
            Err(StoreError::Missing) => return Err(ApiError::not_found(resource, &key.name)),
            Err(_) => {}
        }
    }
    Err(ApiError::modified(resource, &key.name))
}

fn check_preconditions(resource: &Resource, before: &Value, options: &DeleteOptions) -> Result<(), ApiError> {
    let name = text(before, &["metadata", "name"]);
    let mut details = json!({"name": name, "kind": resource.kind});
    if !resource.group.is_empty() {
        set(&mut details, &["group"], resource.group.as_str());
    }
    let what = if resource.group.is_empty() {
        resource.kind.clone()
    } else {
        format!("{}.{}", resource.kind, resource.group)
    };
    for (label, field, wanted) in [
        ("UID", "uid", &options.uid),
        ("ResourceVersion", "resourceVersion", &options.version),
    ] {
        let found = text(before, &["metadata", field]);
        if !wanted.is_empty() && wanted != found {
            let why = format!(
                "Precondition failed: {label} in precondition: {wanted}, {label} in object meta: {found}"
            );
            return Err(ApiError::conflict(&what, details, name, &why));
        }
    }
    Ok(())
}

/// What a delete does to an object.
enum Step {
    /// It is being deleted already.
    Nothing,
    /// It stays with a deletion time.
    Mark(Value),
    /// It goes, after this last state.
    Remove(Option<Value>),
}

impl Step {
    fn object(&self, before: &Arc<Value>) -> Arc<Value> {
        match self {
            Self::Mark(object) | Self::Remove(Some(object)) => Arc::new(object.clone()),
            Self::Nothing | Self::Remove(None) => Arc::clone(before),
        }
    }
}

fn plan(resource: &Resource, before: &Value, options: &DeleteOptions) -> Step {
    let mut after = before.clone();
    let finalizers = finalizers(before, options.propagation);
    if finalizers != list(before, &["metadata", "finalizers"]) {
        set(&mut after, &["metadata", "finalizers"], finalizers.clone());
    }
    let deleting = at(before, &["metadata", "deletionTimestamp"]).is_some();
    let graceful = resource.is_core("Pod");
    let grace = if graceful { pod_grace(before, options) } else { 0 };
    let current = at(before, &["metadata", "deletionGracePeriodSeconds"])
        .and_then(Value::as_i64)
        .unwrap_or(0);
    let waits = !finalizers.is_empty()
        || (resource.is_core("Namespace") && !list(before, &["spec", "finalizers"]).is_empty());
    if deleting && graceful && (grace >= current && current > 0) {
        return if after == *before {
            Step::Nothing
        } else {
            Step::Mark(after)
        };
    }
    if deleting && waits && (!graceful || current == 0) {
        return if after == *before {
            Step::Nothing
        } else {
            Step::Mark(after)
        };
    }
    if !graceful && !waits {
        return Step::Remove(None);
    }
    let until = jiff::Timestamp::now()
        .checked_add(jiff::SignedDuration::from_secs(grace))
        .unwrap_or_else(|_| jiff::Timestamp::now());
    set(
        &mut after,
        &["metadata", "deletionTimestamp"],
        write::timestamp(until),
    );
    set(&mut after, &["metadata", "deletionGracePeriodSeconds"], grace);
    if let (false, Some(generation)) = (
        deleting,
        at(before, &["metadata", "generation"]).and_then(Value::as_i64),
    ) {
        set(&mut after, &["metadata", "generation"], generation + 1);
    }
    if resource.is_core("Namespace") {
        set(&mut after, &["status", "phase"], "Terminating");
    }
    if waits || grace > 0 {
        Step::Mark(after)
    } else {
        Step::Remove(Some(after))
    }
}

fn finalizers(before: &Value, propagation: Option<Propagation>) -> Vec<Value> {
    let mut all = list(before, &["metadata", "finalizers"]).to_vec();
    let own = [json!("orphan"), json!("foregroundDeletion")];
    match propagation {
        None => return all,
        Some(Propagation::Background) => all.retain(|one| !own.contains(one)),
        Some(Propagation::Orphan | Propagation::Foreground) => {
            let wanted = json!(if propagation == Some(Propagation::Orphan) {
                "orphan"
            } else {
                "foregroundDeletion"
            });
            all.retain(|one| !own.contains(one) || *one == wanted);
            if !all.contains(&wanted) {
                all.push(wanted);
            }
        }
    }
    all
}

fn pod_grace(pod: &Value, options: &DeleteOptions) -> i64 {
    let finished = matches!(text(pod, &["status", "phase"]), "Succeeded" | "Failed");
    if text(pod, &["spec", "nodeName"]).is_empty() || finished {
        return 0;
    }
    let own = at(pod, &["spec", "terminationGracePeriodSeconds"])
        .and_then(Value::as_i64)
        .unwrap_or(30);
    options.grace.unwrap_or(own).max(0)
}
