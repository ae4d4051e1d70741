//! Paths that are no objects: which groups, versions and resources there are, health, version.

use http::Method;
use serde_json::{Value, json};

use super::error::ApiError;
use super::kinds::{Registry, api_resources, foreign_group, subresources};
use super::negotiate::{Form, form};
use super::request::Call;
use super::{ANONYMOUS, Api, Reply, openapi};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const AGGREGATED_BETA: &str = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
/// The Kubernetes release whose behaviour is followed.
const RELEASE: (&str, &str) = ("1", "36");

/// Answers a path that names no object; `None` leaves it to others.
pub(crate) fn answer(api: &Api, call: &Call) -> Result<Option<Reply>, ApiError> {
    let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
    let open = matches!(path.first(), Some(&("healthz" | "readyz" | "livez" | "version")));
    let mine = open
        || matches!(
            path.as_slice(),
            [] | ["api" | "apis"] | ["api" | "apis", _] | ["apis", _, _] | ["openapi", ..]
        );
    if !mine {
        return Ok(None);
    }
    if call.user == ANONYMOUS && !open {
        let shown = format!("/{}", path.join("/"));
        return Err(ApiError::forbidden_path(format!(
            "forbidden: User {ANONYMOUS:?} cannot get path {shown:?}"
        )));
    }
    if !matches!(call.method, Method::GET | Method::HEAD) {
        return Err(ApiError::method_not_allowed());
    }
    let registry = api.registry();
    let found = match path.as_slice() {
        [] => Reply::json(
            200,
            json!({"paths": ["/api", "/api/v1", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"]}),
        ),
        ["healthz" | "readyz" | "livez", ..] => Reply::text(200, "ok"),
        ["version"] => Reply::json(200, version()),
        ["api"] => match wanted(call) {
            Form::Discovery(version) => aggregated(&registry, version, true),
            _ => Reply::json(
                200,
                json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}),
            ),
        },
        ["apis"] => {
            if let Form::Discovery(version) = wanted(call) {
                aggregated(&registry, version, false)
            } else {
                let groups = registry.groups();
                let groups: Vec<Value> = groups
                    .iter()
                    .map(|(name, versions)| group(name, versions, false))
                    .collect();
                Reply::json(
                    200,
                    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}),
                )
            }
        }
        ["api", version] => resources(&registry, "", version)?,
        ["apis", name] => {
            let groups = registry.groups();
            let (name, versions) = groups
                .iter()
                .find(|(known, _)| known == name)
                .ok_or_else(ApiError::no_page)?;
            Reply::json(200, group(name, versions, true))
        }
        ["apis", group, version] => resources(&registry, group, version)?,
        ["openapi", rest @ ..] => openapi::answer(&registry, rest, call)?,
        _ => return Ok(None),
    };
    Ok(Some(found))
}

/// The form of a discovery document; clients that ask for nothing on offer get the plain one.
fn wanted(call: &Call) -> Form {
    form(call.header("accept")).unwrap_or(Form::Plain)
}

fn version() -> Value {
    let (major, minor) = RELEASE;
    json!({
        "major": major, "minor": minor, "gitVersion": format!("v{major}.{minor}.2+tekton-local"), "gitCommit": "",
        "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        }),
    })
}

fn group(name: &str, versions: &[String], typed: bool) -> Value {
    let entry = |version: &String| json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let mut group = json!({
        "name": name,
        "versions": versions.iter().map(entry).collect::<Vec<_>>(),
        "preferredVersion": versions.first().map(entry),
    });
    if let (true, Some(map)) = (typed, group.as_object_mut()) {
        map.insert("kind".into(), "APIGroup".into());
        map.insert("apiVersion".into(), "v1".into());
    }
    group
}

fn resources(registry: &Registry, group: &str, version: &str) -> Result<Reply, ApiError> {
    let mut entries: Vec<Value> = registry
        .all()
        .filter(|known| known.group == group && known.version == version)
        .flat_map(|known| api_resources(known))
        .collect();
    if entries.is_empty() {
        return Err(ApiError::no_page());
    }
    entries.sort_by_key(|entry| super::json::text(entry, &["name"]).to_owned());
    let list = if group.is_empty() {
        json!({"kind": "APIResourceList", "groupVersion": version, "resources": entries})
    } else {
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": format!("{group}/{version}"), "resources": entries})
    };
    Ok(Reply::json(200, list))
}

fn aggregated(registry: &Registry, version: &str, core: bool) -> Reply {
    let groups = if core {
        vec![(String::new(), vec!["v1".to_owned()])]
    } else {
        registry.groups()
    };
    let items: Vec<Value> = groups
        .iter()
        .map(|(name, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| aggregated_version(registry, name, version))
                .collect();
            let meta = if core {
                json!({"creationTimestamp": null})
            } else {
                json!({"name": name, "creationTimestamp": null})
            };
            json!({"metadata": meta, "versions": versions})
        })
        .collect();
    let body = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{version}"), "metadata": {}, "items": items,
    });
    Reply::json(200, body).typed(if version == "v2" {
        AGGREGATED
    } else {
        AGGREGATED_BETA
    })
}

fn aggregated_version(registry: &Registry, group: &str, version: &str) -> Value {
    let resources: Vec<Value> = registry
        .all()
        .filter(|known| known.group == group && known.version == version)
        .map(|known| {
            let mut entry = json!({
                "resource": known.plural,
                "responseKind": {"group": group, "version": version, "kind": known.kind},
                "scope": if known.namespaced { "Namespaced" } else { "Cluster" },
                "singularResource": known.singular,
                "verbs": known.verbs(),
            });
            let subs: Vec<Value> = subresources(known)
                .into_iter()
                .map(|(name, kind, verbs)| {
                    let (group, version) = foreign_group(&kind).unwrap_or((group, version));
                    json!({"subresource": name, "verbs": verbs,
                        "responseKind": {"group": group, "version": version, "kind": kind}})
                })
                .collect();
            if let Some(map) = entry.as_object_mut() {
                let lists = [
                    ("shortNames", &known.short_names),
                    ("categories", &known.categories),
                ];
                for (field, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
                    map.insert(field.into(), json!(list));
                }
                if !subs.is_empty() {
                    map.insert("subresources".into(), Value::Array(subs));
                }
            }
            entry
        })
        .collect();
    json!({"version": version, "freshness": "Current", "resources": resources})
}
