//! Follows the runs to their end: their conditions, and the logs of their steps while they are written.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::{AsyncBufReadExt, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::api::{Api, DynamicObject, ListParams, LogParams};
use kube::core::gvk::GroupVersionKind;
use kube::discovery::ApiResource;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use serde_json::Value;
use tekton_api::labels;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::apply::Started;
use super::report::{Event, Report};
use super::summary::{RunSummary, condition};

/// Prefix of the containers that run steps.
const STEP_PREFIX: &str = "step-";
/// How long to wait for the last lines of logs once all runs have ended.
const LAST_LINES: Duration = Duration::from_secs(3);

/// Waits until every run has ended; returns their summaries in the order of `runs`.
pub(super) async fn to_the_end(client: &Client, runs: &[Started], report: &Arc<Report>) -> Vec<RunSummary> {
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let logs = tokio::spawn(follow_logs(client.clone(), Arc::clone(report), stopped));
    let waits = runs.iter().map(|run| wait_for(client, run, Some(report)));
    let mut summaries = futures::future::join_all(waits).await;
    let _ = stop.send(true);
    let _ = tokio::time::timeout(LAST_LINES, logs).await;
    report.finish();
    for summary in &mut summaries {
        report.event(&Event::Finished { summary });
    }
    summaries
}

/// A run as the API shows it, in any version of its group.
pub(super) fn run_api(client: &Client, run: &Started) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("tekton.dev", "v1", &run.kind);
    Api::namespaced_with(client.clone(), &run.namespace, &ApiResource::from_gvk(&kind))
}

/// Runs of a kind that have not ended, and whether another run owns them.
pub(super) async fn all_runs(client: &Client, kind: &Started) -> Result<Vec<(Started, bool)>, kube::Error> {
    let gvk = GroupVersionKind::gvk("tekton.dev", "v1", &kind.kind);
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&gvk));
    let mut found = Vec::new();
    for object in api.list(&ListParams::default()).await? {
        let value = serde_json::to_value(&object).unwrap_or_default();
        if RunSummary::of(&value).is_none() {
            let run = Started {
                kind: kind.kind.clone(),
                namespace: object.namespace().unwrap_or_default(),
                name: object.name_any(),
            };
            found.push((run, !object.owner_references().is_empty()));
        }
    }
    Ok(found)
}

/// Waits until a run has ended, without telling of it.
pub(super) async fn ended(client: &Client, run: &Started) -> RunSummary {
    wait_for(client, run, None).await
}

async fn wait_for(client: &Client, run: &Started, report: Option<&Report>) -> RunSummary {
    let config = watcher::Config::default().fields(&format!("metadata.name={}", run.name));
    let mut changes = Box::pin(watcher(run_api(client, run), config).default_backoff());
    let mut last = (String::new(), String::new());
    while let Some(change) = changes.next().await {
        let object = match change {
            Ok(watcher::Event::Apply(object) | watcher::Event::InitApply(object)) => object,
            Ok(watcher::Event::Delete(_)) => return gone(run),
            Ok(_) | Err(_) => continue,
        };
        let mut value = serde_json::to_value(&object).unwrap_or_default();
        if let Some(members) = value.as_object_mut() {
            members.insert("kind".to_owned(), Value::String(run.kind.clone()));
        }
        if let Some((_, reason, message)) = condition(&value)
            && (last.0 != reason || last.1 != message)
        {
            last = (reason.to_owned(), message.to_owned());
            let (kind, namespace, name) = (&run.kind, &run.namespace, &run.name);
            if let Some(report) = report {
                report.event(&Event::Status {
                    kind,
                    namespace,
                    name,
                    reason,
                    message,
                });
            }
        }
        if let Some(summary) = RunSummary::of(&value) {
            return summary;
        }
    }
    gone(run)
}

fn gone(run: &Started) -> RunSummary {
    RunSummary {
        kind: run.kind.clone(),
        namespace: run.namespace.clone(),
        name: run.name.clone(),
        succeeded: false,
        reason: "Deleted".to_owned(),
        message: "the run was deleted before it ended".to_owned(),
        seconds: None,
        results: Vec::new(),
        skipped: Vec::new(),
    }
}

/// One log to be read.
struct Source {
    namespace: String,
    pod: String,
    container: String,
    task: String,
    task_run: String,
}

async fn follow_logs(client: Client, report: Arc<Report>, mut stopped: tokio::sync::watch::Receiver<bool>) {
    let pods: Api<Pod> = Api::all(client.clone());
    let config = watcher::Config::default().labels(labels::TASK_RUN);
    let mut changes = Box::pin(watcher(pods, config).default_backoff());
    let (lines, mut received) = mpsc::unbounded_channel::<(Arc<Source>, String)>();
    let mut readers = JoinSet::new();
    let mut known = HashSet::new();
    let mut ended = false;
    loop {
        tokio::select! {
            change = changes.next(), if !ended => {
                let Some(change) = change else { ended = true; continue };
                if let Ok(watcher::Event::Apply(pod) | watcher::Event::InitApply(pod)) = change {
                    for source in sources(&pod) {
                        if known.insert((pod.uid(), source.container.clone())) {
                            readers.spawn(read(client.clone(), Arc::new(source), lines.clone()));
                        }
                    }
                }
            }
            Some((source, line)) = received.recv() => tell(&report, &source, &line),
            _ = stopped.changed(), if !ended => ended = true,
            Some(_) = readers.join_next(), if ended => {}
            else => break,
        }
        if ended && readers.is_empty() {
            break;
        }
    }
    while let Ok((source, line)) = received.try_recv() {
        tell(&report, &source, &line);
    }
}

fn tell(report: &Report, source: &Source, line: &str) {
    let step = source
        .container
        .strip_prefix(STEP_PREFIX)
        .unwrap_or(&source.container);
    report.event(&Event::Log {
        task_run: &source.task_run,
        task: &source.task,
        step,
        line,
    });
}

/// The steps of a pod that have started.
fn sources(pod: &Pod) -> Vec<Source> {
    let none = BTreeMap::new();
    let labels_of = pod.metadata.labels.as_ref().unwrap_or(&none);
    let task_run = labels_of.get(labels::TASK_RUN).cloned().unwrap_or_default();
    let task = labels_of
        .get(labels::PIPELINE_TASK)
        .cloned()
        .unwrap_or_else(|| task_run.clone());
    let statuses = pod
        .status
        .as_ref()
        .and_then(|status| status.container_statuses.as_ref());
    let started = |status: &&ContainerStatus| {
        status.name.starts_with(STEP_PREFIX)
            && status
                .state
                .as_ref()
                .is_some_and(|state| state.running.is_some() || state.terminated.is_some())
    };
    statuses
        .into_iter()
        .flatten()
        .filter(started)
        .map(|status| Source {
            namespace: pod.namespace().unwrap_or_default(),
            pod: pod.name_any(),
            container: status.name.clone(),
            task: task.clone(),
            task_run: task_run.clone(),
        })
        .collect()
}

async fn read(client: Client, source: Arc<Source>, lines: mpsc::UnboundedSender<(Arc<Source>, String)>) {
    let pods: Api<Pod> = Api::namespaced(client, &source.namespace);
    let params = LogParams {
        container: Some(source.container.clone()),
        follow: true,
        ..LogParams::default()
    };
    let Ok(stream) = pods.log_stream(&source.pod, &params).await else {
        return;
    };
    let mut stream = stream.lines();
    while let Ok(Some(line)) = stream.try_next().await {
        if lines.send((Arc::clone(&source), line)).is_err() {
            break;
        }
    }
}
