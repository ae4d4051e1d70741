//! The life of one pod: volumes, init containers in order, all containers at once, restarts, deadline, deletion.
//!
//! An actor: it gets the pod as it changes and events of its containers, starts and stops what has to be, and writes
//! the status when it is another. What a container's status means is left to `status`.

mod objects;
mod slot;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container, ContainerStateTerminated, Pod, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::container::{self, ConfigProblem, Surroundings};
use super::context::{Context, ended};
use super::isolation::Isolation;
use super::probes::Probes;
use super::process::listens_to_terminate;
use super::run::{self, Event, Happening};
use super::state_dir::{POD_MARKER, remove_tree};
use super::status::{Facts, Record, Restart, State, Verdict, is_sidecar, restart_policy, status};
use super::volumes::Places;
use super::wire::Order;
use objects::Objects;
use slot::{Slot, Wish};

/// How long a container may take to end, unless its pod says otherwise.
const DEFAULT_GRACE: i64 = 30;
/// How long the node waits for killed containers when it ends.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Lives through a pod until it is deleted or the node ends.
pub(super) async fn live(context: Context, pod: Arc<Pod>, updates: watch::Receiver<Option<Arc<Pod>>>) {
    let (sender, events) = mpsc::unbounded_channel();
    let mut life = PodLife::new(context, &pod, sender);
    life.run(updates, events).await;
}

struct PodLife {
    context: Context,
    /// The pod as the API has it, with the mounts that every container gets.
    pod: Pod,
    namespace: String,
    name: String,
    uid: String,
    /// Init containers, then containers.
    slots: Vec<Slot>,
    init_count: usize,
    objects: Objects,
    places: Option<Places>,
    started: Timestamp,
    deadline: Option<Instant>,
    verdict: Option<Verdict>,
    /// Nothing is started any more.
    stopping: bool,
    /// A status that cannot change any more was written.
    over: bool,
    written: Option<PodStatus>,
    events: mpsc::UnboundedSender<Event>,
    /// The trouble with volumes that was reported last.
    reported: Option<String>,
}

impl PodLife {
    fn new(context: Context, pod: &Pod, events: mpsc::UnboundedSender<Event>) -> Self {
        let pod = objects::with_api_access(pod, context.settings.api.is_some());
        let spec = pod.spec.clone().unwrap_or_default();
        let init = spec.init_containers.unwrap_or_default();
        let reason = if init.is_empty() { "ContainerCreating" } else { "PodInitializing" };
        let slots: Vec<Slot> = init.iter().chain(&spec.containers).map(|container| Slot::new(Record::new(reason, container))).collect();
        let deadline = spec.active_deadline_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        Self {
            namespace: pod.metadata.namespace.clone().unwrap_or_default(),
            name: pod.metadata.name.clone().unwrap_or_default(),
            uid: pod.metadata.uid.clone().unwrap_or_default(),
            written: pod.status.clone(),
            slots,
            init_count: init.len(),
            objects: Objects::default(),
            places: None,
            started: Timestamp::now(),
            deadline: deadline.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
            verdict: None,
            stopping: false,
            over: false,
            events,
            reported: None,
            context,
            pod,
        }
    }

    async fn run(&mut self, mut updates: watch::Receiver<Option<Arc<Pod>>>, mut events: mpsc::UnboundedReceiver<Event>) {
        let mut changes = self.context.changes.clone();
        let mut stop = self.context.stop.clone();
        changes.mark_unchanged();
        if self.pod.metadata.deletion_timestamp.is_some() {
            self.stop_all(self.grace());
        }
        loop {
            self.advance(true).await;
            self.publish().await;
            if self.deleted_when_stopped().await {
                break;
            }
            let wake = self.next_wake();
            tokio::select! {
                event = events.recv() => {
                    let mut next = event;
                    while let Some(event) = next {
                        self.note(event);
                        next = events.try_recv().ok();
                    }
                }
                update = updates.changed() => {
                    let pod = if update.is_ok() { updates.borrow_and_update().clone() } else { None };
                    match pod {
                        Some(pod) if pod.metadata.uid.as_deref() == Some(&self.uid) => self.update(&pod).await,
                        _ => break,
                    }
                }
                _ = changes.changed() => self.refresh(true).await,
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => self.wake(),
                () = ended(&mut stop) => break,
            }
        }
        self.end(events).await;
    }

