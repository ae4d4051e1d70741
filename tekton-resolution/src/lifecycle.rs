//! The life of a ResolutionRequest in the pipelines controller: in progress, succeeded, timed out.
//!
//! A resolver writes data and source; this marks the request. Upstream counterpart:
//! `pkg/reconciler/resolutionrequest/resolutionrequest.go`.

use tekton_api::duration::Duration;

/// Reason of a request that took too long.
pub const REASON_TIMED_OUT: &str = "ResolutionTimedOut";
/// Reason of a request that waits.
pub const REASON_IN_PROGRESS: &str = "ResolutionInProgress";
/// Message of a request that waits.
pub const MESSAGE_WAITING: &str = "waiting for resolver";

/// What is known of a request.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Its condition is true or false already.
    pub is_done: bool,
    /// A resolver has written data.
    pub is_resolved: bool,
    /// Time since its creation.
    pub age: Duration,
}

/// What its condition shall say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Leave it as it is.
    Keep,
    /// `Succeeded` is true.
    Succeeded,
    /// `Succeeded` is false.
    TimedOut {
        /// Text of the condition.
        message: String,
    },
    /// `Succeeded` is unknown.
    Waiting {
        /// When to look again.
        after: Duration,
    },
}

/// Decides on a request with a global time limit.
pub fn verdict(seen: Seen, limit: Duration) -> Verdict {
    if seen.is_done {
        Verdict::Keep
    } else if seen.is_resolved {
        Verdict::Succeeded
    } else if seen.age > limit {
        Verdict::TimedOut {
            message: format!("resolution took longer than global timeout of {limit}"),
        }
    } else {
        Verdict::Waiting {
            after: limit.saturating_sub(seen.age),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_wins_over_the_deadline() {
        let limit = Duration::from_secs(60);
        let seen = |is_resolved, age| Seen {
            is_done: false,
            is_resolved,
            age: Duration::from_secs(age),
        };
        assert_eq!(verdict(seen(true, 100), limit), Verdict::Succeeded);
        assert_eq!(
            verdict(seen(false, 60), limit),
            Verdict::Waiting {
                after: Duration::ZERO
            }
        );
        let message = "resolution took longer than global timeout of 1m0s".to_owned();
        assert_eq!(verdict(seen(false, 61), limit), Verdict::TimedOut { message });
    }
}
