//! PATCH in its four media types: each makes a new object out of the present one.

mod apply;
mod merge;
mod operations;
mod strategic;

use std::sync::Arc;

use serde_json::{Value, json};

use super::error::{ApiError, FieldFault};
use super::json::text;
use super::kinds::Resource;
use super::negotiate::form;
use super::options::WriteOptions;
use super::request::{Call, Target};
use super::write::{ATTEMPTS, Part, Refused, Update};
use super::{Api, Reply, body, intake, managed, read, versions};
use crate::store::ObjectKey;

enum Patch {
    Operations(Vec<operations::Operation>),
    Merge(Value),
    Strategic(Value),
}

impl Patch {
    fn parse(resource: &Resource, call: &Call) -> Result<Self, ApiError> {
        let strategic_on_custom = || {
            ApiError::unsupported_media_type(
                "the body of the request was in an unknown format - accepted media types include: \
                 application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
            )
        };
        match call.content_type() {
            "application/json-patch+json" => Ok(Self::Operations(operations::parse(&call.body)?)),
            "application/merge-patch+json" => Ok(Self::Merge(object_of(call)?)),
            "application/strategic-merge-patch+json" if resource.custom => Err(strategic_on_custom()),
            "application/strategic-merge-patch+json" => Ok(Self::Strategic(object_of(call)?)),
            _ => Err(ApiError::unsupported_patch()),
        }
    }

    fn apply(&self, resource: &Resource, object: &Value) -> Result<Value, ApiError> {
        match self {
            Self::Operations(operations) => operations::apply(object, operations),
            Self::Merge(patch) => {
                let mut patched = object.clone();
                merge::apply(&mut patched, patch);
                Ok(patched)
            }
            Self::Strategic(patch) => strategic::apply(resource, object, patch),
        }
    }
}

fn object_of(call: &Call) -> Result<Value, ApiError> {
    let patch = body::read_json(&call.body)?;
    if patch.is_object() {
        Ok(patch)
    } else {
        Err(ApiError::bad_request(
            "error decoding patch: the patch is no object",
        ))
    }
}

/// PATCH of an object or its status.
pub(crate) fn patch(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
    part: Part,
) -> Result<Reply, ApiError> {
    let applies = matches!(
        call.content_type(),
        "application/apply-patch+yaml" | "application/apply-patch+cbor"
    );
    let refused = |fault| ApiError::invalid_kind("meta.k8s.io", "PatchOptions", "", &[fault]);
    if applies && call.query.get("fieldManager").is_empty() {
        return Err(refused(FieldFault::required(
            "fieldManager",
            "is required for apply patch",
        )));
    }
    if !applies && call.query.has("force") {
        return Err(refused(FieldFault::forbidden(
            "force",
            "may not be specified for non-apply patch",
        )));
    }
    let options = WriteOptions::parse(call, "PatchOptions")?;
    if applies {
        return apply::patch(api, resource, target, call, part, &options);
    }
    let wanted = form(call.header("accept"))?;
    let patch = Patch::parse(resource, call)?;
    let key = ObjectKey::new(&*target.namespace, &*target.name);
    for _ in 0..ATTEMPTS {
        let before = api
            .store()
            .get(&resource.bucket, &key)
            .ok_or_else(|| ApiError::not_found(resource, &target.name))?;
        let old = versions::served(resource, &before, api.convert())?;
        let mut after = patch.apply(resource, &old)?;
        let pinned =
            text(&after, &["metadata", "resourceVersion"]) != text(&old, &["metadata", "resourceVersion"]);
        let unknown = intake::accept(resource, &mut after)?;
        let quoted = String::from_utf8_lossy(&call.body);
        let warnings = intake::judge_unknown_patch(&unknown, options.validation, &quoted)?;
        intake::place(resource, target, &mut after)?;
        if text(&after, &["metadata", "name"]) != target.name {
            let found = json!(text(&after, &["metadata", "name"]));
            let fault = FieldFault::invalid("metadata.name", &found, "field is immutable");
            return Err(ApiError::invalid(resource, &target.name, &[fault]));
        }
        let write = Update {
            api,
            resource,
            target,
            part,
            options: &options,
            user: &call.user,
        };
        match write.store(&before, after, managed::Source::Update) {
            Ok(object) => {
                let object = versions::served(resource, &object, api.convert())?;
                return Ok(Reply::json(200, read::shape_one(resource, object, wanted, call)?).warn(&warnings));
            }
            Err(Refused::Error(why)) => return Err(why),
            Err(Refused::Raced) if pinned => break,
            Err(Refused::Raced) => {}
        }
    }
    Err(ApiError::modified(resource, &target.name))
}
