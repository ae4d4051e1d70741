//! The node's logs as the API asks for them.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};

use super::logs::{LogQuery, Logs};
use crate::cluster::{LogError, LogRequest, LogSource, LogStream};

impl LogSource for Logs {
    fn open(&self, request: LogRequest) -> BoxFuture<'static, Result<LogStream, LogError>> {
        let opened = query(&request).and_then(|query| {
            self.read(&request.namespace, &request.pod, &request.container, query).map(futures::StreamExt::boxed).ok_or_else(|| {
                let previous = if request.previous { "previous terminated " } else { "" };
                LogError::NotAvailable(format!(
                    "{previous}container \"{}\" in pod \"{}\" is waiting to start: no log was written yet",
                    request.container, request.pod
                ))
            })
        });
        futures::future::ready(opened).boxed()
    }
}

fn query(request: &LogRequest) -> Result<LogQuery, LogError> {
    let since_time = request
        .since_time
        .as_deref()
        .map(str::parse::<Timestamp>)
        .transpose();
    let since_time = since_time.map_err(|error| LogError::Failed(format!("sinceTime: {error}")))?;
    let since_seconds = request.since_seconds.and_then(|seconds| {
        Timestamp::now()
            .checked_sub(SignedDuration::from_secs(seconds))
            .ok()
    });
    let number = |value: Option<u64>| value.map(|value| usize::try_from(value).unwrap_or(usize::MAX));
    Ok(LogQuery {
        follow: request.follow,
        tail: number(request.tail_lines),
        since: since_time.or(since_seconds),
        timestamps: request.timestamps,
        limit: number(request.limit_bytes),
        previous: request.previous,
    })
}
