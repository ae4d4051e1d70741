//! Addresses of SPIRE: the ConfigMap `config-spire`.
//!
//! Upstream counterpart: `pkg/apis/config/spire_config.go` and `pkg/spire/config`.

use super::ConfigError;
use super::parse::Data;

/// How SPIRE is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spire {
    /// The trust domain.
    pub trust_domain: String,
    /// Socket of the agent.
    pub socket_path: String,
    /// Address of the server.
    pub server_addr: String,
    /// What stands before a node's name in its alias.
    pub node_alias_prefix: String,
}

impl Default for Spire {
    fn default() -> Self {
        Self {
            trust_domain: "example.org".to_owned(),
            socket_path: "unix:///spiffe-workload-api/spire-agent.sock".to_owned(),
            server_addr: "spire-server.spire.svc.cluster.local:8081".to_owned(),
            node_alias_prefix: "/tekton-node/".to_owned(),
        }
    }
}

impl Spire {
    /// Reads the entries of the ConfigMap.
    ///
    /// # Errors
    /// If an entry is empty or the prefix is no path.
    pub fn from_data(data: &Data) -> Result<Self, ConfigError> {
        let built_in = Self::default();
        let text = |key: &str, default: String| data.get(key).cloned().unwrap_or(default);
        let spire = Self {
            trust_domain: text("spire-trust-domain", built_in.trust_domain),
            socket_path: text("spire-socket-path", built_in.socket_path),
            server_addr: text("spire-server-addr", built_in.server_addr),
            node_alias_prefix: text("spire-node-alias-prefix", built_in.node_alias_prefix),
        };
        // In the order of the keys.
        let unset: Vec<&'static str> = [
            (&spire.node_alias_prefix, "spire-node-alias-prefix"),
            (&spire.server_addr, "spire-server-addr"),
            (&spire.socket_path, "spire-socket-path"),
            (&spire.trust_domain, "spire-trust-domain"),
        ]
        .into_iter()
        .filter_map(|(value, key)| value.is_empty().then_some(key))
        .collect();
        if !unset.is_empty() {
            return Err(ConfigError::UnsetSpire(unset));
        }
        if !spire.node_alias_prefix.starts_with('/') {
            return Err(ConfigError::SpireNodeAlias);
        }
        Ok(spire)
    }
}
