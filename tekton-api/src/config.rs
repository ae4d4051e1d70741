//! Configuration, as read from the ConfigMaps of an installation.
//!
//! A [`Config`] is parsed in one place and handed to whatever decides something by it; there is no
//! global one. Keys that are absent have the built-in default, keys that are unknown are ignored.
//! Upstream counterpart: `pkg/apis/config`.

use std::collections::BTreeMap;

pub mod backoff;
pub mod defaults;
pub mod events;
pub mod features;
pub mod leader_election;
pub mod logging;
pub mod metrics;
mod parse;
pub mod spire;
pub mod tracing;

pub use backoff::WaitExponentialBackoff;
pub use defaults::Defaults;
pub use events::{EventFormat, Events};
pub use features::{ApiFields, Coschedule, FeatureFlags, NoMatchPolicy, Nonfalsifiability, ResultsFrom};
pub use leader_election::LeaderElection;
pub use logging::Logging;
pub use metrics::{DurationType, Metrics};
pub use parse::{Data, ParseScalarError};
pub use spire::Spire;
pub use tracing::Tracing;

use crate::duration::ParseDurationError;
use crate::quote::quote;

/// Names of the ConfigMaps.
pub mod names {
    /// What is filled in where a run says nothing.
    pub const DEFAULTS: &str = "config-defaults";
    /// Switches.
    pub const FEATURE_FLAGS: &str = "feature-flags";
    /// Cloud events.
    pub const EVENTS: &str = "config-events";
    /// Metrics.
    pub const OBSERVABILITY: &str = "config-observability";
    /// Addresses of SPIRE.
    pub const SPIRE: &str = "config-spire";
    /// Traces.
    pub const TRACING: &str = "config-tracing";
    /// Pauses between attempts.
    pub const WAIT_EXPONENTIAL_BACKOFF: &str = "config-wait-exponential-backoff";
    /// Log levels.
    pub const LOGGING: &str = "config-logging";
    /// Leases of the controller.
    pub const LEADER_ELECTION_CONTROLLER: &str = "config-leader-election-controller";
    /// Leases of the events controller.
    pub const LEADER_ELECTION_EVENTS: &str = "config-leader-election-events";
    /// Leases of the resolvers.
    pub const LEADER_ELECTION_RESOLVERS: &str = "config-leader-election-resolvers";
    /// Leases of the webhook.
    pub const LEADER_ELECTION_WEBHOOK: &str = "config-leader-election-webhook";
}

/// Everything that decisions depend on besides the objects themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Switches.
    pub features: FeatureFlags,
    /// What is filled in where a run says nothing.
    pub defaults: Defaults,
    /// Cloud events.
    pub events: Events,
    /// Metrics.
    pub metrics: Metrics,
    /// Traces.
    pub tracing: Tracing,
    /// Addresses of SPIRE.
    pub spire: Spire,
    /// Pauses between attempts.
    pub backoff: WaitExponentialBackoff,
}

/// Why a ConfigMap cannot be used; the texts are upstream's.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A switch is not a boolean.
    #[error("failed parsing feature flags config {}: {source}", quote(.value))]
    Flag {
        /// The text given.
        value: String,
        /// What is wrong with it.
        source: ParseScalarError,
    },
    /// A switch of a single feature is not a boolean.
    #[error("failed parsing feature flags config {}: {source} for feature {key}", quote(.value))]
    Feature {
        /// The switch.
        key: &'static str,
        /// The text given.
        value: String,
        /// What is wrong with it.
        source: ParseScalarError,
    },
    /// A switch with named values has another one.
    #[error("invalid value for feature flag {}: {}", quote(.key), quote(.value))]
    FlagValue {
        /// The switch.
        key: &'static str,
        /// The text given, in lower case.
        value: String,
    },
    /// The largest result is larger than an object can be.
    #[error("invalid value for feature flag \"results-from\": \"{0}\". This is exceeding the CRD limit")]
    MaxResultSize(i64),
    /// The largest result is not a number.
    #[error(transparent)]
    Scalar(ParseScalarError),
    /// A default is not a number or duration; it names the key, once by mistake the value.
    #[error("failed parsing default config {}", quote(.0))]
    Default(String),
    /// The default timeout of containers that cannot be created is no duration.
    #[error("failed parsing default config {}: {source}", quote(.key))]
    DefaultDuration {
        /// The key.
        key: &'static str,
        /// What is wrong with the text.
        source: ParseDurationError,
    },
    /// A YAML text inside the ConfigMap does not fit.
    #[error("failed to unmarshal {0}")]
    Unmarshal(String),
    /// The list of event formats is empty.
    #[error("formats cannot be empty")]
    NoEventFormats,
    /// An event format is unknown.
    #[error("invalid format: {0}")]
    UnknownEventFormat(String),
    /// An event format is listed twice.
    #[error("duplicate format: {0}")]
    DuplicateEventFormat(String),
    /// Addresses of SPIRE are empty.
    #[error("failed to parse SPIRE configmap: found unset spire configuration flags: [{}]", .0.join(" "))]
    UnsetSpire(Vec<&'static str>),
    /// The prefix of SPIRE's node aliases is no path.
    #[error("failed to parse SPIRE configmap: Spire node alias should start with a /")]
    SpireNodeAlias,
    /// The switch of traces is not a boolean.
    #[error("failed parsing tracing config {}: {source}", quote(.value))]
    Tracing {
        /// The text given.
        value: String,
        /// What is wrong with it.
        source: ParseScalarError,
    },
    /// A duration of the back-off cannot be read.
    #[error("failed parsing {key} {}: {source}", quote(.value))]
    BackoffDuration {
        /// The key.
        key: &'static str,
        /// The text given.
        value: String,
        /// What is wrong with it.
        source: ParseDurationError,
    },
    /// A number of the back-off cannot be read.
    #[error("failed parsing {key} {}: {source}", quote(.value))]
    BackoffNumber {
        /// The key.
        key: &'static str,
        /// The text given.
        value: String,
        /// What is wrong with it.
        source: ParseScalarError,
    },
    /// A duration of the leader election cannot be read.
    #[error("failed to parse {}: {source}", quote(.key))]
    LeaseDuration {
        /// The key.
        key: &'static str,
        /// What is wrong with the text.
        source: ParseDurationError,
    },
    /// The number of buckets cannot be read.
    #[error("failed to parse \"buckets\": {0}")]
    Buckets(ParseScalarError),
    /// There are too few or too many buckets.
    #[error("buckets: value must be between 1 <= {0} <= 10")]
    BucketCount(u32),
    /// A log level is unknown.
    #[error("invalid logging level: {0}")]
    LogLevel(String),
}