    /// Kills what still runs and removes what belongs to the pod.
    async fn end(&mut self, mut events: mpsc::UnboundedReceiver<Event>) {
        self.stopping = true;
        for slot in &mut self.slots {
            if let Some(run) = &slot.run {
                run.orders.send(Order::Kill).ok();
            }
        }
        let waited = timeout(LAST_WAIT, async {
            while self.slots.iter().any(|slot| slot.run.is_some()) {
                match events.recv().await {
                    Some(event) => self.note(event),
                    None => break,
                }
            }
        });
        waited.await.ok();
        let dir = self.context.settings.pod_dir(&self.uid);
        let logs = (self.context.logs.clone(), self.context.settings.log_dir(&self.uid));
        let (namespace, name) = (self.namespace.clone(), self.name.clone());
        let removal = tokio::task::spawn_blocking(move || {
            logs.0.forget(&namespace, &name, &logs.1);
            remove_tree(&dir)
        });
        if let Ok(Err(error)) = removal.await {
            tracing::warn!(pod = %self.name, %error, "the directory of a pod could not be removed");
        }
    }

    fn container(&self, slot: usize) -> Option<&Container> {
        let spec = self.pod.spec.as_ref()?;
        match slot.checked_sub(self.init_count) {
            Some(index) => spec.containers.get(index),
            None => spec.init_containers.as_ref()?.get(slot),
        }
    }

    /// Starts whatever may run by now.
    async fn advance(&mut self, retry: bool) {
        if self.stopping {
            return;
        }
        if self.places.is_none() {
            self.refresh(retry).await;
            if self.places.is_none() {
                return;
            }
        }
        let policy = restart_policy(&self.pod);
        for index in 0..self.init_count {
            let sidecar = self.container(index).is_some_and(is_sidecar);
            self.start_if_due(index, if sidecar { Restart::Always } else { only_failed(policy) }).await;
            let Some(slot) = self.slots.get(index) else { return };
            if sidecar {
                if !slot.record.started && !slot.is_over() {
                    return;
                }
            } else if slot.record.exit_code() != Some(0) {
                let failed = slot.record.exit_code().is_some() && policy == Restart::Never;
                if failed {
                    self.stop_all(self.grace());
                }
                return;
            }
        }
        for index in self.init_count..self.slots.len() {
            self.start_if_due(index, policy).await;
        }
        let all_over = self.slots.iter().skip(self.init_count).all(|slot| slot.run.is_none() && slot.record.exit_code().is_some());
        if all_over {
            self.stop_all(self.grace());
        }
    }

    async fn start_if_due(&mut self, index: usize, policy: Restart) {
        let Some(slot) = self.slots.get_mut(index) else { return };
        let names = (self.name.as_str(), self.namespace.as_str(), self.uid.as_str());
        let container = match index.checked_sub(self.init_count) {
            Some(main) => self.pod.spec.as_ref().and_then(|spec| spec.containers.get(main)),
            None => self.pod.spec.as_ref().and_then(|spec| spec.init_containers.as_ref()?.get(index)),
        };
        let Some(container) = container else { return };
        if slot.wish(policy, container, names) == Wish::Start {
            let container = container.clone();
            if let Err(ConfigProblem(message)) = self.start(index, &container).await {
                self.set_waiting(index, "CreateContainerConfigError", message);
            }
        }
    }

    fn set_waiting(&mut self, index: usize, reason: &'static str, message: String) {
        if let Some(slot) = self.slots.get_mut(index) {
            slot.record.state = State::Waiting { reason, message: Some(message) };
        }
    }

