//! The place of one container in its pod: what is known of it, its run, and when it may be started again.

use std::time::Duration;

use k8s_openapi::api::core::v1::Container;
use tokio::time::Instant;

use super::super::run::Run;
use super::super::status::{Record, Restart, State};

/// Wait before the second restart; doubled each time.
const FIRST_BACKOFF: Duration = Duration::from_secs(10);
/// Longest wait before a restart.
const LONGEST_BACKOFF: Duration = Duration::from_secs(300);
/// Who ran that long starts anew without a wait.
const STABLE: Duration = Duration::from_secs(600);

/// What is to be done with a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Start,
    Leave,
}

/// A container of a pod.
#[derive(Debug)]
pub(super) struct Slot {
    pub record: Record,
    pub run: Option<Run>,
    /// Number of the next run.
    pub next_run: u64,
    /// Its image was changed: it is started again whatever the policy says.
    replace: bool,
    restarts_in_a_row: u32,
    retry_at: Option<Instant>,
}

impl Slot {
    pub(super) fn new(record: Record) -> Self {
        Self {
            record,
            run: None,
            next_run: 0,
            replace: false,
            restarts_in_a_row: 0,
            retry_at: None,
        }
    }

    /// Whether it has ended and will not be started again.
    pub(super) fn is_over(&self) -> bool {
        self.run.is_none() && !self.replace && self.retry_at.is_none() && self.record.exit_code().is_some()
    }

    /// Whether the container is to be started now; notes when it has to wait.
    pub(super) fn wish(
        &mut self,
        policy: Restart,
        container: &Container,
        (pod, namespace, uid): (&str, &str, &str),
    ) -> Wish {
        if self.run.is_some() {
            return Wish::Leave;
        }
        let State::Terminated(end) = &self.record.state else {
            let due = self.retry_at.is_none_or(|at| at <= Instant::now());
            return if due { Wish::Start } else { Wish::Leave };
        };
        let again = match policy {
            Restart::Always => true,
            Restart::OnFailure => end.exit_code != 0,
            Restart::Never => false,
        };
        if self.replace || (again && self.restarts_in_a_row == 0) {
            return Wish::Start;
        }
        if !again {
            return Wish::Leave;
        }
        let doublings = self.restarts_in_a_row.saturating_sub(1).min(5);
        let wait = (FIRST_BACKOFF * 2_u32.pow(doublings)).min(LONGEST_BACKOFF);
        self.retry_at = Some(Instant::now() + wait);
        self.record.last = Some(end.clone());
        self.record.state = State::Waiting {
            reason: "CrashLoopBackOff",
            message: Some(format!(
                "back-off {} restarting failed container={} pod={pod}_{namespace}({uid})",
                short(wait),
                container.name
            )),
        };
        Wish::Leave
    }

    /// Begins a run.
    pub(super) fn begin(&mut self, run: Run, id: String) {
        if let State::Terminated(end) = &self.record.state {
            self.record.last = Some(end.clone());
        }
        if self.next_run > 0 {
            self.record.restarts += 1;
            if !self.replace {
                self.restarts_in_a_row += 1;
            }
            self.record.state = State::Waiting {
                reason: "ContainerCreating",
                message: None,
            };
        }
        self.next_run += 1;
        self.replace = false;
        self.retry_at = None;
        self.record.image.clone_from(&run.image);
        self.record.id = Some(id);
        self.run = Some(run);
    }

    /// Notes that a run which began at `since` has ended.
    pub(super) fn ended(&mut self, since: Instant) {
        if since.elapsed() >= STABLE {
            self.restarts_in_a_row = 0;
        }
    }

    /// Whether the running container has to be replaced as its image is another now.
    pub(super) fn replace_image(&mut self, wanted: &str) -> bool {
        let changed = self.run.as_ref().is_some_and(|run| run.image != wanted);
        self.replace |= changed;
        changed
    }

    /// When something is due.
    pub(super) fn next_wake(&self, stopping: bool) -> Option<Instant> {
        let retry = self.retry_at.filter(|_| !stopping && self.run.is_none());
        self.run
            .as_ref()
            .and_then(|run| run.kill_at)
            .into_iter()
            .chain(retry)
            .min()
    }
}

/// A time the way Go prints it.
fn short(wait: Duration) -> String {
    let seconds = wait.as_secs();
    if seconds < 60 {
        format!("{seconds}s")
    } else {
        format!("{}m{}s", seconds / 60, seconds % 60)
    }
}
