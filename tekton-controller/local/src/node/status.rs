//! The status of a pod, from what is known of its containers; the rules are the kubelet's.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{
    Container, ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting,
    ContainerStatus, HostIP, Pod, PodCondition, PodIP, PodStatus,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::fields::NodeFacts;

/// What a container does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    /// It does not run yet, or not at the moment.
    Waiting {
        /// Why.
        reason: &'static str,
        /// In more words.
        message: Option<String>,
    },
    /// It runs.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// It has ended.
    Terminated(Box<ContainerStateTerminated>),
}

/// All that is known of a container.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    /// What it does.
    pub state: State,
    /// How it ended the last time.
    pub last: Option<Box<ContainerStateTerminated>>,
    /// How often it was started again.
    pub restarts: i32,
    /// Its start-up probe has passed.
    pub started: bool,
    /// Its readiness probe passes.
    pub ready: bool,
    /// The image it runs or ran.
    pub image: String,
    /// Identifier of the run.
    pub id: Option<String>,
}

impl Record {
    pub(super) fn new(reason: &'static str, container: &Container) -> Self {
        Self {
            state: State::Waiting {
                reason,
                message: None,
            },
            last: None,
            restarts: 0,
            started: false,
            ready: false,
            image: container.image.clone().unwrap_or_default(),
            id: None,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.state, State::Running { .. })
    }

    pub(super) fn exit_code(&self) -> Option<i32> {
        match &self.state {
            State::Terminated(end) => Some(end.exit_code),
            State::Waiting { .. } | State::Running { .. } => None,
        }
    }
}

/// When containers are started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restart {
    Always,
    OnFailure,
    Never,
}

/// The restart policy of a pod.
pub(super) fn restart_policy(pod: &Pod) -> Restart {
    match pod.spec.as_ref().and_then(|spec| spec.restart_policy.as_deref()) {
        Some("Never") => Restart::Never,
        Some("OnFailure") => Restart::OnFailure,
        _ => Restart::Always,
    }
}

/// Whether an init container keeps running beside the others.
pub(super) fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

/// Why the whole pod was ended, whatever its containers say.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Verdict {
    /// Of the status.
    pub reason: String,
    /// In more words.
    pub message: String,
}

/// What a status is made from.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    pub pod: &'a Pod,
    /// One for each init container.
    pub init: &'a [Record],
    /// One for each container.
    pub main: &'a [Record],
    pub node: &'a NodeFacts,
    pub started: Timestamp,
    pub now: Timestamp,
    pub verdict: Option<&'a Verdict>,
    /// The status before: conditions keep their time as long as they do not change.
    pub before: Option<&'a PodStatus>,
}

/// The status a pod should have.
pub(super) fn status(facts: &Facts<'_>) -> PodStatus {
    let empty = Vec::new();
    let spec = facts.pod.spec.as_ref();
    let init = spec
        .and_then(|spec| spec.init_containers.as_ref())
        .unwrap_or(&empty);
    let main = spec.map_or(&empty, |spec| &spec.containers);
    let phase = phase(facts, init);
    let address = Some(facts.node.address.clone());
    PodStatus {
        phase: Some(phase.to_owned()),
        conditions: Some(conditions(facts, init, main, phase)),
        host_ip: address.clone(),
        host_ips: Some(vec![HostIP {
            ip: facts.node.address.clone(),
        }]),
        pod_ip: address,
        pod_ips: Some(vec![PodIP {
            ip: facts.node.address.clone(),
        }]),
        start_time: Some(Time(facts.started)),
        init_container_statuses: (!init.is_empty()).then(|| {
            init.iter()
                .zip(facts.init)
                .map(|(c, r)| container_status(c, r, true))
                .collect()
        }),
        container_statuses: Some(
            main.iter()
                .zip(facts.main)
                .map(|(c, r)| container_status(c, r, false))
                .collect(),
        ),
        qos_class: facts
            .before
            .and_then(|status| status.qos_class.clone())
            .or_else(|| Some(qos_class(init.iter().chain(main)).to_owned())),
        reason: facts.verdict.map(|verdict| verdict.reason.clone()),
        message: facts.verdict.map(|verdict| verdict.message.clone()),
        ..PodStatus::default()
    }
}

/// Whether init containers are done: ended well, or started if they keep running.
pub(super) fn init_done(init: &[Container], records: &[Record]) -> bool {
    init.iter().zip(records).all(|(container, record)| {
        if is_sidecar(container) {
            record.started || record.exit_code().is_some()
        } else {
            record.exit_code() == Some(0)
        }
    })
}

