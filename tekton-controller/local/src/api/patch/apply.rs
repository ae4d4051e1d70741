//! Server-side apply: a manager states its fields; what it no longer states goes.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::error::ApiError;
use crate::api::json::{remove, set, text};
use crate::api::kinds::Resource;
use crate::api::negotiate::form;
use crate::api::options::WriteOptions;
use crate::api::request::{Call, Target};
use crate::api::write::{ATTEMPTS, Part, Refused, Update, create};
use crate::api::{Api, Reply, body, intake, managed, read, versions};
use crate::store::ObjectKey;

/// PATCH with an apply configuration.
pub(super) fn patch(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
    part: Part,
    options: &WriteOptions,
) -> Result<Reply, ApiError> {
    let wanted = form(call.header("accept"))?;
    let mut config = body::read_yaml(&call.body)?;
    if managed::names_owners(&config) {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    let unknown = intake::accept_partial(resource, &mut config)?;
    let warnings = intake::judge_unknown(resource, &unknown, options.validation)?;
    match text(&config, &["metadata", "name"]) {
        "" => set(&mut config, &["metadata", "name"], target.name.as_str()),
        name if name != target.name => {
            let text = format!(
                "the name of the object ({name}) does not match the name on the URL ({})",
                target.name
            );
            return Err(ApiError::bad_request(text));
        }
        _ => {}
    }
    intake::place(resource, target, &mut config)?;
    let subresource = keep_part(resource, part, &mut config);
    let key = ObjectKey::new(&*target.namespace, &*target.name);
    let pinned = !text(&config, &["metadata", "resourceVersion"]).is_empty();
    for _ in 0..ATTEMPTS {
        let (code, object) = match api.store().get(&resource.bucket, &key) {
            None if part == Part::Main => match fresh(api, resource, target, call, options, &config) {
                Err(why) if why.reason == "AlreadyExists" => continue,
                done => (201, done?),
            },
            None => return Err(ApiError::not_found(resource, &target.name)),
            Some(before) => {
                let old = versions::served(resource, &before, api.convert())?;
                let applied = managed::apply(resource, Some(&old), &config, options, subresource)?;
                let mut after = applied.object;
                intake::accept(resource, &mut after)?;
                let write = Update {
                    api,
                    resource,
                    target,
                    part,
                    options,
                    user: &call.user,
                };
                match write.store(&before, after, managed::Source::Apply(&applied.owners)) {
                    Ok(object) => (200, object),
                    Err(Refused::Error(why)) => return Err(why),
                    Err(Refused::Raced) if pinned => break,
                    Err(Refused::Raced) => continue,
                }
            }
        };
        let object = versions::served(resource, &object, api.convert())?;
        return Ok(Reply::json(code, read::shape_one(resource, object, wanted, call)?).warn(&warnings));
    }
    Err(ApiError::modified(resource, &target.name))
}

fn fresh(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
    options: &WriteOptions,
    config: &Value,
) -> Result<Arc<Value>, ApiError> {
    let applied = managed::apply(resource, None, config, options, "")?;
    let mut object = applied.object;
    intake::accept(resource, &mut object)?;
    create(
        api,
        resource,
        target,
        object,
        options,
        managed::Source::Apply(&applied.owners),
        &call.user,
    )
}

/// Drops what the endpoint does not write; answers its subresource.
fn keep_part(resource: &Resource, part: Part, config: &mut Value) -> &'static str {
    if part == Part::Status {
        remove(config, &["spec"]);
        if resource.custom
            && let Some(meta) = config.get("metadata").cloned()
        {
            let mut kept = json!({});
            for field in ["name", "namespace", "uid", "resourceVersion"] {
                if let Some(value) = meta.get(field) {
                    set(&mut kept, &[field], value.clone());
                }
            }
            set(config, &["metadata"], kept);
        }
        return "status";
    }
    if resource.status {
        remove(config, &["status"]);
    }
    ""
}