    async fn start(&mut self, index: usize, container: &Container) -> Result<(), ConfigProblem> {
        if matches!(self.slots.get(index).map(|slot| &slot.record.state), Some(State::Waiting { reason: "CreateContainerConfigError", .. })) {
            self.objects = objects::fetch(&self.context, &self.pod).await.map_err(|e| ConfigProblem(e.to_string()))?;
        }
        let Some(places) = self.places.clone() else { return Ok(()) };
        let settings = &self.context.settings;
        let number = self.slots.get(index).map_or(0, |slot| slot.next_run);
        let pod_dir = settings.pod_dir(&self.uid);
        let directory = pod_dir.join("containers").join(format!("{}-{number}", container.name));
        let hostname = self.pod.spec.as_ref().and_then(|spec| spec.hostname.clone()).unwrap_or_else(|| self.name.clone());
        let mut base_env = settings.base_env(&hostname);
        if settings.isolation == Isolation::None {
            base_env.push((POD_MARKER.to_owned(), settings.shim.instance.to_string_lossy().into_owned()));
            base_env.push(("TEKTON_PATH_PREFIX".to_owned(), pod_dir.join("root").to_string_lossy().into_owned()));
        }
        let around = Surroundings {
            pod: &self.pod,
            isolation: settings.isolation,
            node: &settings.facts,
            images: &settings.images,
            sources: &self.objects.sources,
            places: &places,
            base_env: &base_env,
            pod_dir: &pod_dir,
            directory: &directory,
        };
        let launch = container::launch(container, &around)?;
        let failed = |e: std::io::Error| ConfigProblem(format!("start container process: {e}"));
        let log = self.context.logs.begin(&self.namespace, &self.name, &container.name, &settings.log_dir(&self.uid)).map_err(failed)?;
        let mut run = run::start(&settings.shim, launch, log, index, number, self.events.clone()).map_err(failed)?;
        run.image = container.image.clone().unwrap_or_default();
        let id = format!("tekton-local://{}/{}-{number}", self.uid, container.name);
        if let Some(slot) = self.slots.get_mut(index) {
            slot.begin(run, id);
        }
        Ok(())
    }

    /// Takes note of what happened to a container.
    fn note(&mut self, event: Event) {
        let Event { slot: index, run, what } = event;
        if self.slots.get(index).is_none_or(|slot| slot.run.as_ref().is_none_or(|current| current.number != run)) {
            return;
        }
        match what {
            Happening::Started { pid, at } => self.note_started(index, pid, at),
            Happening::Refused { message, at } => {
                let message = format!(
                    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: {message}: unknown"
                );
                self.finish(index, 128, "StartError", message, Timestamp::UNIX_EPOCH, at);
            }
            Happening::Exited { code, message, at } => {
                let started = match self.slots.get(index).map(|slot| &slot.record.state) {
                    Some(State::Running { since }) => *since,
                    _ => at,
                };
                let fall_back = self.container(index).is_some_and(|c| c.termination_message_policy.as_deref() == Some("FallbackToLogsOnError"));
                let message = if message.is_empty() && code != 0 && fall_back {
                    self.container(index).map(|c| self.context.logs.last_lines(&self.namespace, &self.name, &c.name)).unwrap_or_default()
                } else {
                    message
                };
                let reason = if code == 0 { "Completed" } else { "Error" };
                self.finish(index, code, reason, message, started, at);
                if self.context.settings.isolation == Isolation::None && index < self.init_count {
                    self.replace_in_scripts();
                }
            }
            Happening::Up => {
                if let Some(slot) = self.slots.get_mut(index) {
                    slot.record.started = true;
                }
            }
            Happening::Ready(ready) => {
                if let Some(slot) = self.slots.get_mut(index) {
                    slot.record.ready = ready;
                }
            }
            Happening::Unhealthy => self.terminate(index, self.grace()),
        }
    }

    fn note_started(&mut self, index: usize, pid: i32, at: Timestamp) {
        let (Some(container), Some(places)) = (self.container(index).cloned(), self.places.clone()) else { return };
        let settings = self.context.settings.clone();
        let events = self.events.clone();
        let pod_dir = settings.pod_dir(&self.uid);
        let Some(slot) = self.slots.get_mut(index) else { return };
        let Some(run) = slot.run.as_mut() else { return };
        slot.record.state = State::Running { since: at };
        run.pid = Some(pid);
        let around = Surroundings {
            pod: &self.pod,
            isolation: settings.isolation,
            node: &settings.facts,
            images: &settings.images,
            sources: &self.objects.sources,
            places: &places,
            base_env: &[],
            pod_dir: &pod_dir,
            directory: &run.directory,
        };
        let probes = Probes::of(&container, &settings.facts.address, &|words| container::probe_command(&run.launch, &around, words));
        if probes.is_empty() {
            slot.record.started = true;
            slot.record.ready = true;
        } else {
            let (number, execs) = (run.number, run.execs.clone());
            let watch = probes.watch(execs, move |what| {
                events.send(Event { slot: index, run: number, what }).ok();
            });
            run.probes = Some(tokio::spawn(watch));
        }
        if run.kill_at.is_some() {
            // It was asked to end before it ran.
            order_end(run);
        }
    }

