//! Leases among replicas: the ConfigMaps `config-leader-election-…`.
//!
//! Upstream counterpart: `knative.dev/pkg/leaderelection`.

use super::ConfigError;
use super::parse::{Data, unsigned};
use crate::duration::Duration;

const MOST_BUCKETS: u32 = 10;

/// How replicas share the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElection {
    /// For how long others respect a lease that is not renewed.
    pub lease_duration: Duration,
    /// For how long a holder tries to renew.
    pub renew_deadline: Duration,
    /// The pause between tries.
    pub retry_period: Duration,
    /// Number of leases by which the keys are divided.
    pub buckets: u32,
}

impl Default for LeaderElection {
    fn default() -> Self {
        Self {
            lease_duration: Duration::from_secs(60),
            renew_deadline: Duration::from_secs(40),
            retry_period: Duration::from_secs(10),
            buckets: 1,
        }
    }
}

impl LeaderElection {
    /// Reads the entries of the ConfigMap.
    ///
    /// # Errors
    /// The first entry that cannot be read, or a number of buckets that is too small or too large.
    pub fn from_data(data: &Data) -> Result<Self, ConfigError> {
        let built_in = Self::default();
        let buckets = match data.get("buckets") {
            Some(text) => unsigned(text).map_err(ConfigError::Buckets),
            None => Ok(built_in.buckets),
        };
        let election = Self {
            lease_duration: duration(data, "lease-duration", built_in.lease_duration)?,
            renew_deadline: duration(data, "renew-deadline", built_in.renew_deadline)?,
            retry_period: duration(data, "retry-period", built_in.retry_period)?,
            buckets: buckets?,
        };
        if !(1..=MOST_BUCKETS).contains(&election.buckets) {
            return Err(ConfigError::BucketCount(election.buckets));
        }
        Ok(election)
    }
}

fn duration(data: &Data, key: &'static str, default: Duration) -> Result<Duration, ConfigError> {
    let Some(text) = data.get(key) else {
        return Ok(default);
    };
    text.parse()
        .map_err(|source| ConfigError::LeaseDuration { key, source })
}
