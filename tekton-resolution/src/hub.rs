//! The `hub` resolver: packages of Artifact Hub and Tekton Hub, by version or constraint.
//!
//! Upstream counterpart: `pkg/remoteresolution/resolver/hub`, `pkg/resolution/resolver/hub`.

pub mod version;

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::fetch::client::{FetchError, HttpClient};
use crate::http::with_checksum;
use crate::{Request, ResolveError, Resolved, Resolver, params};
use version::{Constraints, Version};

const TYPE: &str = "type";
const KIND: &str = "kind";
const CATALOG: &str = "catalog";
const NAME: &str = "name";
const VERSION: &str = "version";
const URL: &str = "url";
const KINDS: &[&str] = &["task", "pipeline", "stepaction"];
const DEFAULT_TYPE: &str = "default-type";
const DEFAULT_KIND: &str = "default-kind";
const DEFAULT_TEKTON_CATALOG: &str = "default-tekton-hub-catalog";
const DEFAULT_ARTIFACT_TASKS: &str = "default-artifact-hub-task-catalog";
const DEFAULT_ARTIFACT_PIPELINES: &str = "default-artifact-hub-pipeline-catalog";
const ARTIFACT_URLS: &str = "artifact-hub-urls";
const TEKTON_URLS: &str = "tekton-hub-urls";
/// Largest answer of a hub that is read, in bytes.
pub const LARGEST_ANSWER: u64 = 8 * 1024 * 1024;

/// Which hub a request means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hub {
    Artifact,
    Tekton,
}

impl Hub {
    fn title(self) -> &'static str {
        match self {
            Self::Artifact => "Artifact Hub",
            Self::Tekton => "Tekton Hub",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "artifact" => Some(Self::Artifact),
            "tekton" => Some(Self::Tekton),
            _ => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Artifact => "artifact",
            Self::Tekton => "tekton",
        }
    }
}

/// Addresses that the resolver was started with (`ARTIFACT_HUB_API`, `TEKTON_HUB_API`); empty if unset.
#[derive(Clone, Debug, Default)]
pub struct HubAddresses {
    /// Artifact Hub.
    pub artifact: String,
    /// Tekton Hub.
    pub tekton: String,
}

/// Fetches packages of the two hubs.
#[derive(Debug)]
pub struct HubResolver {
    client: HttpClient,
    addresses: HubAddresses,
    enabled: bool,
}