    fn finish(&mut self, index: usize, code: i32, reason: &str, message: String, started: Timestamp, at: Timestamp) {
        let Some(slot) = self.slots.get_mut(index) else { return };
        let Some(run) = slot.run.take() else { return };
        slot.record.state = State::Terminated(Box::new(ContainerStateTerminated {
            container_id: slot.record.id.clone(),
            exit_code: code,
            reason: Some(reason.to_owned()),
            message: (!message.is_empty()).then_some(message),
            started_at: Some(Time(started)),
            finished_at: Some(Time(at)),
            ..ContainerStateTerminated::default()
        }));
        slot.record.started = false;
        slot.record.ready = false;
        slot.ended(run.since);
        let directory = run.directory.clone();
        tokio::task::spawn_blocking(move || remove_tree(&directory));
    }

    fn replace_in_scripts(&self) {
        let Some(places) = self.places.as_ref() else { return };
        let settings = &self.context.settings;
        let pod_dir = settings.pod_dir(&self.uid);
        let around = Surroundings {
            pod: &self.pod,
            isolation: settings.isolation,
            node: &settings.facts,
            images: &settings.images,
            sources: &self.objects.sources,
            places,
            base_env: &[],
            pod_dir: &pod_dir,
            directory: &pod_dir,
        };
        if let Err(error) = container::replace_in_scripts(&around) {
            tracing::warn!(pod = %self.name, %error, "paths in scripts could not be replaced");
        }
    }

    /// Takes the pod as it is now.
    async fn update(&mut self, pod: &Pod) {
        let before = std::mem::replace(&mut self.pod, objects::with_api_access(pod, self.context.settings.api.is_some()));
        if pod.metadata.deletion_timestamp.is_some() {
            self.stop_all(self.grace());
            return;
        }
        for index in 0..self.slots.len() {
            let wanted = self.container(index).and_then(|container| container.image.clone()).unwrap_or_default();
            let replaced = self.slots.get_mut(index).is_some_and(|slot| slot.replace_image(&wanted));
            if replaced {
                self.terminate(index, self.grace());
            }
        }
        if before.metadata.annotations != self.pod.metadata.annotations || before.metadata.labels != self.pod.metadata.labels {
            self.refresh(false).await;
        }
    }

    /// Brings volumes up to date, with new objects if wanted.
    async fn refresh(&mut self, fetch: bool) {
        if self.over || (self.stopping && self.places.is_none()) {
            return;
        }
        match self.provide(fetch).await {
            Ok(places) => {
                self.places = Some(places);
                self.reported = None;
            }
            Err(message) if self.reported.as_ref() != Some(&message) => {
                tracing::warn!(pod = %self.name, namespace = %self.namespace, "{message}");
                objects::warn(&self.context.client, &self.pod, "FailedMount", &message).await;
                self.reported = Some(message);
            }
            Err(_) => {}
        }
    }

    async fn provide(&mut self, fetch: bool) -> Result<Places, String> {
        if fetch {
            self.objects = objects::fetch(&self.context, &self.pod).await.map_err(|error| error.to_string())?;
        }
        self.objects.provide(&self.context, &self.pod, &self.uid)
    }

    /// Time a container gets to end.
    fn grace(&self) -> i64 {
        let spec = self.pod.spec.as_ref().and_then(|spec| spec.termination_grace_period_seconds);
        self.pod.metadata.deletion_grace_period_seconds.or(spec).unwrap_or(DEFAULT_GRACE)
    }

    /// Asks all containers to end; nothing is started any more.
    fn stop_all(&mut self, grace: i64) {
        self.stopping = true;
        for index in (0..self.slots.len()).rev() {
            self.terminate(index, grace);
        }
    }

    fn terminate(&mut self, index: usize, grace: i64) {
        let Some(run) = self.slots.get_mut(index).and_then(|slot| slot.run.as_mut()) else { return };
        let at = Instant::now() + Duration::from_secs(u64::try_from(grace).unwrap_or_default());
        if run.kill_at.is_some_and(|already| already <= at) {
            return;
        }
        run.kill_at = Some(at);
        if grace <= 0 {
            run.orders.send(Order::Kill).ok();
        } else {
            order_end(run);
        }
    }

