//! The `http` resolver: one file behind a URL.
//!
//! Upstream counterpart: `pkg/resolution/resolver/http`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256, Sha512};
use tekton_api::v1::RefSource;

use crate::fetch::ObjectReader;
use crate::fetch::client::{FetchError, HttpClient};
use crate::{Request, ResolveError, Resolved, Resolver, params};

const URL: &str = "url";
const USERNAME: &str = "http-username";
const PASSWORD_SECRET: &str = "http-password-secret";
const PASSWORD_SECRET_KEY: &str = "http-password-secret-key";
const DEFAULT_SECRET_KEY: &str = "password";
const DIGEST: &str = "digest";
const TIMEOUT_KEY: &str = "fetch-timeout";
const DEFAULT_FETCH_TIMEOUT: Duration = Duration::from_secs(60);
/// Largest body, in bytes.
pub const LARGEST_BODY: u64 = 1024 * 1024;

/// Fetches a file over HTTP or HTTPS, with basic authentication if asked to.
pub struct HttpResolver {
    client: HttpClient,
    objects: Arc<dyn ObjectReader>,
    enabled: bool,
}

impl std::fmt::Debug for HttpResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpResolver")
            .field("enabled", &self.enabled)
            .finish_non_exhaustive()
    }
}

impl HttpResolver {
    /// A resolver that reads secrets through `objects`; `enabled` is the flag `enable-http-resolver`.
    pub fn new(client: HttpClient, objects: Arc<dyn ObjectReader>, enabled: bool) -> Self {
        Self {
            client,
            objects,
            enabled,
        }
    }

    async fn authorization(
        &self,
        request: &Request,
        given: &BTreeMap<String, String>,
    ) -> Result<Option<String>, ResolveError> {
        let Some(secret) = given.get(PASSWORD_SECRET).filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        let namespace = &request.namespace;
        let user = given.get(USERNAME).map(String::as_str).unwrap_or_default();
        let key = given
            .get(PASSWORD_SECRET_KEY)
            .map(String::as_str)
            .filter(|key| !key.is_empty());
        let key = key.unwrap_or(DEFAULT_SECRET_KEY);
        let object = self
            .objects
            .object("v1", "Secret", namespace, secret)
            .await
            .map_err(|error| {
                ResolveError::new(format!(
                    "error reading API token from secret {secret} in namespace {namespace}: {error}"
                ))
            })?;
        let Some(object) = object else {
            return Err(ResolveError::new(format!(
                "cannot get API token, secret {secret} not found in namespace {namespace}"
            )));
        };
        let Some(password) = secret_value(&object, key) else {
            return Err(ResolveError::new(format!(
                "cannot get API token, key {key} not found in secret {secret} in namespace {namespace}"
            )));
        };
        let mut pair = format!("{user}:").into_bytes();
        pair.extend(password);
        Ok(Some(format!("Basic {}", STANDARD.encode(pair))))
    }
}

/// The decoded value of a key of a Secret.
pub(crate) fn secret_value(secret: &Value, key: &str) -> Option<Vec<u8>> {
    STANDARD.decode(secret.get("data")?.get(key)?.as_str()?).ok()
}

#[async_trait]
impl Resolver for HttpResolver {
    fn name(&self) -> &'static str {
        "Http"
    }

    fn label(&self) -> &'static str {
        "http"
    }

    fn config_map(&self) -> &'static str {
        "http-resolver-config"
    }

    fn validate(&self, request: &Request) -> Result<(), ResolveError> {
        if !self.enabled {
            return Err(ResolveError::new(
                "cannot handle resolution request, enable-http-resolver feature flag not true",
            ));
        }
        checked(request).map(|_| ())
    }

    async fn resolve(&self, request: &Request) -> Result<Resolved, ResolveError> {
        self.validate(request)?;
        let given = checked(request)?;
        let limit = match request.config.get(TIMEOUT_KEY) {
            None => DEFAULT_FETCH_TIMEOUT,
            Some(text) => text
                .parse::<tekton_api::duration::Duration>()
                .map(tekton_api::duration::Duration::to_std)
                .map_err(|error| ResolveError::new(format!("error parsing timeout value {text}: {error}")))?,
        };
        let url = given.get(URL).cloned().unwrap_or_default();
        let authorization = self.authorization(request, &given).await?;
        let limit = (!limit.is_zero()).then_some(limit);
        let answer = self
            .client
            .get(&url, authorization.as_deref(), limit, LARGEST_BODY)
            .await;
        let answer = answer.map_err(|error| match error {
            FetchError::Address(_) | FetchError::Connection(_) => {
                ResolveError::new(format!("error fetching URL: {error}"))
            }
            FetchError::Body(_) => ResolveError::new(format!("error reading response body: {error}")),
            FetchError::TooLarge(_) => ResolveError::new(error.to_string()),
        })?;
        if answer.status != 200 {
            return Err(ResolveError::new(format!("requested URL '{url}' is not found")));
        }
        if let Some(digest) = given.get(DIGEST) {
            check_digest(digest, &answer.body).map_err(|error| error.within("error validating digest"))?;
        }
        Ok(with_checksum(url, answer.body))
    }
}