fn phase(facts: &Facts<'_>, init: &[Container]) -> &'static str {
    let runs_any = facts.main.iter().chain(facts.init).any(Record::is_running);
    if facts.verdict.is_some() && !runs_any {
        return "Failed";
    }
    let policy = restart_policy(facts.pod);
    if !init_done(init, facts.init) {
        let failed = init
            .iter()
            .zip(facts.init)
            .any(|(c, r)| !is_sidecar(c) && r.exit_code().is_some_and(|code| code != 0));
        return if failed && policy == Restart::Never && !runs_any {
            "Failed"
        } else {
            "Pending"
        };
    }
    if facts
        .main
        .iter()
        .any(|r| matches!(r.state, State::Waiting { .. }) && r.last.is_none())
    {
        return "Pending";
    }
    let ended: Vec<i32> = facts.main.iter().filter_map(Record::exit_code).collect();
    if ended.len() < facts.main.len() || runs_any {
        return "Running";
    }
    let failed = ended.iter().any(|code| *code != 0);
    match (policy, failed) {
        // Only a pod that is being deleted stays ended with this policy.
        (Restart::Always, _) | (Restart::OnFailure, true)
            if facts.pod.metadata.deletion_timestamp.is_none() =>
        {
            "Running"
        }
        (_, true) => "Failed",
        (_, false) => "Succeeded",
    }
}

fn conditions(facts: &Facts<'_>, init: &[Container], main: &[Container], phase: &str) -> Vec<PodCondition> {
    let completed = phase == "Succeeded";
    let failed = phase == "Failed";
    let names = |containers: &[Container],
                 records: &[Record],
                 ok: &dyn Fn(&Container, &Record) -> bool|
     -> Vec<String> {
        containers
            .iter()
            .zip(records)
            .filter(|(c, r)| !ok(c, r))
            .map(|(c, _)| c.name.clone())
            .collect()
    };
    let incomplete = names(init, facts.init, &|c, r| {
        init_done(std::slice::from_ref(c), std::slice::from_ref(r))
    });
    let unready = {
        let mut unready = names(init, facts.init, &|c, r| !is_sidecar(c) || r.ready);
        unready.extend(names(main, facts.main, &|_, r| r.ready));
        unready
    };
    let initialized = if incomplete.is_empty() || completed {
        (true, completed.then_some("PodCompleted"), None)
    } else {
        (
            false,
            Some("ContainersNotInitialized"),
            Some(format!(
                "containers with incomplete status: [{}]",
                incomplete.join(" ")
            )),
        )
    };
    let ready = if completed {
        (false, Some("PodCompleted"), None)
    } else if failed {
        (false, Some("PodFailed"), None)
    } else if unready.is_empty() {
        (true, None, None)
    } else {
        (
            false,
            Some("ContainersNotReady"),
            Some(format!("containers with unready status: [{}]", unready.join(" "))),
        )
    };
    let sandbox = (!completed && !failed, None, None);
    [
        ("PodReadyToStartContainers", sandbox),
        ("Initialized", initialized),
        ("Ready", ready.clone()),
        ("ContainersReady", ready),
        ("PodScheduled", (true, None, None)),
    ]
    .into_iter()
    .map(|(type_, (holds, reason, message))| condition(facts, type_, holds, reason, message))
    .collect()
}

fn condition(
    facts: &Facts<'_>,
    type_: &str,
    holds: bool,
    reason: Option<&str>,
    message: Option<String>,
) -> PodCondition {
    let status = if holds { "True" } else { "False" };
    let before = facts
        .before
        .and_then(|status| status.conditions.iter().flatten().find(|c| c.type_ == type_));
    let since = before
        .filter(|before| before.status == status)
        .and_then(|before| before.last_transition_time.clone());
    PodCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason: reason.map(str::to_owned),
        message,
        last_transition_time: since.or(Some(Time(facts.now))),
        ..PodCondition::default()
    }
}

fn container_status(container: &Container, record: &Record, init: bool) -> ContainerStatus {
    let state = match &record.state {
        State::Waiting { reason, message } => ContainerState {
            waiting: Some(ContainerStateWaiting {
                reason: Some((*reason).to_owned()),
                message: message.clone(),
            }),
            ..ContainerState::default()
        },
        State::Running { since } => ContainerState {
            running: Some(ContainerStateRunning {
                started_at: Some(Time(*since)),
            }),
            ..ContainerState::default()
        },
        State::Terminated(end) => ContainerState {
            terminated: Some((**end).clone()),
            ..ContainerState::default()
        },
    };
    let done = init && !is_sidecar(container);
    ContainerStatus {
        name: container.name.clone(),
        image: record.image.clone(),
        image_id: if record.id.is_some() {
            record.image.clone()
        } else {
            String::new()
        },
        container_id: record.id.clone(),
        ready: if done {
            record.exit_code() == Some(0)
        } else {
            record.ready
        },
        started: Some(record.started && record.is_running()),
        restart_count: record.restarts,
        state: Some(state),
        last_state: record.last.as_ref().map(|end| ContainerState {
            terminated: Some((**end).clone()),
            ..ContainerState::default()
        }),
        ..ContainerStatus::default()
    }
}