/// A checked request.
struct Wanted {
    hub: Hub,
    kind: String,
    catalog: String,
    name: String,
    version: String,
    url: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ArtifactList {
    available_versions: Vec<ArtifactVersion>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ArtifactVersion {
    version: String,
    prerelease: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TektonList {
    data: TektonVersions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TektonVersions {
    versions: Vec<TektonVersion>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TektonVersion {
    version: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ArtifactPackage {
    data: ArtifactData,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ArtifactData {
    manifest_raw: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TektonPackage {
    data: TektonData,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TektonData {
    yaml: String,
}

impl HubResolver {
    /// A resolver; `enabled` is the flag `enable-hub-resolver`.
    pub fn new(client: HttpClient, addresses: HubAddresses, enabled: bool) -> Self {
        Self {
            client,
            addresses,
            enabled,
        }
    }

    fn wanted(&self, request: &Request) -> Result<Wanted, ResolveError> {
        if !self.enabled {
            return Err(ResolveError::new(
                "cannot handle resolution request, enable-hub-resolver feature flag not true",
            ));
        }
        let given =
            with_defaults(request).map_err(|error| error.within("failed to populate default params"))?;
        self.check(request, &given)
            .map_err(|error| error.within("failed to validate params"))
    }

    fn check(&self, request: &Request, given: &BTreeMap<String, String>) -> Result<Wanted, ResolveError> {
        let text = |key: &str| given.get(key).cloned().unwrap_or_default();
        let kind = text(KIND);
        if !KINDS.contains(&kind.as_str()) {
            return Err(ResolveError::new(format!(
                "kind param must be one of: {}",
                KINDS.join(", ")
            )));
        }
        let url = given.get(URL).filter(|url| !url.is_empty());
        if let Some(url) = url {
            check_url(url).map_err(|error| error.within("invalid url param"))?;
        }
        let Some(hub) = Hub::parse(&text(TYPE)) else {
            return Err(ResolveError::new("type param must be artifact or tekton"));
        };
        if hub == Hub::Tekton && self.addresses.tekton.is_empty() && url.is_none() {
            let configured = request
                .config
                .get(TEKTON_URLS)
                .map(String::as_str)
                .unwrap_or_default();
            if url_list(configured).unwrap_or_default().is_empty() {
                return Err(ResolveError::new(
                    "please configure TEKTON_HUB_API env variable to use tekton type",
                ));
            }
        }
        let missing: Vec<&str> = [NAME, VERSION]
            .into_iter()
            .filter(|key| !given.contains_key(*key))
            .collect();
        if !missing.is_empty() {
            return Err(ResolveError::new(format!(
                "missing required hub resolver params: {}",
                missing.join(", ")
            )));
        }
        let url = url.map(|url| url.trim_end_matches('/').to_owned());
        Ok(Wanted {
            hub,
            kind,
            catalog: text(CATALOG),
            name: text(NAME),
            version: text(VERSION),
            url,
        })
    }

    /// Addresses to try, in order.
    fn urls(&self, request: &Request, wanted: &Wanted) -> Vec<String> {
        if let Some(url) = &wanted.url {
            return vec![url.clone()];
        }
        let (key, started_with) = match wanted.hub {
            Hub::Artifact => (ARTIFACT_URLS, &self.addresses.artifact),
            Hub::Tekton => (TEKTON_URLS, &self.addresses.tekton),
        };
        // A list with one bad address is put aside as a whole.
        let configured = request
            .config
            .get(key)
            .and_then(|text| url_list(text).ok())
            .unwrap_or_default();
        if !configured.is_empty() {
            configured
        } else if started_with.is_empty() {
            Vec::new()
        } else {
            vec![started_with.clone()]
        }
    }

    async fn package(&self, wanted: &Wanted, base: &str) -> Result<Resolved, ResolveError> {
        let Wanted {
            kind,
            catalog,
            name,
            version,
            ..
        } = wanted;
        let (url, content) = match wanted.hub {
            Hub::Artifact => {
                let url = format!("{base}/api/v1/packages/tekton-{kind}/{catalog}/{name}/{version}");
                let package: ArtifactPackage = self
                    .json(&url)
                    .await
                    .map_err(|error| cannot_fetch(wanted.hub, error))?;
                (url, package.data.manifest_raw)
            }
            Hub::Tekton => {
                let url = format!("{base}/v1/resource/{catalog}/{kind}/{name}/{version}/yaml");
                let package: TektonPackage = self
                    .json(&url)
                    .await
                    .map_err(|error| cannot_fetch(wanted.hub, error))?;
                (url, package.data.yaml)
            }
        };
        Ok(with_checksum(url, content.into_bytes()))
    }

    /// The newest listed version that satisfies the constraints; `Ok(None)` if there is none.
    async fn newest(
        &self,
        wanted: &Wanted,
        constraints: &Constraints,
        base: &str,
    ) -> Result<Option<Version>, ResolveError> {
        let Wanted {
            kind, catalog, name, ..
        } = wanted;
        let listed: Vec<(String, String)> = match wanted.hub {
            Hub::Artifact => {
                let url = format!("{base}/api/v1/packages/tekton-{kind}/{catalog}/{name}");
                let list: ArtifactList = self
                    .json(&url)
                    .await
                    .map_err(|error| cannot_fetch(wanted.hub, error))?;
                let released = list
                    .available_versions
                    .into_iter()
                    .filter(|version| !version.prerelease);
                released
                    .map(|version| (version.version.clone(), version.version))
                    .collect()
            }
            Hub::Tekton => {
                let url = format!("{base}/v1/resource/{catalog}/{kind}/{name}");
                let list: TektonList = self
                    .json(&url)
                    .await
                    .map_err(|error| cannot_fetch(wanted.hub, error))?;
                // Upstream prints the whole entry, in Go's form of a struct.
                list.data
                    .versions
                    .into_iter()
                    .map(|v| (v.version.clone(), format!("{{{}}}", v.version)))
                    .collect()
            }
        };
        let mut newest: Option<Version> = None;
        for (text, shown) in listed {
            let Some(version) = Version::parse(&text) else {
                return Err(ResolveError::new(format!(
                    "fail to parse version {} from {shown}: malformed version: {text}",
                    wanted.hub.as_str()
                )));
            };
            let newer = newest
                .as_ref()
                .is_none_or(|newest| !newest.is_newer_than(&version));
            if constraints.allow(&version) && newer {
                newest = Some(version);
            }
        }
        Ok(newest)
    }

    async fn json<T: DeserializeOwned>(&self, url: &str) -> Result<T, ResolveError> {
        let answer = self
            .client
            .get(url, None, None, LARGEST_ANSWER)
            .await
            .map_err(|error| match error {
                FetchError::Address(_) => ResolveError::new(format!("constructing request: {error}")),
                FetchError::Connection(_) => {
                    ResolveError::new(format!("requesting resource from Hub: {error}"))
                }
                FetchError::Body(_) | FetchError::TooLarge(_) => {
                    ResolveError::new(format!("error reading response body: {error}"))
                }
            })?;
        if answer.status != 200 {
            return Err(ResolveError::new(format!(
                "requested resource '{url}' not found on hub"
            )));
        }
        serde_json::from_slice(&answer.body)
            .map_err(|error| ResolveError::new(format!("error unmarshalling json response: {error}")))
    }
}

fn cannot_fetch(hub: Hub, error: ResolveError) -> ResolveError {
    error.within(&format!("fail to fetch {} resource", hub.title()))
}

fn with_defaults(request: &Request) -> Result<BTreeMap<String, String>, ResolveError> {
    let mut given = params::strings(&request.params);
    let config = |key: &str, text: &str| {
        request
            .config
            .get(key)
            .cloned()
            .ok_or_else(|| ResolveError::new(text))
    };
    if !given.contains_key(TYPE) {
        let value = config(
            DEFAULT_TYPE,
            "default type was not set during installation of the hub resolver",
        )?;
        given.insert(TYPE.to_owned(), value);
    }
    if !given.contains_key(KIND) {
        let value = config(
            DEFAULT_KIND,
            "default resource kind was not set during installation of the hub resolver",
        )?;
        given.insert(KIND.to_owned(), value);
    }
    let unset =
        |what: &str| format!("default {what} catalog was not set during installation of the hub resolver");
    // All three must be configured even if the request names a catalog.
    let tekton = config(DEFAULT_TEKTON_CATALOG, &unset("Tekton Hub"))?;
    let tasks = config(DEFAULT_ARTIFACT_TASKS, &unset("Artifact Hub task"))?;
    let pipelines = config(DEFAULT_ARTIFACT_PIPELINES, &unset("Artifact Hub pipeline"))?;
    if !given.contains_key(CATALOG) {
        let text = |key: &str| given.get(key).map(String::as_str).unwrap_or_default();
        let catalog = match (text(TYPE), text(KIND)) {
            ("artifact", "task") => tasks,
            ("artifact", "pipeline") => pipelines,
            ("artifact", kind) => {
                return Err(ResolveError::new(format!(
                    "failed to resolve catalog name with kind: {kind}"
                )));
            }
            ("tekton", _) => tekton,
            (other, _) => {
                return Err(ResolveError::new(format!(
                    "failed to resolve catalog name with type: {other}"
                )));
            }
        };
        given.insert(CATALOG.to_owned(), catalog);
    }
    Ok(given)
}

fn check_url(url: &str) -> Result<(), ResolveError> {
    let parsed = url::Url::parse(url).ok().filter(reqwest::Url::has_host);
    let Some(parsed) = parsed else {
        return Err(ResolveError::new(format!(
            "url must be a valid absolute URL: {url}"
        )));
    };
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(ResolveError::new(format!(
            "url must use http or https scheme: {url}"
        )));
    }
    Ok(())
}

/// Addresses of a YAML list, without trailing slashes.
fn url_list(text: &str) -> Result<Vec<String>, ResolveError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let failed = |error: String| ResolveError::new(format!("failed to parse URL list: {error}"));
    let documents = tekton_api::yaml::documents(text).map_err(|error| failed(error.to_string()))?;
    let list: Vec<String> = serde_json::from_value(documents.into_iter().next().unwrap_or_default())
        .map_err(|error| failed(error.to_string()))?;
    let trimmed: Vec<String> = list
        .iter()
        .map(|url| url.trim().trim_end_matches('/').to_owned())
        .collect();
    trimmed.iter().try_for_each(|url| check_url(url))?;
    Ok(trimmed)
}

/// The version as the hub writes it: three numbers for Artifact Hub, two for Tekton Hub.
fn hub_version(version: &str, hub: Hub) -> String {
    let parts: Vec<&str> = version.split('.').collect();
    match (hub, parts.as_slice()) {
        (Hub::Artifact, [_, _]) => format!("{version}.0"),
        (Hub::Tekton, [major, minor, _, ..]) => format!("{major}.{minor}"),
        _ => version.to_owned(),
    }
}

/// One failure as it is, several joined below a heading.
fn joined(heading: &str, mut errors: Vec<ResolveError>) -> ResolveError {
    if errors.len() == 1 {
        return errors.remove(0);
    }
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    ResolveError::new(format!(
        "{heading} from any configured hub URL: {}",
        texts.join("\n")
    ))
}

#[async_trait]
impl Resolver for HubResolver {
    fn name(&self) -> &'static str {
        "Hub"
    }

    fn label(&self) -> &'static str {
        "hub"
    }

    fn config_map(&self) -> &'static str {
        "hubresolver-config"
    }

    fn validate(&self, request: &Request) -> Result<(), ResolveError> {
        self.wanted(request).map(|_| ())
    }

    async fn resolve(&self, request: &Request) -> Result<Resolved, ResolveError> {
        let mut wanted = self.wanted(request)?;
        let mut urls = self.urls(request, &wanted);
        if urls.is_empty() {
            return Err(ResolveError::new(format!(
                "no hub URL configured for type {}",
                wanted.hub.as_str()
            )));
        }
        if let Some(constraints) = Constraints::parse(&wanted.version) {
            let mut errors = Vec::new();
            let mut chosen = None;
            for url in &urls {
                match self.newest(&wanted, &constraints, url).await {
                    Ok(Some(version)) => {
                        chosen = Some((version, url.clone()));
                        break;
                    }
                    // A hub that answers but has no such version ends the search.
                    Ok(None) => {
                        let text = format!("no version found for constraint {}", wanted.version);
                        return Err(ResolveError::new(text));
                    }
                    Err(error) => errors.push(error),
                }
            }
            let Some((version, url)) = chosen else {
                return Err(joined("failed to resolve version constraint", errors));
            };
            wanted.version = version.to_string();
            urls = vec![url];
        }
        wanted.version = hub_version(&wanted.version, wanted.hub);
        let mut errors = Vec::new();
        for url in &urls {
            match self.package(&wanted, url).await {
                Ok(found) => return Ok(found),
                Err(error) => errors.push(error),
            }
        }
        Err(joined("failed to fetch resource", errors))
    }
}
