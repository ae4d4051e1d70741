//! Credentials for Git and Docker, from the annotated secrets of the run's service account.
//!
//! Input: the looked-up account and secrets; output: a volume and a mount for each secret of use, and the
//! flags that tell the entrypoint what to make of them. Secret data is never looked at, but for the
//! presence of one key.
//! Upstream counterpart: `pkg/pod/creds_init.go`, `pkg/credentials`.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Secret, SecretVolumeSource, ServiceAccount, Volume, VolumeMount};
use tekton_api::{labels, names};

use super::volumes::mount;
use crate::contract::args::CredentialFlag;
use crate::contract::paths;
use crate::error::BuildError;
use crate::input::Lookups;

const VOLUME_PREFIX: &str = "tekton-creds";
const HASH_LENGTH: usize = 8;
const KNOWN_HOSTS: &str = "known_hosts";

/// What the steps need to use the credentials.
#[derive(Clone, Debug, Default)]
pub(crate) struct Credentials {
    /// Flags of the entrypoint.
    pub(crate) flags: Vec<CredentialFlag>,
    /// A volume for each secret.
    pub(crate) volumes: Vec<Volume>,
    /// Its mount, for every step.
    pub(crate) mounts: Vec<VolumeMount>,
}

/// Names of the secrets that the account lists, each once, in order.
pub(crate) fn secret_names(account: &ServiceAccount) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    account
        .secrets
        .iter()
        .flatten()
        .filter_map(|secret| secret.name.as_deref())
        .filter(|name| !name.is_empty() && seen.insert(*name))
        .collect()
}

/// Mounts the secrets of use. A secret that does not exist is left out.
pub(crate) fn mount_secrets(lookups: &Lookups, require_known_hosts: bool) -> Result<Credentials, BuildError> {
    let account = match &lookups.service_account {
        Some(Ok(account)) => account,
        Some(Err(failure)) => return Err(BuildError::Lookup(failure.clone())),
        None => {
            return Err(BuildError::NotLookedUp {
                what: "service account".to_owned(),
            });
        }
    };
    let mut credentials = Credentials::default();
    let mut used = BTreeSet::new();
    for name in secret_names(account) {
        let secret = match lookups.secrets.get(name) {
            Some(Ok(secret)) => secret,
            Some(Err(failure)) if failure.not_found => continue,
            Some(Err(failure)) => return Err(BuildError::Lookup(failure.clone())),
            None => {
                return Err(BuildError::NotLookedUp {
                    what: format!("secret {name}"),
                });
            }
        };
        if require_known_hosts && is_ssh(secret) && !has_known_hosts(secret) {
            return Err(BuildError::KnownHostsMissing);
        }
        let flags = flags(name, secret);
        if flags.is_empty() {
            continue;
        }
        let volume = volume_name(name, &mut used);
        credentials.flags.extend(flags);
        credentials.mounts.push(mount(
            volume.clone(),
            format!("{}/{name}", paths::CREDENTIAL_SECRETS_DIR),
        ));
        credentials.volumes.push(Volume {
            name: volume,
            secret: Some(SecretVolumeSource {
                secret_name: Some(name.to_owned()),
                ..SecretVolumeSource::default()
            }),
            ..Volume::default()
        });
    }
    Ok(credentials)
}

/// Names of secrets that the account lists and that do not exist: worth a warning.
pub(crate) fn missing(lookups: &Lookups) -> Vec<String> {
    let Some(Ok(account)) = &lookups.service_account else {
        return Vec::new();
    };
    let gone = |name: &&str| matches!(lookups.secrets.get(*name), Some(Err(failure)) if failure.not_found);
    secret_names(account)
        .into_iter()
        .filter(gone)
        .map(str::to_owned)
        .collect()
}

fn is_ssh(secret: &Secret) -> bool {
    secret.type_.as_deref() == Some("kubernetes.io/ssh-auth")
}

fn has_known_hosts(secret: &Secret) -> bool {
    secret
        .data
        .as_ref()
        .is_some_and(|data| data.contains_key(KNOWN_HOSTS))
}

/// Flags for one secret: Docker ones first, then Git ones, each in order of the annotated address.
fn flags(name: &str, secret: &Secret) -> Vec<CredentialFlag> {
    let name = || name.to_owned();
    let docker = || {
        let urls = annotated(secret, labels::DOCKER_CREDENTIALS_PREFIX).into_iter();
        urls.map(|url| CredentialFlag::BasicDocker { secret: name(), url })
    };
    let git = || annotated(secret, labels::GIT_CREDENTIALS_PREFIX).into_iter();
    match secret.type_.as_deref().unwrap_or_default() {
        "kubernetes.io/basic-auth" => docker()
            .chain(git().map(|url| CredentialFlag::BasicGit { secret: name(), url }))
            .collect(),
        "kubernetes.io/ssh-auth" => git()
            .map(|url| CredentialFlag::SshGit { secret: name(), url })
            .collect(),
        "kubernetes.io/dockerconfigjson" => vec![CredentialFlag::DockerConfig(name())],
        "kubernetes.io/dockercfg" => vec![CredentialFlag::DockerCfg(name())],
        _ => Vec::new(),
    }
}

/// Values of the annotations with this prefix, sorted.
fn annotated(secret: &Secret, prefix: &str) -> Vec<String> {
    let annotations = secret.metadata.annotations.iter().flatten();
    let mut values: Vec<String> = annotations
        .filter(|(key, _)| key.starts_with(prefix))
        .map(|(_, value)| value.clone())
        .collect();
    values.sort_unstable();
    values
}

fn volume_name(secret: &str, used: &mut BTreeSet<String>) -> String {
    let mut name = names::hashed_name(VOLUME_PREFIX, secret, HASH_LENGTH);
    while !used.insert(name.clone()) {
        name = names::hashed_name(VOLUME_PREFIX, &format!("{name}$"), HASH_LENGTH);
    }
    name
}