fn qos_class<'a>(containers: impl Iterator<Item = &'a Container>) -> &'static str {
    let (mut any, mut all) = (false, true);
    for container in containers {
        let resources = container.resources.as_ref();
        let limits = resources.and_then(|r| r.limits.as_ref());
        let requests = resources.and_then(|r| r.requests.as_ref());
        for name in ["cpu", "memory"] {
            let (limit, request) = (
                limits.and_then(|l| l.get(name)),
                requests.and_then(|r| r.get(name)),
            );
            any |= limit.is_some() || request.is_some();
            all &= limit.is_some() && request.is_none_or(|request| Some(request) == limit);
        }
    }
    match (any, all) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(code: Option<i32>) -> Record {
        let mut record = Record::new("ContainerCreating", &Container::default());
        record.state = match code {
            Some(code) => State::Terminated(Box::new(ContainerStateTerminated {
                exit_code: code,
                ..Default::default()
            })),
            None => State::Running {
                since: Timestamp::UNIX_EPOCH,
            },
        };
        record
    }

    fn waiting() -> Record {
        Record::new("PodInitializing", &Container::default())
    }

    fn check(policy: &str, sidecar: bool, init: &[Record], main: &[Record], want: &str) {
        let init_spec: Vec<_> = init
            .iter()
            .map(|_| json!({"name": "i", "restartPolicy": if sidecar { Some("Always") } else { None }}))
            .collect();
        let main_spec: Vec<_> = main.iter().map(|_| json!({"name": "c"})).collect();
        let pod: Pod = serde_json::from_value(
            json!({"spec": {"restartPolicy": policy, "initContainers": init_spec, "containers": main_spec}}),
        )
        .unwrap();
        let node = NodeFacts {
            name: "n".into(),
            address: "127.0.0.1".into(),
            cpu_milli: 1,
            memory: 1,
        };
        let facts = Facts {
            pod: &pod,
            init,
            main,
            node: &node,
            started: Timestamp::UNIX_EPOCH,
            now: Timestamp::UNIX_EPOCH,
            verdict: None,
            before: None,
        };
        let status = status(&facts);
        assert_eq!(status.phase.as_deref(), Some(want), "{policy} {init:?} {main:?}");
        let ready = status
            .conditions
            .unwrap()
            .into_iter()
            .find(|c| c.type_ == "Ready")
            .unwrap();
        assert_eq!(
            ready.reason.as_deref() == Some("PodCompleted"),
            want == "Succeeded"
        );
    }

    #[test]
    fn phases() {
        let started = Record {
            started: true,
            ..record(None)
        };
        check("Never", false, &[], &[waiting()], "Pending");
        check("Never", false, &[record(None)], &[waiting()], "Pending");
        check("Never", false, &[record(Some(1))], &[waiting()], "Failed");
        check("OnFailure", false, &[record(Some(1))], &[waiting()], "Pending");
        check(
            "Never",
            false,
            &[record(Some(0))],
            &[record(None), waiting()],
            "Pending",
        );
        check(
            "Never",
            false,
            &[record(Some(0))],
            &[record(None), record(Some(1))],
            "Running",
        );
        check("Never", false, &[], &[record(Some(0)), record(Some(1))], "Failed");
        check(
            "Never",
            false,
            &[],
            &[record(Some(0)), record(Some(0))],
            "Succeeded",
        );
        check("OnFailure", false, &[], &[record(Some(1))], "Running");
        check("OnFailure", false, &[], &[record(Some(0))], "Succeeded");
        check("Always", false, &[], &[record(Some(0))], "Running");
        check("Never", true, &[record(None)], &[waiting()], "Pending");
        check(
            "Never",
            true,
            std::slice::from_ref(&started),
            &[record(None)],
            "Running",
        );
        check(
            "Never",
            true,
            std::slice::from_ref(&started),
            &[record(Some(0))],
            "Running",
        );
        check(
            "Never",
            true,
            &[record(Some(137))],
            &[record(Some(0))],
            "Succeeded",
        );
    }
}
