//! Traces: the ConfigMap `config-tracing`.
//!
//! Upstream counterpart: `pkg/apis/config/tracing.go`.

use super::ConfigError;
use super::parse::{Data, boolean};

/// Where traces go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracing {
    /// Whether there are any.
    pub enabled: bool,
    /// The address.
    pub endpoint: String,
    /// The Secret with the credentials; empty uses none.
    pub credentials_secret: String,
}

impl Default for Tracing {
    fn default() -> Self {
        Self {
            enabled: false,
            endpoint: "http://jaeger-collector.jaeger.svc.cluster.local:4318/v1/traces".to_owned(),
            credentials_secret: String::new(),
        }
    }
}

impl Tracing {
    /// Reads the entries of the ConfigMap.
    ///
    /// # Errors
    /// If the switch is not a boolean.
    pub fn from_data(data: &Data) -> Result<Self, ConfigError> {
        let built_in = Self::default();
        let text = |key: &str, default: String| data.get(key).cloned().unwrap_or(default);
        let enabled = match data.get("enabled") {
            Some(value) => boolean(value).map_err(|source| ConfigError::Tracing {
                value: value.clone(),
                source,
            })?,
            None => built_in.enabled,
        };
        Ok(Self {
            enabled,
            endpoint: text("endpoint", built_in.endpoint),
            credentials_secret: text("credentialsSecret", built_in.credentials_secret),
        })
    }
}
