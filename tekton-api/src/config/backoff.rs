//! Pauses between attempts: the ConfigMap `config-wait-exponential-backoff`.
//!
//! Upstream counterpart: `pkg/apis/config/wait_exponential_backoff.go`.

use super::ConfigError;
use super::parse::{Data, float, integer};
use crate::duration::Duration;

/// How pauses grow.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitExponentialBackoff {
    /// The first pause.
    pub duration: Duration,
    /// What a pause is multiplied with to give the next.
    pub factor: f64,
    /// By which fraction a pause may be longer at random.
    pub jitter: f64,
    /// The number of attempts.
    pub steps: i64,
    /// The longest pause.
    pub cap: Duration,
}

impl Default for WaitExponentialBackoff {
    fn default() -> Self {
        Self {
            duration: Duration::from_secs(1),
            factor: 2.0,
            jitter: 0.0,
            steps: 10,
            cap: Duration::from_secs(60),
        }
    }
}

impl WaitExponentialBackoff {
    /// Reads the entries of the ConfigMap.
    ///
    /// # Errors
    /// The first entry that cannot be read.
    pub fn from_data(data: &Data) -> Result<Self, ConfigError> {
        let built_in = Self::default();
        Ok(Self {
            duration: duration(data, "duration", built_in.duration)?,
            factor: fraction(data, "factor", built_in.factor)?,
            jitter: fraction(data, "jitter", built_in.jitter)?,
            steps: steps(data, built_in.steps)?,
            cap: duration(data, "cap", built_in.cap)?,
        })
    }
}

fn duration(data: &Data, key: &'static str, default: Duration) -> Result<Duration, ConfigError> {
    let Some(value) = data.get(key) else {
        return Ok(default);
    };
    value.parse().map_err(|source| ConfigError::BackoffDuration {
        key,
        value: value.clone(),
        source,
    })
}

fn fraction(data: &Data, key: &'static str, default: f64) -> Result<f64, ConfigError> {
    let Some(value) = data.get(key) else {
        return Ok(default);
    };
    float(value).map_err(|source| ConfigError::BackoffNumber {
        key,
        value: value.clone(),
        source,
    })
}

fn steps(data: &Data, default: i64) -> Result<i64, ConfigError> {
    let key = "steps";
    let Some(value) = data.get(key) else {
        return Ok(default);
    };
    integer("Atoi", value).map_err(|source| ConfigError::BackoffNumber {
        key,
        value: value.clone(),
        source,
    })
}
