//! A request taken apart: path, query, headers that matter, body.
//!
//! Query strings are read as Go reads them: `+` is a space, empty pairs are skipped, and the first
//! value of a name counts.

use bytes::Bytes;
use http::{HeaderMap, Method};
use percent_encoding::percent_decode_str;

/// The pairs of a query string.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads the part behind the question mark.
    pub(crate) fn parse(raw: &str) -> Self {
        let pairs = raw.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(key), decode(value))
        });
        Self(pairs.collect())
    }

    /// The first value of a name, or an empty text.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    /// Whether the name is present at all.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// All values of a name.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.0
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .collect()
    }

    /// A switch: `true`, `1` or the bare name.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.has(name) && matches!(self.get(name), "" | "1" | "t" | "T" | "true" | "True" | "TRUE")
    }
}

fn decode(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

/// What a path names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    /// API group; empty for the core.
    pub(crate) group: String,
    /// Version.
    pub(crate) version: String,
    /// Namespace; empty when the path has none.
    pub(crate) namespace: String,
    /// Plural name of the resource.
    pub(crate) resource: String,
    /// Object name; empty for the collection.
    pub(crate) name: String,
    /// Subresource; empty for the object itself.
    pub(crate) subresource: String,
}

/// The request.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Method.
    pub(crate) method: Method,
    /// Decoded path segments.
    pub(crate) path: Vec<String>,
    /// Query.
    pub(crate) query: Query,
    /// Headers.
    pub(crate) headers: HeaderMap,
    /// Whole body.
    pub(crate) body: Bytes,
    /// Who asks.
    pub(crate) user: String,
}

impl Call {
    /// Takes path and query apart.
    pub(crate) fn new(
        method: Method,
        uri: &http::Uri,
        headers: HeaderMap,
        body: Bytes,
        user: String,
    ) -> Self {
        let path = uri.path().split('/').filter(|part| !part.is_empty());
        let path = path
            .map(|part| percent_decode_str(part).decode_utf8_lossy().into_owned())
            .collect();
        Self {
            method,
            path,
            query: Query::parse(uri.query().unwrap_or_default()),
            headers,
            body,
            user,
        }
    }

    /// A header as text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// The media type of the body, without parameters.
    pub(crate) fn content_type(&self) -> &str {
        self.header("content-type")
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
    }

    /// The name under which fields are owned: the given manager, or the client's name.
    pub(crate) fn field_manager(&self) -> String {
        let given = self.query.get("fieldManager");
        if !given.is_empty() {
            return given.to_owned();
        }
        let agent = self.header("user-agent").split('/').next().unwrap_or_default();
        if agent.is_empty() {
            "unknown".to_owned()
        } else {
            agent.chars().take(128).collect()
        }
    }

    /// The object or collection that the path names; `None` for paths outside `/api` and `/apis`.
    pub(crate) fn target(&self) -> Option<Target> {
        let mut parts = self.path.iter().map(String::as_str);
        let (group, version) = match parts.next()? {
            "api" => ("", parts.next()?),
            "apis" => (parts.next()?, parts.next()?),
            _ => return None,
        };
        let rest: Vec<&str> = parts.collect();
        let mut target = Target {
            group: group.into(),
            version: version.into(),
            ..Target::default()
        };
        let tail = match rest.as_slice() {
            [] => return None,
            ["namespaces", namespace, resource, tail @ ..]
                if !(group.is_empty() && tail.is_empty() && matches!(*resource, "status" | "finalize")) =>
            {
                target.namespace = (*namespace).into();
                target.resource = (*resource).into();
                tail
            }
            [resource, tail @ ..] => {
                target.resource = (*resource).into();
                tail
            }
        };
        match tail {
            [] => {}
            [name] => target.name = (*name).into(),
            [name, subresource @ ..] => {
                target.name = (*name).into();
                target.subresource = subresource.join("/");
            }
        }
        Some(target)
    }
}
