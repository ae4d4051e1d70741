//! OpenAPI v3 documents: enough for kubectl to validate, apply and explain.
//!
//! Schemas of custom kinds are those of their definitions. Of built-in kinds only the type is
//! described; kubectl knows them itself.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::Reply;
use super::error::ApiError;
use super::kinds::{Registry, Resource};
use super::request::Call;

/// Answers below `/openapi`.
pub(crate) fn answer(registry: &Registry, path: &[&str], _call: &Call) -> Result<Reply, ApiError> {
    match path {
        ["v3"] => Ok(Reply::json(200, registry.openapi_index(index))),
        ["v3", "api", version] => document(registry, "", version),
        ["v3", "apis", group, version] => document(registry, group, version),
        ["v2"] => {
            let info = json!({"title": "Kubernetes", "version": "v1.36.2"});
            Ok(Reply::json(
                200,
                json!({"swagger": "2.0", "info": info, "paths": {}, "definitions": {}}),
            ))
        }
        _ => Err(ApiError::no_page()),
    }
}

fn index(registry: &Registry) -> Value {
    let mut paths = Map::new();
    let mut add = |key: String, group: &str, version: &str| {
        let hash = Sha256::digest(build(registry, group, version).to_string());
        let hash = URL_SAFE_NO_PAD.encode(hash.get(..16).unwrap_or_default());
        paths.insert(
            key.clone(),
            json!({"serverRelativeURL": format!("/openapi/v3/{key}?hash={hash}")}),
        );
    };
    add("api/v1".to_owned(), "", "v1");
    for (group, versions) in registry.groups() {
        for version in versions {
            add(format!("apis/{group}/{version}"), &group, &version);
        }
    }
    json!({"paths": paths})
}

fn document(registry: &Registry, group: &str, version: &str) -> Result<Reply, ApiError> {
    if !registry
        .all()
        .any(|known| known.group == group && known.version == version)
    {
        return Err(ApiError::no_page());
    }
    Ok(Reply::json(200, build(registry, group, version)))
}

/// `io.k8s.api…`-like name of a kind's schema: the group reversed, the version, the kind.
fn schema_name(resource: &Resource) -> String {
    let group = if resource.group.is_empty() {
        "core.api.k8s.io"
    } else {
        &resource.group
    };
    let reversed: Vec<&str> = group.split('.').rev().collect();
    format!("{}.{}.{}", reversed.join("."), resource.version, resource.kind)
}

fn build(registry: &Registry, group: &str, version: &str) -> Value {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    for known in registry
        .all()
        .filter(|known| known.group == group && known.version == version && known.stored)
    {
        let root = if group.is_empty() {
            format!("/api/{version}")
        } else {
            format!("/apis/{group}/{version}")
        };
        let space = if known.namespaced {
            "/namespaces/{namespace}"
        } else {
            ""
        };
        let collection = format!("{root}{space}/{}", known.plural);
        paths.insert(collection.clone(), collection_operations(known));
        paths.insert(format!("{collection}/{{name}}"), object_operations(known));
        schemas.insert(schema_name(known), schema(known));
    }
    json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.36.2"},
        "paths": paths, "components": {"schemas": schemas},
    })
}

fn kind_of(resource: &Resource) -> Value {
    json!({"group": resource.group, "version": resource.version, "kind": resource.kind})
}

fn parameters(names: &[&str]) -> Vec<Value> {
    names
        .iter()
        .map(|name| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}}))
        .collect()
}

fn operation(resource: &Resource, action: &str, query: &[&str]) -> Value {
    let reference = json!({"$ref": format!("#/components/schemas/{}", schema_name(resource))});
    json!({
        "x-kubernetes-action": action, "x-kubernetes-group-version-kind": kind_of(resource),
        "parameters": parameters(query),
        "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": reference}}}},
    })
}

fn collection_operations(resource: &Resource) -> Value {
    json!({
        "get": operation(resource, "list", &["labelSelector", "fieldSelector", "limit", "continue", "watch", "resourceVersion"]),
        "post": operation(resource, "post", &["dryRun", "fieldManager", "fieldValidation"]),
    })
}

fn object_operations(resource: &Resource) -> Value {
    json!({
        "get": operation(resource, "get", &[]),
        "put": operation(resource, "put", &["dryRun", "fieldManager", "fieldValidation"]),
        "patch": operation(resource, "patch", &["dryRun", "fieldManager", "fieldValidation", "force"]),
        "delete": operation(resource, "delete", &["dryRun", "gracePeriodSeconds", "propagationPolicy"]),
    })
}

fn schema(resource: &Resource) -> Value {
    let mut schema = match &resource.schema {
        Some(schema) => Value::clone(schema),
        None => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
    };
    for (field, about) in [
        (
            "apiVersion",
            "The version of the API that the object is written in.",
        ),
        ("kind", "What the object is."),
    ] {
        super::json::set(
            &mut schema,
            &["properties", field],
            json!({"type": "string", "description": about}),
        );
    }
    super::json::set(
        &mut schema,
        &["properties", "metadata"],
        json!({"type": "object", "description": "Name, namespace, labels and the like."}),
    );
    super::json::set(
        &mut schema,
        &["x-kubernetes-group-version-kind"],
        json!([kind_of(resource)]),
    );
    schema
}
