//! Logins for registries: `.docker/config.json`, merged of all secrets.
//!
//! Old configurations come first, then new ones, then single logins; a later one for the same address wins.
//! Upstream counterpart: `pkg/credentials/dockercreds/creds.go`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use tekton_pod::contract::json;

use super::secret;
use crate::outcome::make_dirs;

/// What registry clients expect where there is no address.
const EMAIL: &str = "not@val.id";

type Logins = BTreeMap<String, Login>;

/// Secrets with logins for registries.
#[derive(Default)]
pub(super) struct Docker {
    /// Secrets with `config.json` files.
    pub(super) configs: Vec<PathBuf>,
    /// Secrets with `.dockercfg` files.
    pub(super) old_configs: Vec<PathBuf>,
    logins: Logins,
}

#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(default)]
struct Login {
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    username: String,
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    password: String,
    #[serde(deserialize_with = "text")]
    auth: String,
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    email: String,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct ConfigFile {
    auths: Option<Logins>,
}

/// Text, or nothing for null.
fn text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::<String>::deserialize(deserializer).map(Option::unwrap_or_default)
}

impl Docker {
    /// Adds the login of a secret.
    pub(super) fn add_login(&mut self, secret: &Path, url: &str) -> Result<(), String> {
        let (user, password) = secret::login(secret)?;
        let login = Login {
            auth: STANDARD.encode([&user[..], b":", &password[..]].concat()),
            username: json::text(user),
            password: json::text(password),
            email: EMAIL.to_owned(),
        };
        self.logins.insert(url.to_owned(), login);
        Ok(())
    }

    /// Writes the file; none if there is no login.
    pub(super) fn write(&self, directory: &Path) -> Result<(), String> {
        let mut logins = Logins::new();
        for secret in &self.old_configs {
            logins.extend(decode::<Option<Logins>>(&secret.join(".dockercfg"))?.unwrap_or_default());
        }
        for secret in &self.configs {
            let config = decode::<Option<ConfigFile>>(&secret.join(".dockerconfigjson"))?.unwrap_or_default();
            logins.extend(config.auths.unwrap_or_default());
        }
        logins.extend(self.logins.clone());
        if logins.is_empty() {
            return Ok(());
        }
        let docker = directory.join(".docker");
        make_dirs(&docker)?;
        let content =
            json::to_string(&ConfigFile { auths: Some(logins) }).map_err(|error| error.to_string())?;
        secret::write(&docker.join("config.json"), content.as_bytes())
    }
}

/// Errors do not repeat what they found, for it is secret.
fn decode<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, String> {
    let bytes = secret::read(path)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        format!(
            "{}: not JSON of the right shape at line {}",
            path.display(),
            error.line()
        )
    })
}
