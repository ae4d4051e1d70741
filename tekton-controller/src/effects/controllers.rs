//! Turns watches into passes, and the results of passes into writes.
//!
//! One controller a kind of run, on kube's runtime: per-object ordering, bounded concurrency, and requests
//! to look again. A pass starts from the watched object, or from what this process itself wrote last if the
//! watch lags behind; it writes the status once, and only if it changed.

use std::collections::HashMap;
use std::fmt::Debug;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::controller::{Action, Config as ControllerConfig, Controller};
use kube::runtime::watcher;
use kube::{Client, Resource, ResourceExt};
use rand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tekton_api::config::Config;
use tekton_api::resolution::v1beta1::ResolutionRequest;
use tekton_api::v1::{PipelineRun, PipelineRunStatus, TaskRun, TaskRunStatus};
use tekton_api::v1beta1::CustomRun;
use tokio::sync::watch;

use super::Executor;
use super::api::failure;
use super::record::record;
use crate::images::Images;
use crate::plan::{Answers, Pass, PassInput, Waiting};
use crate::{pipelinerun, taskrun};

/// A kind that has a reconciler.
pub trait Run:
    Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize + Send + Sync + 'static
{
    /// Its status.
    type Status: Serialize + Send + Sync;
    /// Name under which its events are recorded.
    const COMPONENT: &'static str;

    /// The pure pass.
    fn pass(&self, input: &PassInput<'_>, answers: &Answers) -> Result<Pass<Self::Status>, Waiting>;
}

impl Run for TaskRun {
    type Status = TaskRunStatus;
    const COMPONENT: &'static str = "taskrun-controller";

    fn pass(&self, input: &PassInput<'_>, answers: &Answers) -> Result<Pass<TaskRunStatus>, Waiting> {
        taskrun::reconcile(self, input, answers)
    }
}

impl Run for PipelineRun {
    type Status = PipelineRunStatus;
    const COMPONENT: &'static str = "pipelinerun-controller";

    fn pass(&self, input: &PassInput<'_>, answers: &Answers) -> Result<Pass<PipelineRunStatus>, Waiting> {
        pipelinerun::reconcile(self, input, answers)
    }
}

/// What the controllers work with.
#[derive(Debug)]
pub struct Settings {
    /// Images for the pods.
    pub images: Images,
    /// Configuration in force; a new value counts from the next pass on.
    pub config: watch::Receiver<Arc<Config>>,
    /// Namespace to look at; all if absent.
    pub namespace: Option<String>,
    /// Passes that may be under way at once, a kind.
    pub concurrency: u16,
}

/// Runs the TaskRun and PipelineRun controllers until `shutdown` resolves.
pub async fn run(executor: Executor, settings: Settings, shutdown: impl Future<Output = ()> + Send) {
    let shutdown = shutdown.shared();
    let context = Arc::new(Context {
        executor,
        images: settings.images,
        config: settings.config,
        written: Mutex::new(HashMap::new()),
        retries: Mutex::new(HashMap::new()),
    });
    let client = context.executor.client().clone();
    let scope = Scope {
        client,
        namespace: settings.namespace,
        concurrency: settings.concurrency,
    };
    let taskruns = scope
        .controller::<TaskRun>()
        .owns(
            scope.api::<Pod>(),
            watcher::Config::default().labels("app.kubernetes.io/managed-by"),
        )
        .owns(scope.api::<ResolutionRequest>(), watcher::Config::default());
    let pipelineruns = scope
        .controller::<PipelineRun>()
        .owns(scope.api::<TaskRun>(), watcher::Config::default())
        .owns(scope.api::<CustomRun>(), watcher::Config::default())
        .owns(scope.api::<PipelineRun>(), watcher::Config::default())
        .owns(scope.api::<ResolutionRequest>(), watcher::Config::default());
    futures::future::select(
        Box::pin(futures::future::join(
            serve(taskruns, &context),
            serve(pipelineruns, &context),
        )),
        shutdown,
    )
    .await;
}

struct Scope {
    client: Client,
    namespace: Option<String>,
    concurrency: u16,
}

impl Scope {
    fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>,
    {
        match &self.namespace {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        }
    }

    fn controller<K>(&self) -> Controller<K>
    where
        K: Run + Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>,
        K::DynamicType: Debug + Clone + Hash + Eq + Unpin,
    {
        let config = ControllerConfig::default().concurrency(self.concurrency);
        Controller::new(self.api::<K>(), watcher::Config::default()).with_config(config)
    }
}

struct Context {
    executor: Executor,
    images: Images,
    config: watch::Receiver<Arc<Config>>,
    /// The newest state that this process wrote, by uid, until the watch has caught up.
    written: Mutex<HashMap<String, Value>>,
    /// Failed passes in a row, by uid.
    retries: Mutex<HashMap<String, u32>>,
}

async fn serve<K>(controller: Controller<K>, context: &Arc<Context>)
where
    K: Run + Resource<DynamicType = ()>,
{
    let on_error = |_: Arc<K>, _: &PassFailed, _: Arc<Context>| Action::requeue(Duration::from_secs(1));
    controller
        .run(
            |run, context| guarded(run, context),
            on_error,
            Arc::clone(context),
        )
        .for_each(|outcome| {
            if let Err(error) = outcome {
                tracing::debug!(%error, "a pass was not carried out");
            }
            futures::future::ready(())
        })
        .await;
}

/// Why a pass could not be carried out at all.
#[derive(Debug, thiserror::Error)]
enum PassFailed {
    #[error("the reconciler panicked; the object is tried again later")]
    Panicked,
}

/// A panic in one pass must not end the controller.
async fn guarded<K: Run>(run: Arc<K>, context: Arc<Context>) -> Result<Action, PassFailed> {
    let pass = std::panic::AssertUnwindSafe(reconcile(&run, &context));
    pass.catch_unwind().await.map_err(|_| PassFailed::Panicked)
}

#[tracing::instrument(skip_all, fields(kind = %K::kind(&()), namespace = run.namespace(), name = run.name_any()))]
async fn reconcile<K: Run>(run: &Arc<K>, context: &Context) -> Action {
    let uid = run.uid().unwrap_or_default();
    let run = context.newest(run, &uid);
    let config = context.config.borrow().clone();
    let suffix = random_suffix();
    let input = PassInput {
        config: &config,
        images: &context.images,
        now: Timestamp::now(),
        suffix: &suffix,
    };
    let pass = context.executor.drive(|answers| run.pass(&input, answers)).await;
    let written = write(&run, &pass, context).await;
    record(context.executor.client(), K::COMPONENT, &*run, &pass.events).await;
    if let Some(error) = &pass.error {
        tracing::info!(%error, permanent = error.is_permanent(), "a pass ended with an error");
    }
    let failed = !written || pass.error.as_ref().is_some_and(|error| !error.is_permanent());
    if failed {
        return Action::requeue(context.back_off(&uid));
    }
    context
        .retries
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .remove(&uid);
    match pass.requeue {
        Some(after) => Action::requeue(after),
        None => Action::await_change(),
    }
}

/// Writes status, labels and annotations where they differ. False if a write failed.
async fn write<K: Run>(run: &Arc<K>, pass: &Pass<K::Status>, context: &Context) -> bool {
    let before = serde_json::to_value(&**run).unwrap_or_default();
    let namespace = run.namespace().unwrap_or_default();
    let client = context.executor.client().clone();
    let kind = kube::discovery::ApiResource::erase::<K>(&());
    let api: Api<kube::core::DynamicObject> = Api::namespaced_with(client, &namespace, &kind);
    let uid = run.uid().unwrap_or_default();
    let mut version = run.resource_version();
    if let Some(metadata) = changed_metadata(&before, pass) {
        let body = json!({"metadata": metadata});
        match api
            .patch(&run.name_any(), &PatchParams::default(), &Patch::Merge(&body))
            .await
        {
            Ok(stored) => {
                version.clone_from(&stored.metadata.resource_version);
                context.remember(&uid, &stored);
            }
            Err(error) => return give_up(&failure(error)),
        }
    }
    let Some(status) = &pass.status else { return true };
    let after = serde_json::to_value(status).unwrap_or_default();
    if before.get("status").is_some_and(|before| *before == after) {
        return true;
    }
    let Some(mut body) = before.as_object().cloned() else {
        return false;
    };
    body.insert("status".to_owned(), after);
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("resourceVersion".to_owned(), json!(version));
    }
    let Ok(body) = serde_json::from_value(Value::Object(body)) else {
        return false;
    };
    match api
        .replace_status(&run.name_any(), &kube::api::PostParams::default(), &body)
        .await
    {
        Ok(stored) => {
            context.remember(&uid, &stored);
            true
        }
        Err(error) => give_up(&failure(error)),
    }
}

