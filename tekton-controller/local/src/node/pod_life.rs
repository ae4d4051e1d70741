//! The life of one pod: volumes, init containers in order, all containers at once, restarts, deadline, deletion.
//!
//! An actor: it gets the pod as it changes and events of its containers, starts and stops what has to be, and writes
//! the status when it is another. What a container's status means is left to `status`.

mod containers;
mod objects;
mod report;
mod slot;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container, Pod, PodStatus};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::context::{Context, ended};
use super::run::Event;
use super::state_dir::remove_tree;
use super::status::{Record, Restart, Verdict, is_sidecar, restart_policy};
use super::volumes::Places;
use super::wire::Order;
use containers::order_end;
use objects::Objects;
use slot::Slot;

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
        let reason = if init.is_empty() {
            "ContainerCreating"
        } else {
            "PodInitializing"
        };
        let slots: Vec<Slot> = init
            .iter()
            .chain(&spec.containers)
            .map(|container| Slot::new(Record::new(reason, container)))
            .collect();
        let deadline = spec
            .active_deadline_seconds
            .and_then(|seconds| u64::try_from(seconds).ok());
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

    async fn run(
        &mut self,
        mut updates: watch::Receiver<Option<Arc<Pod>>>,
        mut events: mpsc::UnboundedReceiver<Event>,
    ) {
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
        let logs = (
            self.context.logs.clone(),
            self.context.settings.log_dir(&self.uid),
        );
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
            self.start_if_due(
                index,
                if sidecar {
                    Restart::Always
                } else {
                    only_failed(policy)
                },
            )
            .await;
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
        let all_over = self
            .slots
            .iter()
            .skip(self.init_count)
            .all(|slot| slot.run.is_none() && slot.record.exit_code().is_some());
        if all_over {
            self.stop_all(self.grace());
        }
    }

    /// Takes the pod as it is now.
    async fn update(&mut self, pod: &Pod) {
        let before = std::mem::replace(
            &mut self.pod,
            objects::with_api_access(pod, self.context.settings.api.is_some()),
        );
        if pod.metadata.deletion_timestamp.is_some() {
            self.stop_all(self.grace());
            return;
        }
        for index in 0..self.slots.len() {
            let wanted = self
                .container(index)
                .and_then(|container| container.image.clone())
                .unwrap_or_default();
            let replaced = self
                .slots
                .get_mut(index)
                .is_some_and(|slot| slot.replace_image(&wanted));
            if replaced {
                self.terminate(index, self.grace());
            }
        }
        if before.metadata.annotations != self.pod.metadata.annotations
            || before.metadata.labels != self.pod.metadata.labels
        {
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
            self.objects = objects::fetch(&self.context, &self.pod)
                .await
                .map_err(|error| error.to_string())?;
        }
        self.objects.provide(&self.context, &self.pod, &self.uid)
    }

    /// Time a container gets to end.
    fn grace(&self) -> i64 {
        let spec = self
            .pod
            .spec
            .as_ref()
            .and_then(|spec| spec.termination_grace_period_seconds);
        self.pod
            .metadata
            .deletion_grace_period_seconds
            .or(spec)
            .unwrap_or(DEFAULT_GRACE)
    }

    /// Asks all containers to end; nothing is started any more.
    fn stop_all(&mut self, grace: i64) {
        self.stopping = true;
        for index in (0..self.slots.len()).rev() {
            self.terminate(index, grace);
        }
    }

    fn terminate(&mut self, index: usize, grace: i64) {
        let Some(run) = self.slots.get_mut(index).and_then(|slot| slot.run.as_mut()) else {
            return;
        };
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
        self.slots
            .iter()
            .filter_map(|slot| slot.next_wake(self.stopping))
            .chain(deadline)
            .min()
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
}

/// Init containers are never started again after success.
fn only_failed(policy: Restart) -> Restart {
    match policy {
        Restart::Always | Restart::OnFailure => Restart::OnFailure,
        Restart::Never => Restart::Never,
    }
}
