//! Starting the containers of a pod, and what their runs report.

use std::path::Path;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container, ContainerStateTerminated};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::super::container::{self, ConfigProblem, Surroundings};
use super::super::isolation::Isolation;
use super::super::probes::Probes;
use super::super::process::listens_to_terminate;
use super::super::run::{self, Event, Happening};
use super::super::state_dir::{POD_MARKER, remove_tree};
use super::super::status::{Restart, State};
use super::super::wire::Order;
use super::objects::API_ACCESS;
use super::slot::Wish;
use super::{PodLife, objects};

/// What the message of a container that could not be started begins with.
const NOT_STARTED: &str = "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: ";

/// Tells Tekton's programs where the directories are which they know without being told.
const PATH_PREFIX: &str = "TEKTON_PATH_PREFIX";
/// Where `tekton` finds the pod's service account if that does not lie at its usual path.
const SERVICE_ACCOUNT_DIR: &str = "TEKTON_SERVICE_ACCOUNT_DIR";

impl PodLife {
    pub(super) async fn start_if_due(&mut self, index: usize, policy: Restart) {
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        let names = (self.name.as_str(), self.namespace.as_str(), self.uid.as_str());
        let container = match index.checked_sub(self.init_count) {
            Some(main) => self.pod.spec.as_ref().and_then(|spec| spec.containers.get(main)),
            None => self
                .pod
                .spec
                .as_ref()
                .and_then(|spec| spec.init_containers.as_ref()?.get(index)),
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
            slot.record.state = State::Waiting {
                reason,
                message: Some(message),
            };
        }
    }

    async fn start(&mut self, index: usize, container: &Container) -> Result<(), ConfigProblem> {
        if matches!(
            self.slots.get(index).map(|slot| &slot.record.state),
            Some(State::Waiting {
                reason: "CreateContainerConfigError",
                ..
            })
        ) {
            self.objects = objects::fetch(&self.context, &self.pod)
                .await
                .map_err(|e| ConfigProblem(e.to_string()))?;
        }
        let Some(places) = self.places.clone() else {
            return Ok(());
        };
        let settings = &self.context.settings;
        let number = self.slots.get(index).map_or(0, |slot| slot.next_run);
        let pod_dir = settings.pod_dir(&self.uid);
        let directory = pod_dir
            .join("containers")
            .join(format!("{}-{number}", container.name));
        let base_env = self.base_env(&pod_dir, &directory);
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
        let log = self
            .context
            .logs
            .begin(
                &self.namespace,
                &self.name,
                &container.name,
                &settings.log_dir(&self.uid),
            )
            .map_err(failed)?;
        let mut run =
            run::start(&settings.shim, launch, log, index, number, self.events.clone()).map_err(failed)?;
        run.image = container.image.clone().unwrap_or_default();
        let id = format!("tekton-local://{}/{}-{number}", self.uid, container.name);
        if let Some(slot) = self.slots.get_mut(index) {
            slot.begin(run, id);
        }
        Ok(())
    }

    /// Variables that every container gets.
    fn base_env(&self, pod_dir: &Path, directory: &Path) -> Vec<(String, String)> {
        let settings = &self.context.settings;
        let hostname = self.pod.spec.as_ref().and_then(|spec| spec.hostname.as_deref());
        let mut env = settings.base_env(hostname.unwrap_or(&self.name));
        if settings.isolation == Isolation::None {
            let text = |path: &Path| path.to_string_lossy().into_owned();
            env.retain(|(name, _)| name != "HOME");
            env.push(("HOME".to_owned(), text(&directory.join("cwd"))));
            env.push((
                POD_MARKER.to_owned(),
                settings.shim.instance.to_string_lossy().into_owned(),
            ));
            // Mapped to where the files really lie, as every value is.
            env.push((SERVICE_ACCOUNT_DIR.to_owned(), API_ACCESS.to_owned()));
            env.push((PATH_PREFIX.to_owned(), text(&pod_dir.join("root"))));
        }
        env
    }

    /// Takes note of what happened to a container.
    pub(super) fn note(&mut self, event: Event) {
        let Event {
            slot: index,
            run,
            what,
        } = event;
        if self
            .slots
            .get(index)
            .is_none_or(|slot| slot.run.as_ref().is_none_or(|current| current.number != run))
        {
            return;
        }
        match what {
            Happening::Started { pid, at } => self.note_started(index, pid, at),
            Happening::Refused { message, at } => {
                let message = format!("{NOT_STARTED}{message}: unknown");
                self.finish(index, 128, "StartError", message, Timestamp::UNIX_EPOCH, at);
            }
            Happening::Exited { code, message, at } => {
                let started = match self.slots.get(index).map(|slot| &slot.record.state) {
                    Some(State::Running { since }) => *since,
                    _ => at,
                };
                let fall_back = self.container(index).is_some_and(|c| {
                    c.termination_message_policy.as_deref() == Some("FallbackToLogsOnError")
                });
                let message = if message.is_empty() && code != 0 && fall_back {
                    self.container(index)
                        .map(|c| self.context.logs.last_lines(&self.namespace, &self.name, &c.name))
                        .unwrap_or_default()
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
        let Some(container) = self.container(index).cloned() else {
            return;
        };
        let settings = self.context.settings.clone();
        let events = self.events.clone();
        let pod_dir = settings.pod_dir(&self.uid);
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
        let Some(run) = slot.run.as_mut() else { return };
        slot.record.state = State::Running { since: at };
        run.pid = Some(pid);
        let probes = Probes::of(&container, &settings.facts.address, &|words| {
            container::probe_command(&run.launch, &pod_dir, words)
        });
        if probes.is_empty() {
            slot.record.started = true;
            slot.record.ready = true;
        } else {
            let (number, execs) = (run.number, run.execs.clone());
            let watch = probes.watch(execs, move |what| {
                events
                    .send(Event {
                        slot: index,
                        run: number,
                        what,
                    })
                    .ok();
            });
            run.probes = Some(tokio::spawn(watch));
        }
        if run.kill_at.is_some() {
            // It was asked to end before it ran.
            order_end(run);
        }
    }

    fn finish(
        &mut self,
        index: usize,
        code: i32,
        reason: &str,
        message: String,
        started: Timestamp,
        at: Timestamp,
    ) {
        let Some(slot) = self.slots.get_mut(index) else {
            return;
        };
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
        let Some(places) = self.places.as_ref() else {
            return;
        };
        let pod_dir = self.context.settings.pod_dir(&self.uid);
        if let Err(error) = container::replace_in_scripts(&self.pod, places, &pod_dir) {
            tracing::warn!(pod = %self.name, %error, "paths in scripts could not be replaced");
        }
    }
}

/// Asks a container to end. One that does not listen for that would be killed after its time: it is killed now.
pub(super) fn order_end(run: &run::Run) {
    let Some(pid) = run.pid else { return };
    let order = if listens_to_terminate(pid) {
        Order::Terminate
    } else {
        Order::Kill
    };
    run.orders.send(order).ok();
}