fn give_up(failure: &crate::plan::ApiFailure) -> bool {
    if failure.is_not_found() {
        return true;
    }
    tracing::info!(%failure, "a status could not be written");
    false
}

/// Labels and annotations that the pass wants and the object lacks.
fn changed_metadata<S>(before: &Value, pass: &Pass<S>) -> Option<Value> {
    let mut changed = serde_json::Map::new();
    for (key, wanted) in [("labels", &pass.labels), ("annotations", &pass.annotations)] {
        let Some(wanted) = wanted else { continue };
        let present = before.pointer(&format!("/metadata/{key}"));
        let differs = |(name, value): &(&String, &String)| {
            present
                .and_then(|present| present.get(name.as_str()))
                .and_then(Value::as_str)
                != Some(value.as_str())
        };
        let missing: serde_json::Map<String, Value> = wanted
            .iter()
            .filter(differs)
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        if !missing.is_empty() {
            changed.insert(key.to_owned(), Value::Object(missing));
        }
    }
    (!changed.is_empty()).then_some(Value::Object(changed))
}

impl Context {
    fn newest<K: Run>(&self, seen: &Arc<K>, uid: &str) -> Arc<K> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = written.get(uid) else {
            return Arc::clone(seen);
        };
        let own_version = own
            .pointer("/metadata/resourceVersion")
            .and_then(Value::as_str)
            .and_then(version_number);
        let seen_version = seen.resource_version().as_deref().and_then(version_number);
        if own_version > seen_version
            && let Ok(own) = serde_json::from_value(own.clone())
        {
            return Arc::new(own);
        }
        written.remove(uid);
        Arc::clone(seen)
    }

    fn remember(&self, uid: &str, stored: &kube::core::DynamicObject) {
        if let Ok(value) = serde_json::to_value(stored) {
            self.written
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(uid.to_owned(), value);
        }
    }

    /// 5 ms, doubled with every failure in a row, up to 1000 s: the rate limiter of Go's controllers.
    fn back_off(&self, uid: &str) -> Duration {
        let mut retries = self.retries.lock().unwrap_or_else(PoisonError::into_inner);
        let count = retries.entry(uid.to_owned()).or_default();
        let delay = Duration::from_millis(5).saturating_mul(2_u32.saturating_pow(*count));
        *count = count.saturating_add(1);
        delay.min(Duration::from_secs(1000))
    }
}

fn version_number(version: &str) -> Option<u64> {
    version.parse().ok()
}

fn random_suffix() -> String {
    // The alphabet of Kubernetes' generated names: no vowels, no look-alikes.
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut random = rand::rng();
    (0..5)
        .filter_map(|_| ALPHABET.get(random.random_range(0..ALPHABET.len())))
        .map(|byte| char::from(*byte))
        .collect()
}
