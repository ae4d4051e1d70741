//! The time-outs of a run: how long the whole, its tasks and its finally tasks may take.
//!
//! All compare strictly: a run ends when more time has passed than it may take. Upstream counterpart:
//! `pkg/apis/pipeline/v1/pipelinerun_types.go`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use tekton_api::config::Config;
use tekton_api::duration::Duration;
use tekton_api::v1::PipelineRun;

/// Limits of a run and when they began to count. A limit of zero means none.
#[derive(Clone, Debug)]
pub(super) struct Timeouts {
    /// For the whole run.
    pub(super) pipeline: Duration,
    /// For the tasks.
    pub(super) tasks: Option<Duration>,
    /// For the finally tasks.
    pub(super) finally: Option<Duration>,
    /// Start of the run.
    pub(super) start: Option<Timestamp>,
    /// Start of the finally tasks.
    pub(super) finally_start: Option<Timestamp>,
    /// The time of the pass.
    pub(super) now: Timestamp,
}

impl Timeouts {
    /// The limits of a run.
    pub(super) fn of(run: &PipelineRun, config: &Config, now: Timestamp) -> Self {
        let fields = run.spec.timeouts.clone().unwrap_or_default();
        let rest = |other: Option<Duration>| match (fields.pipeline, other) {
            (Some(pipeline), Some(other)) if !pipeline.is_zero() && !other.is_zero() => {
                Some(pipeline.saturating_sub(other))
            }
            _ => None,
        };
        let status = run.status.as_ref();
        let instant = |time: Option<&Time>| time.map(|time| time.0);
        Self {
            pipeline: fields.pipeline.unwrap_or_else(|| config.defaults.timeout()),
            tasks: fields.tasks.or_else(|| rest(fields.finally)),
            finally: fields.finally.or_else(|| rest(fields.tasks)),
            start: instant(status.and_then(|status| status.start_time.as_ref())),
            finally_start: instant(status.and_then(|status| status.finally_start_time.as_ref())),
            now,
        }
    }

    /// The whole run has taken too long.
    pub(super) fn is_over(&self) -> bool {
        self.exceeded(self.start, Some(self.pipeline))
    }

    /// The whole run has taken more than twice its time: earlier attempts to end it have failed.
    pub(super) fn is_long_over(&self) -> bool {
        self.is_over()
            && self
                .elapsed(self.start)
                .is_some_and(|elapsed| elapsed >= self.pipeline.saturating_add(self.pipeline))
    }

    /// The tasks have taken too long.
    pub(super) fn tasks_over(&self) -> bool {
        self.exceeded(self.start, self.tasks)
    }

    /// The finally tasks have taken too long.
    pub(super) fn finally_over(&self) -> bool {
        self.exceeded(self.finally_start, self.finally)
    }

    /// When to look again because of a limit.
    pub(super) fn requeue(&self) -> Option<std::time::Duration> {
        let left = |start, limit: Duration| Some(limit.saturating_sub(self.elapsed(start)?));
        let limit = |limit: Option<Duration>| limit.filter(|limit| !limit.is_zero());
        let pipeline = || limit(Some(self.pipeline)).and_then(|pipeline| left(self.start, pipeline));
        self.start?;
        let wait = if self.finally_start.is_some() {
            match limit(self.finally) {
                Some(finally) => {
                    let finally = left(self.finally_start, finally);
                    match (finally, pipeline()) {
                        (Some(finally), Some(pipeline)) => Some(finally.min(pipeline)),
                        (finally, pipeline) => finally.or(pipeline),
                    }
                }
                None => pipeline(),
            }
        } else {
            match limit(self.tasks) {
                Some(tasks) => left(self.start, tasks),
                None => pipeline(),
            }
        };
        wait.map(Duration::to_std)
    }

    fn elapsed(&self, start: Option<Timestamp>) -> Option<Duration> {
        let nanos = self.now.as_nanosecond() - start?.as_nanosecond();
        Some(Duration::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX)))
    }

    fn exceeded(&self, start: Option<Timestamp>, limit: Option<Duration>) -> bool {
        match (self.elapsed(start), limit) {
            (Some(elapsed), Some(limit)) => !limit.is_zero() && elapsed > limit,
            _ => false,
        }
    }
}
