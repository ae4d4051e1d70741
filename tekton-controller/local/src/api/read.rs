//! GET of one object and of a collection: versions, paging, selectors, the wanted form.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::error::{ApiError, FieldFault};
use super::json::text;
use super::kinds::Resource;
use super::negotiate::{Form, form};
use super::request::{Call, Target};
use super::selectors::Selector;
use super::{Api, Reply, table, versions};
use crate::store::{ObjectKey, StoreError};

/// One object.
pub(crate) fn get(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
) -> Result<Reply, ApiError> {
    let wanted = form(call.header("accept"))?;
    let current = api.store().version();
    if let Some(version) =
        parse_version(call.query.get("resourceVersion"))?.filter(|version| *version > current)
    {
        return Err(ApiError::too_new(version, current));
    }
    let object = find(api, resource, target)?;
    let object = versions::served(resource, &object, api.convert())?;
    Ok(Reply::json(200, shape_one(resource, object, wanted, call)?))
}

/// The stored object behind a path.
pub(crate) fn find(api: &Api, resource: &Resource, target: &Target) -> Result<Arc<Value>, ApiError> {
    api.store()
        .get(
            &resource.bucket,
            &ObjectKey::new(&*target.namespace, &*target.name),
        )
        .ok_or_else(|| ApiError::not_found(resource, &target.name))
}

/// An object in the form that the client wants.
pub(crate) fn shape_one(
    resource: &Resource,
    object: Value,
    wanted: Form,
    call: &Call,
) -> Result<Value, ApiError> {
    Ok(match wanted {
        Form::Plain => object,
        Form::Table => {
            let include = table::Include::parse(call.query.get("includeObject"))?;
            let meta = json!({"resourceVersion": text(&object, &["metadata", "resourceVersion"])});
            table::table(resource, &[object], include, &meta, true)
        }
        Form::Metadata => metadata_only(&object),
        Form::Discovery(_) => return Err(ApiError::not_acceptable()),
    })
}

/// The metadata of an object as an object of its own.
pub(crate) fn metadata_only(object: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
        "metadata": object.get("metadata").cloned().unwrap_or_default(),
    })
}

/// Where the next page goes on.
struct Position {
    version: u64,
    after: ObjectKey,
}

impl Position {
    fn token(&self) -> String {
        let text = json!({"v": "meta.k8s.io/v1", "rv": self.version, "ns": self.after.namespace, "start": self.after.name});
        URL_SAFE_NO_PAD.encode(text.to_string())
    }

    fn parse(token: &str) -> Result<Self, ApiError> {
        let broken = || ApiError::bad_request("continue key is not valid: invalid continue token");
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| broken())?;
        let value: Value = serde_json::from_slice(&bytes).map_err(|_| broken())?;
        let version = value.get("rv").and_then(Value::as_u64).ok_or_else(broken)?;
        Ok(Self {
            version,
            after: ObjectKey::new(text(&value, &["ns"]), text(&value, &["start"])),
        })
    }
}

/// The version of which exactly the list is wanted, if any; contradictory options are refused.
fn wanted_version(api: &Api, call: &Call) -> Result<Option<u64>, ApiError> {
    let (raw, matching) = (
        call.query.get("resourceVersion"),
        call.query.get("resourceVersionMatch"),
    );
    let mut faults = Vec::new();
    let mut forbid = |field: &str, detail: &str| faults.push(FieldFault::forbidden(field, detail));
    let field = "resourceVersionMatch";
    if !matching.is_empty() {
        if raw.is_empty() {
            forbid(
                field,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            );
        }
        if !call.query.get("continue").is_empty() {
            forbid(
                field,
                "resourceVersionMatch is forbidden when continue is provided",
            );
        }
        if matching == "Exact" && raw == "0" {
            forbid(
                field,
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            );
        }
    }
    if call.query.has("sendInitialEvents") {
        forbid("sendInitialEvents", "sendInitialEvents is forbidden for list");
    }
    if !matches!(matching, "" | "Exact" | "NotOlderThan") {
        faults.push(FieldFault::unsupported(
            field,
            &json!(matching),
            &["Exact", "NotOlderThan", ""],
        ));
    }
    if !faults.is_empty() {
        return Err(ApiError::invalid_kind("meta.k8s.io", "ListOptions", "", &faults));
    }
    let Some(version) = parse_version(raw)? else {
        return Ok(None);
    };
    let current = api.store().version();
    if version > current {
        return Err(ApiError::too_new(version, current));
    }
    let limited = !matches!(call.query.get("limit"), "" | "0");
    let exact = matching == "Exact" || (matching.is_empty() && version > 0 && limited);
    Ok(exact.then_some(version))
}

