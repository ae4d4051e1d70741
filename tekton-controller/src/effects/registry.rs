//! Looks up images in their registries, with the pull secrets of the run.
//!
//! Upstream counterpart: `pkg/pod/entrypoint_lookup_impl.go`.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::Client;
use kube::api::Api;
use oci_client::Reference;
use oci_client::manifest::{OciDescriptor, OciManifest};
use oci_client::secrets::RegistryAuth;
use serde::Deserialize;

use super::images::ImageLookup;
use crate::image_config::{ImageConfig, Platform};

/// Images of container registries.
pub struct RegistryImages {
    client: Client,
    registry: oci_client::Client,
}

impl std::fmt::Debug for RegistryImages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RegistryImages").finish_non_exhaustive()
    }
}

/// `config.json` of an image, as far as it counts here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ConfigFile {
    os: String,
    architecture: String,
    config: ContainerConfig,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct ContainerConfig {
    entrypoint: Option<Vec<String>>,
    cmd: Option<Vec<String>>,
}

/// A docker configuration with credentials by registry.
#[derive(Default, Deserialize)]
#[serde(default)]
struct DockerConfig {
    auths: BTreeMap<String, Login>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Login {
    username: String,
    password: String,
    auth: String,
}

impl RegistryImages {
    /// A look-up that reads secrets through `client`.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            registry: oci_client::Client::new(oci_client::client::ClientConfig::default()),
        }
    }

    async fn found(
        &self,
        image: &str,
        namespace: &str,
        service_account: &str,
        pull_secrets: &[String],
    ) -> Result<ImageConfig, String> {
        let reference: Reference = image
            .parse()
            .map_err(|error| format!("could not parse reference: {image}: {error}"))?;
        let auth = self
            .login(&reference, namespace, service_account, pull_secrets)
            .await?;
        let failed = |error: oci_client::errors::OciDistributionError| error.to_string();
        let (manifest, digest) = self
            .registry
            .pull_manifest(&reference, &auth)
            .await
            .map_err(failed)?;
        let mut platforms = Vec::new();
        match manifest {
            OciManifest::Image(manifest) => {
                platforms.push(self.platform(&reference, &manifest.config).await?);
            }
            OciManifest::ImageIndex(index) => {
                for entry in index.manifests {
                    // Docker stores attestations under this platform.
                    let unknown = entry
                        .platform
                        .as_ref()
                        .is_some_and(|p| p.os.to_string() == "unknown");
                    if unknown {
                        continue;
                    }
                    let child = reference.clone_with_digest(entry.digest.clone());
                    let (manifest, _) = self.registry.pull_manifest(&child, &auth).await.map_err(failed)?;
                    if let OciManifest::Image(manifest) = manifest {
                        platforms.push(self.platform(&child, &manifest.config).await?);
                    }
                }
            }
        }
        Ok(ImageConfig { digest, platforms })
    }

    async fn platform(&self, reference: &Reference, config: &OciDescriptor) -> Result<Platform, String> {
        let mut bytes = Vec::new();
        self.registry
            .pull_blob(reference, config, &mut bytes)
            .await
            .map_err(|error| error.to_string())?;
        let file: ConfigFile = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        Ok(Platform {
            os: file.os,
            architecture: file.architecture,
            variant: String::new(),
            entrypoint: file.config.entrypoint.unwrap_or_default(),
            cmd: file.config.cmd.unwrap_or_default(),
        })
    }

    /// The credentials for a registry among the pull secrets; a missing secret or account is passed over.
    async fn login(
        &self,
        reference: &Reference,
        namespace: &str,
        service_account: &str,
        pull_secrets: &[String],
    ) -> Result<RegistryAuth, String> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), namespace);
        let account = accounts
            .get_opt(service_account)
            .await
            .map_err(|error| error.to_string())?;
        let of_account = account
            .and_then(|account| account.image_pull_secrets)
            .unwrap_or_default();
        let names = pull_secrets
            .iter()
            .cloned()
            .chain(of_account.into_iter().map(|secret| secret.name));
        for name in names.filter(|name| !name.is_empty()) {
            let Some(secret) = secrets.get_opt(&name).await.map_err(|error| error.to_string())? else {
                continue;
            };
            if let Some(found) = auths(&secret)
                .into_iter()
                .find(|(host, _)| is_registry(host, reference.registry()))
            {
                return Ok(found.1.into());
            }
        }
        Ok(RegistryAuth::Anonymous)
    }
}

fn auths(secret: &Secret) -> BTreeMap<String, Login> {
    let data = secret.data.as_ref();
    let bytes = |key: &str| {
        data.and_then(|data| data.get(key))
            .map(|value| value.0.as_slice())
    };
    if let Some(json) = bytes(".dockerconfigjson") {
        return serde_json::from_slice::<DockerConfig>(json)
            .unwrap_or_default()
            .auths;
    }
    bytes(".dockercfg")
        .and_then(|json| serde_json::from_slice(json).ok())
        .unwrap_or_default()
}

/// Whether an entry of a docker configuration (`https://host/v1/`, `host`) is for a registry.
fn is_registry(entry: &str, registry: &str) -> bool {
    let host = entry.trim_start_matches("https://").trim_start_matches("http://");
    let host = host.split('/').next().unwrap_or_default();
    let docker_hub = |host: &str| matches!(host, "docker.io" | "index.docker.io" | "registry-1.docker.io");
    host == registry || (docker_hub(host) && docker_hub(registry))
}

impl From<Login> for RegistryAuth {
    fn from(login: Login) -> Self {
        if !login.username.is_empty() {
            return Self::Basic(login.username, login.password);
        }
        let pair = STANDARD
            .decode(login.auth)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        match pair.as_deref().and_then(|pair| pair.split_once(':')) {
            Some((user, password)) => Self::Basic(user.to_owned(), password.to_owned()),
            None => Self::Anonymous,
        }
    }
}

impl ImageLookup for RegistryImages {
    fn look_up<'a>(
        &'a self,
        image: &'a str,
        namespace: &'a str,
        service_account: &'a str,
        pull_secrets: &'a [String],
    ) -> BoxFuture<'a, Result<ImageConfig, String>> {
        Box::pin(self.found(image, namespace, service_account, pull_secrets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_found_by_host() {
        assert!(is_registry("https://index.docker.io/v1/", "docker.io") && is_registry("r.test", "r.test"));
        assert!(!is_registry("r.test", "other.test"));
        let auth = RegistryAuth::from(Login {
            auth: STANDARD.encode("u:p:q"),
            ..Login::default()
        });
        assert!(matches!(auth, RegistryAuth::Basic(user, password) if user == "u" && password == "p:q"));
    }
}