    /// When something is due although nothing happens.
    fn next_wake(&self) -> Option<Instant> {
        let deadline = self.deadline.filter(|_| self.verdict.is_none() && !self.stopping);
        self.slots.iter().filter_map(|slot| slot.next_wake(self.stopping)).chain(deadline).min()
    }

    fn wake(&mut self) {
        let now = Instant::now();
        for run in self.slots.iter_mut().filter_map(|slot| slot.run.as_mut()) {
            if run.kill_at.is_some_and(|at| at <= now) {
                run.orders.send(Order::Kill).ok();
                // Asked once is enough: nobody survives that.
                run.kill_at = Some(now + Duration::from_secs(3600));
            }
        }
        if self.deadline.is_some_and(|deadline| deadline <= now) && self.verdict.is_none() && !self.stopping {
            self.verdict = Some(Verdict {
                reason: "DeadlineExceeded".to_owned(),
                message: "Pod was active on the node longer than the specified deadline".to_owned(),
            });
            self.stop_all(self.grace());
        }
    }

    /// Writes the status if it is another than before.
    async fn publish(&mut self) {
        let (init, main): (Vec<Record>, Vec<Record>) = {
            let records: Vec<Record> = self.slots.iter().map(|slot| slot.record.clone()).collect();
            let (init, main) = records.split_at(self.init_count.min(records.len()));
            (init.to_vec(), main.to_vec())
        };
        let facts = Facts {
            pod: &self.pod,
            init: &init,
            main: &main,
            node: &self.context.settings.facts,
            started: self.started,
            now: Timestamp::now(),
            verdict: self.verdict.as_ref(),
            before: self.written.as_ref(),
        };
        let status = status(&facts);
        if self.written.as_ref() == Some(&status) {
            return;
        }
        let pods: Api<Pod> = Api::namespaced(self.context.client.clone(), &self.namespace);
        // The identifier makes the server refuse it for a new pod of the same name.
        let patch = serde_json::json!({ "metadata": { "uid": self.uid }, "status": status });
        match pods.patch_status(&self.name, &PatchParams::default(), &Patch::Merge(patch)).await {
            Ok(_) => {
                let over = matches!(status.phase.as_deref(), Some("Succeeded" | "Failed"));
                self.written = Some(status);
                if over && !self.over {
                    self.over = true;
                    self.clear_away();
                }
            }
            Err(kube::Error::Api(error)) if error.code == 404 || error.code == 409 => {}
            Err(error) => tracing::warn!(pod = %self.name, %error, "the status of a pod could not be written"),
        }
    }

    /// Removes everything but the logs of a pod whose containers will never run again.
    fn clear_away(&self) {
        let dir = self.context.settings.pod_dir(&self.uid);
        tokio::task::spawn_blocking(move || remove_tree(&dir));
    }

    /// Removes a pod that was marked as deleted once nothing runs any more.
    async fn deleted_when_stopped(&self) -> bool {
        if self.pod.metadata.deletion_timestamp.is_none() || self.slots.iter().any(|slot| slot.run.is_some()) {
            return false;
        }
        let pods: Api<Pod> = Api::namespaced(self.context.client.clone(), &self.namespace);
        let params = DeleteParams {
            grace_period_seconds: Some(0),
            preconditions: Some(Preconditions { uid: Some(self.uid.clone()), resource_version: None }),
            ..DeleteParams::default()
        };
        match pods.delete(&self.name, &params).await {
            Err(kube::Error::Api(error)) if error.code != 404 && error.code != 409 => {
                tracing::warn!(pod = %self.name, %error, "a stopped pod could not be deleted");
            }
            Err(kube::Error::Api(_)) | Ok(_) => {}
            Err(error) => tracing::warn!(pod = %self.name, %error, "a stopped pod could not be deleted"),
        }
        // A finalizer may keep the object; its life here is over all the same.
        true
    }
}

/// Init containers are never started again after success.
fn only_failed(policy: Restart) -> Restart {
    match policy {
        Restart::Always | Restart::OnFailure => Restart::OnFailure,
        Restart::Never => Restart::Never,
    }
}

/// Asks a container to end. One that does not listen for that would be killed after its time: it is killed now.
fn order_end(run: &run::Run) {
    let Some(pid) = run.pid else { return };
    let order = if listens_to_terminate(pid) { Order::Terminate } else { Order::Kill };
    run.orders.send(order).ok();
}