impl Config {
    /// Reads the ConfigMaps given by name; those that are absent have the built-in defaults, others are
    /// ignored.
    ///
    /// # Errors
    /// The first problem found.
    pub fn from_config_maps(maps: &BTreeMap<String, Data>) -> Result<Self, ConfigError> {
        let empty = Data::new();
        let map = |name: &str| maps.get(name).unwrap_or(&empty);
        Ok(Self {
            defaults: Defaults::from_data(map(names::DEFAULTS))?,
            features: FeatureFlags::from_data(map(names::FEATURE_FLAGS))?,
            metrics: Metrics::from_data(map(names::OBSERVABILITY)),
            spire: Spire::from_data(map(names::SPIRE))?,
            events: Events::from_data(map(names::EVENTS))?,
            tracing: Tracing::from_data(map(names::TRACING))?,
            backoff: WaitExponentialBackoff::from_data(map(names::WAIT_EXPONENTIAL_BACKOFF))?,
        })
    }
}

/// Checks one ConfigMap as the webhook does: those with names it does not know pass.
///
/// # Errors
/// Why the ConfigMap cannot be used.
pub fn validate_config_map(name: &str, data: &Data) -> Result<(), ConfigError> {
    match name {
        names::DEFAULTS => Defaults::from_data(data).map(drop),
        names::FEATURE_FLAGS => FeatureFlags::from_data(data).map(drop),
        names::LOGGING => Logging::from_data(data).map(drop),
        names::LEADER_ELECTION_WEBHOOK => LeaderElection::from_data(data).map(drop),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(entries: &[(&str, &str)]) -> Data {
        entries
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn nothing_given_is_the_default() {
        assert_eq!(Config::from_config_maps(&BTreeMap::new()), Ok(Config::default()));
    }

    #[test]
    fn texts_in_yaml_need_no_quotes() {
        let defaults = Defaults::from_data(&data(&[(
            "default-pod-template",
            "nodeSelector: {a: 5, b: true}\nunknown: 1\n",
        )]))
        .unwrap();
        let selector = defaults.pod_template.unwrap().node_selector.unwrap();
        assert_eq!(selector, data(&[("a", "5"), ("b", "true")]));
    }

    #[test]
    fn errors_read_as_upstream() {
        let error = |name: &str, entries| validate_config_map(name, &data(entries)).unwrap_err().to_string();
        assert_eq!(
            error(names::LEADER_ELECTION_WEBHOOK, &[("buckets", "11")]),
            "buckets: value must be between 1 <= 11 <= 10"
        );
        assert_eq!(
            error(names::LEADER_ELECTION_WEBHOOK, &[("lease-duration", "30")]),
            "failed to parse \"lease-duration\": time: missing unit in duration \"30\""
        );
        assert_eq!(
            error(names::LOGGING, &[("loglevel.webhook", "chatty")]),
            "invalid logging level: chatty"
        );
        assert_eq!(
            Spire::from_data(&data(&[("spire-server-addr", ""), ("spire-trust-domain", "")]))
                .unwrap_err()
                .to_string(),
            "failed to parse SPIRE configmap: found unset spire configuration flags: [spire-server-addr spire-trust-domain]"
        );
        assert_eq!(
            WaitExponentialBackoff::from_data(&data(&[("factor", "x")]))
                .unwrap_err()
                .to_string(),
            "failed parsing factor \"x\": strconv.ParseFloat: parsing \"x\": invalid syntax"
        );
    }
}