fn parse_version(raw: &str) -> Result<Option<u64>, ApiError> {
    if raw.is_empty() {
        return Ok(None);
    }
    let wrong = |_| {
        ApiError::bad_request(format!(
            "Invalid value: {raw:?}: strconv.ParseUint: invalid syntax"
        ))
    };
    raw.parse().map(Some).map_err(wrong)
}

/// A page of stored objects.
pub(crate) struct Page {
    /// The selected objects.
    pub(crate) objects: Vec<Arc<Value>>,
    /// The `metadata` of the list.
    pub(crate) meta: Value,
}

/// Selects the objects of a collection, or one page of them.
pub(crate) fn page(api: &Api, resource: &Resource, target: &Target, call: &Call) -> Result<Page, ApiError> {
    let query = &call.query;
    let selector = Selector::parse(query.get("labelSelector"), query.get("fieldSelector"), resource)?;
    let limit: usize = match query.get("limit") {
        "" => 0,
        raw => raw
            .parse::<i64>()
            .ok()
            .and_then(|limit| limit.max(0).try_into().ok())
            .ok_or_else(|| {
                ApiError::bad_request(format!("strconv.ParseInt: parsing {raw:?}: invalid syntax"))
            })?,
    };
    let namespace = (!target.namespace.is_empty()).then_some(target.namespace.as_str());
    let expired = |_: StoreError| {
        ApiError::expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.",
        )
    };
    let exact = wanted_version(api, call)?;
    let start = match query.get("continue") {
        "" => None,
        token => Some(Position::parse(token)?),
    };
    let (mut objects, version) = match (&start, exact) {
        (Some(position), _) => {
            let mut all = api
                .store()
                .list_at(&resource.bucket, namespace, position.version)
                .map_err(expired)?;
            all.retain(|object| key_of(object) > position.after);
            (all, position.version)
        }
        (None, Some(version)) => {
            let found = api.store().list_at(&resource.bucket, namespace, version);
            (found.map_err(|why| ApiError::expired(why.to_string()))?, version)
        }
        (None, None) => api.store().list(&resource.bucket, namespace),
    };
    if !selector.is_empty() {
        objects.retain(|object| selector.matches(object));
    }
    let mut meta = json!({"resourceVersion": version.to_string()});
    if limit > 0 && objects.len() > limit {
        let left = objects.len() - limit;
        objects.truncate(limit);
        let after = objects.last().map(|object| key_of(object)).unwrap_or_default();
        meta =
            json!({"resourceVersion": version.to_string(), "continue": Position { version, after }.token()});
        if let (true, Some(map)) = (selector.is_empty(), meta.as_object_mut()) {
            map.insert("remainingItemCount".into(), left.into());
        }
    }
    Ok(Page { objects, meta })
}

/// The key of a stored object.
pub(crate) fn key_of(object: &Value) -> ObjectKey {
    ObjectKey::new(
        text(object, &["metadata", "namespace"]),
        text(object, &["metadata", "name"]),
    )
}

/// A collection.
pub(crate) fn list(
    api: &Api,
    resource: &Arc<Resource>,
    target: &Target,
    call: &Call,
) -> Result<Reply, ApiError> {
    let wanted = form(call.header("accept"))?;
    let page = page(api, resource, target, call)?;
    let mut objects = Vec::with_capacity(page.objects.len());
    for object in &page.objects {
        objects.push(versions::served(resource, object, api.convert())?);
    }
    let body = match wanted {
        Form::Plain => {
            let items: Vec<Value> = objects
                .into_iter()
                .map(|object| versions::without_type(resource, object))
                .collect();
            json!({"kind": resource.list_kind, "apiVersion": resource.api_version(), "metadata": page.meta, "items": items})
        }
        Form::Table => {
            let include = table::Include::parse(call.query.get("includeObject"))?;
            table::table(resource, &objects, include, &page.meta, true)
        }
        Form::Metadata => {
            let items: Vec<Value> = objects.iter().map(metadata_only).collect();
            json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": page.meta, "items": items})
        }
        Form::Discovery(_) => return Err(ApiError::not_acceptable()),
    };
    Ok(Reply::json(200, body))
}
