//! A node that runs pods as processes of this machine: what the kubelet and a container runtime are to a real cluster.
//!
//! [`Node::start`] takes a client of any Kubernetes API, registers itself as a node, binds pods to itself and lives
//! through them. Images are not pulled: a container sees the files of the host, protected by an [`Isolation`], and the
//! volumes of its pod. Everything the node makes lies in a [`StateDir`] and ends with it.

mod container;
mod context;
mod env;
mod fields;
mod images;
mod isolation;
mod log_source;
mod logs;
pub(crate) mod objects_watch;
mod paths;
mod pod_life;
mod probes;
mod process;
mod register;
mod root;
mod run;
pub mod shim;
pub(crate) mod state_dir;
mod status;
mod sys;
mod volumes;
mod wire;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Secret};
use kube::{Api, Client};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use context::{Context, Settings};
use objects_watch::{Change, watch_all};
use process::{Process, ShimProgram};
use wire::{Launch, Report};

pub use context::ApiAddress;
pub use images::{BuiltinImage, BuiltinImages};
pub use isolation::{Isolation, UnknownIsolation};
pub use logs::{LogQuery, Logs};
pub use state_dir::StateDir;

/// How long an attempt with one kind of isolation may take.
const ATTEMPT: Duration = Duration::from_secs(10);

/// How long the shims of killed containers are awaited when the node ends.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// How a node is set up.
#[derive(Clone, Debug, Default)]
pub struct NodeOptions {
    /// Name of the node; that of the machine if empty.
    pub name: String,
    /// Images that consist of programs of this machine.
    pub images: BuiltinImages,
    /// The isolation to use; the best that works when not given.
    pub isolation: Option<Isolation>,
    /// Where containers reach the API over the network, if it is served there.
    pub api: Option<ApiAddress>,
    /// Where the private directory is made; this user's place for such when not given.
    pub state: Option<PathBuf>,
    /// Where the directories of claims are; in the private directory when not given.
    pub claims: Option<PathBuf>,
    /// The program to start as shim, whose `main` calls [`shim::run_if_requested`]; this one when not given.
    pub shim: Option<PathBuf>,
}

