//! Log levels: the ConfigMap `config-logging`.
//!
//! The encoder settings in it are meant for Go's logger and not read.
//! Upstream counterpart: `knative.dev/pkg/logging`.

use std::collections::BTreeMap;

use super::ConfigError;
use super::parse::Data;

const LEVEL_PREFIX: &str = "loglevel.";

/// Levels by component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logging {
    /// `debug`, `info`, `warn`, `error`, `dpanic`, `panic` or `fatal`, by component.
    pub levels: BTreeMap<String, String>,
}

impl Logging {
    /// Reads the entries of the ConfigMap.
    ///
    /// # Errors
    /// If a level is unknown.
    pub fn from_data(data: &Data) -> Result<Self, ConfigError> {
        let mut levels = BTreeMap::new();
        for (key, level) in data {
            let Some(component) = key.strip_prefix(LEVEL_PREFIX) else {
                continue;
            };
            if component.is_empty() || level.is_empty() {
                continue;
            }
            let known = level.to_lowercase();
            match known.as_str() {
                "debug" | "info" | "warn" | "error" | "dpanic" | "panic" | "fatal" => {}
                _ => return Err(ConfigError::LogLevel(level.clone())),
            }
            levels.insert(component.to_owned(), known);
        }
        Ok(Self { levels })
    }
}