/// The resource with its address and SHA-256 as source.
pub(crate) fn with_checksum(url: String, data: Vec<u8>) -> Resolved {
    let digest = [("sha256".to_owned(), hex(&Sha256::digest(&data)))].into();
    let source = RefSource {
        uri: Some(url),
        digest,
        ..RefSource::default()
    };
    Resolved {
        data,
        source: Some(source),
        ..Resolved::default()
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

fn checked(request: &Request) -> Result<BTreeMap<String, String>, ResolveError> {
    let given = params::strings(&request.params);
    if let Some(url) = given.get(URL) {
        check_url(url)?;
    }
    for (one, other) in [(USERNAME, PASSWORD_SECRET), (PASSWORD_SECRET, USERNAME)] {
        let Some(value) = given.get(one) else { continue };
        if !given.contains_key(other) {
            return Err(ResolveError::new(format!(
                "missing required param {other} when using {one}"
            )));
        }
        if value.is_empty() {
            return Err(ResolveError::new(format!("value {one} cannot be empty")));
        }
    }
    if !given.contains_key(URL) {
        return Err(ResolveError::new(format!(
            "missing required http resolver params: {URL}"
        )));
    }
    Ok(given)
}

/// Refuses what Go's `url.ParseRequestURI` refuses, and schemes other than HTTP.
fn check_url(url: &str) -> Result<(), ResolveError> {
    let unparsable = |why: &str| {
        Err(ResolveError::new(format!(
            "cannot parse url {url}: parse \"{url}\": {why}"
        )))
    };
    if url.is_empty() {
        return unparsable("empty url");
    }
    if url.chars().any(|c| c.is_ascii_control()) {
        return unparsable("net/url: invalid control character in URL");
    }
    let not_http = || ResolveError::new(format!("url {url} is not a valid http(s) url"));
    let Some((scheme, rest)) = url.split_once(':') else {
        return if url.starts_with('/') {
            Err(not_http())
        } else {
            unparsable("invalid URI for request")
        };
    };
    let name = !scheme.is_empty() && scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    if !name
        || !scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    {
        return match scheme.starts_with('/') {
            true => Err(not_http()),
            false if scheme.is_empty() => unparsable("missing protocol scheme"),
            false => unparsable("first path segment in URL cannot contain colon"),
        };
    }
    let scheme = scheme.to_ascii_lowercase();
    if !rest.starts_with('/') {
        return unparsable("invalid URI for request");
    }
    if let Err(error) = url::Url::parse(url)
        && (scheme == "http" || scheme == "https")
    {
        return unparsable(&error.to_string());
    }
    if scheme == "http" || scheme == "https" {
        Ok(())
    } else {
        Err(not_http())
    }
}

fn check_digest(digest: &str, body: &[u8]) -> Result<(), ResolveError> {
    let Some((algorithm, value)) = digest.split_once(':') else {
        return Err(ResolveError::new(format!("invalid digest format: {digest}")));
    };
    let (length, computed) = match algorithm {
        "sha512" => (128, hex(&Sha512::digest(body))),
        "sha256" => (64, hex(&Sha256::digest(body))),
        _ => {
            return Err(ResolveError::new(format!(
                "invalid digest algorithm: {algorithm}"
            )));
        }
    };
    if value.len() != length {
        return Err(ResolveError::new(format!(
            "invalid {algorithm} digest value, expected length: {length}, got: {}",
            value.len()
        )));
    }
    if let Some(bad) = value.chars().find(|c| !c.is_ascii_hexdigit()) {
        return Err(ResolveError::new(format!(
            "error decoding expected SHA string: invalid byte: {bad:?}"
        )));
    }
    if !value.eq_ignore_ascii_case(&computed) {
        return Err(ResolveError::new(format!(
            "SHA mismatch, expected {value}, got {computed}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_refused_as_go_refuses_them() {
        assert!(check_url("https://a.test/x").is_ok());
        let text = |url| check_url(url).unwrap_err().to_string();
        assert_eq!(
            text("ftp://x.test/y"),
            "url ftp://x.test/y is not a valid http(s) url"
        );
        assert!(text("a b").starts_with("cannot parse url a b: "));
        assert!(text("").starts_with("cannot parse url : "));
        assert_eq!(text("/x"), "url /x is not a valid http(s) url");
    }

    #[test]
    fn digests_are_compared() {
        let right = format!("sha256:{}", hex(&Sha256::digest(b"x")));
        assert!(check_digest(&right, b"x").is_ok());
        assert!(
            check_digest(&right, b"y")
                .unwrap_err()
                .to_string()
                .starts_with("SHA mismatch, expected ")
        );
        assert_eq!(
            check_digest("md5:1", b"").unwrap_err().to_string(),
            "invalid digest algorithm: md5"
        );
    }
}