/// Why a node cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The private directory cannot be made, or processes cannot be started.
    #[error("the node cannot work on this machine: {0}")]
    Io(#[from] io::Error),
    /// The kernel refuses the isolation that was asked for.
    #[error("isolation {wanted} is not available here: {reason}")]
    Isolation {
        /// What was asked for.
        wanted: Isolation,
        /// What the attempt ended with.
        reason: String,
    },
    /// The API does not take the node.
    #[error("the API refuses the node: {0}")]
    Api(#[from] kube::Error),
}

/// A running node. [`Node::shutdown`] ends it in good order; when it is dropped, its containers are killed.
#[derive(Debug)]
pub struct Node {
    settings: Arc<Settings>,
    logs: Logs,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    pods: JoinHandle<()>,
    state: Option<StateDir>,
}

impl Node {
    /// Starts a node for the pods behind `client`.
    pub async fn start(client: Client, options: NodeOptions) -> Result<Self, NodeError> {
        let base = options.state.clone();
        let state = tokio::task::spawn_blocking(move || StateDir::create(base.as_deref()))
            .await
            .map_err(io::Error::other)??;
        let shim = ShimProgram {
            program: options.shim.map_or_else(std::env::current_exe, Ok)?,
            instance: state.instance().to_owned(),
            shims: TaskTracker::new(),
        };
        let isolation = choose_isolation(options.isolation, &shim, &state).await?;
        tracing::info!(%isolation, state = %state.path().display(), "pods run as processes of this machine");
        let facts = register::facts(&options.name);
        let variable = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
        let settings = Arc::new(Settings {
            facts,
            images: options.images,
            isolation,
            shim,
            claims: options.claims.unwrap_or_else(|| state.path().join("claims")),
            dir: state.path().to_owned(),
            api: options.api,
            search_path: variable(
                "PATH",
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            ),
            home: variable("HOME", "/"),
        });
        register::register(&client, &settings.facts).await?;
        let logs = Logs::default();
        let (stop, stopped) = watch::channel(false);
        let (changed, changes) = watch::channel(0);
        let tasks = vec![
            tokio::spawn(count_changes(
                Api::<ConfigMap>::all(client.clone()),
                changed.clone(),
            )),
            tokio::spawn(count_changes(Api::<Secret>::all(client.clone()), changed.clone())),
            tokio::spawn(count_changes(
                Api::<PersistentVolumeClaim>::all(client.clone()),
                changed,
            )),
            tokio::spawn(crate::builtin::claims::run(
                client.clone(),
                settings.claims.clone(),
            )),
        ];
        let context = Context {
            client,
            settings: settings.clone(),
            logs: logs.clone(),
            changes,
            stop: stopped,
        };
        let pods = tokio::spawn(live_through_pods(context));
        Ok(Self {
            settings,
            logs,
            stop,
            tasks,
            pods,
            state: Some(state),
        })
    }

    /// How containers are kept apart from the host.
    pub fn isolation(&self) -> Isolation {
        self.settings.isolation
    }

    /// Name of the node.
    pub fn name(&self) -> &str {
        &self.settings.facts.name
    }

    /// Logs of the containers.
    pub fn logs(&self) -> &Logs {
        &self.logs
    }

    /// The private directory.
    pub fn directory(&self) -> &std::path::Path {
        &self.settings.dir
    }

    /// Kills all containers and removes everything that was made for them.
    pub async fn shutdown(mut self) {
        self.stop.send(true).ok();
        (&mut self.pods).await.ok();
        let shims = &self.settings.shim.shims;
        shims.close();
        timeout(LAST_WAIT, shims.wait()).await.ok();
        for task in self.tasks.drain(..) {
            task.abort();
            task.await.ok();
        }
        if let Some(state) = self.state.take() {
            tokio::task::spawn_blocking(move || drop(state)).await.ok();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.pods.abort();
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// The best isolation that works, or the one asked for.
async fn choose_isolation(
    wanted: Option<Isolation>,
    shim: &ShimProgram,
    state: &StateDir,
) -> Result<Isolation, NodeError> {
    if let Some(wanted) = wanted {
        return match attempt(wanted, shim, state).await? {
            Ok(()) => Ok(wanted),
            Err(reason) => Err(NodeError::Isolation { wanted, reason }),
        };
    }
    for way in Isolation::ALL {
        match attempt(way, shim, state).await? {
            Ok(()) => return Ok(way),
            Err(reason) => tracing::debug!(isolation = %way, %reason, "not available"),
        }
    }
    Ok(Isolation::None)
}

/// Builds the root of a container that runs nothing.
async fn attempt(
    isolation: Isolation,
    shim: &ShimProgram,
    state: &StateDir,
) -> io::Result<Result<(), String>> {
    let directory = state.path().join(format!("attempt-{isolation}"));
    std::fs::create_dir_all(&directory)?;
    let launch = Launch {
        isolation,
        directory: directory.clone(),
        hostname: "attempt".to_owned(),
        probe: true,
        ..Launch::default()
    };
    let mut process = Process::start(shim, &launch)?;
    let outcome = match timeout(ATTEMPT, process.reports.recv()).await {
        Ok(Some(Report::Exited { code: 0 })) => Ok(()),
        Ok(Some(Report::Refused { message })) => Err(message),
        Ok(other) => Err(format!("the shim did not answer as expected: {other:?}")),
        Err(_) => Err("the shim did not answer in time".to_owned()),
    };
    state_dir::remove_tree(&directory)?;
    Ok(outcome)
}

async fn count_changes<K>(api: Api<K>, count: watch::Sender<u64>)
where
    K: kube::Resource + Clone + serde::de::DeserializeOwned + std::fmt::Debug + Send + 'static,
    K::DynamicType: Default,
{
    let mut changes = std::pin::pin!(watch_all(api));
    while changes.next().await.is_some() {
        count.send_modify(|count| *count += 1);
    }
}

/// Binds new pods and gives each of this node's pods its own task.
async fn live_through_pods(context: Context) {
    let mut lives = JoinSet::new();
    let mut updates: BTreeMap<String, watch::Sender<Option<Arc<Pod>>>> = BTreeMap::new();
    let mut stop = context.stop.clone();
    let mut changes = std::pin::pin!(watch_all(Api::<Pod>::all(context.client.clone())));
    loop {
        let change = tokio::select! {
            change = changes.next() => change,
            () = context::ended(&mut stop) => None,
            Some(_) = lives.join_next() => continue,
        };
        match change {
            None => break,
            Some(Change::Deleted(pod)) => {
                drop(updates.remove(pod.metadata.uid.as_deref().unwrap_or_default()));
            }
            Some(Change::Applied(pod)) => {
                match pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) {
                    None | Some("") => register::bind(&context.client, &pod, &context.settings.facts).await,
                    Some(node) if node == context.settings.facts.name => {
                        let uid = pod.metadata.uid.clone().unwrap_or_default();
                        let pod = Arc::new(pod);
                        if let Some(update) = updates.get(&uid) {
                            update.send(Some(pod)).ok();
                        } else if !is_over(&pod) {
                            let (sender, receiver) = watch::channel(Some(pod.clone()));
                            updates.insert(uid, sender);
                            lives.spawn(pod_life::live(context.clone(), pod, receiver));
                        }
                    }
                    Some(_) => {}
                }
            }
        }
    }
    updates.clear();
    while lives.join_next().await.is_some() {}
}

/// Whether a pod that this node never saw has ended, so that nothing is left to do for it.
fn is_over(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    pod.metadata.deletion_timestamp.is_none() && matches!(phase, Some("Succeeded" | "Failed"))
}
