//! The row of a Pod: how many containers are ready, and the one word that tells its state.

use serde_json::{Value, json};

use super::{Heading, age, or_none, time_since};
use crate::api::json::{at, list, text};

/// Headings of Pods.
pub(super) fn headings() -> Vec<Heading> {
    let narrow = ["Name", "Ready", "Status", "Restarts", "Age"]
        .into_iter()
        .map(|name| (name, 0));
    let wide = ["IP", "Node", "Nominated Node", "Readiness Gates"]
        .into_iter()
        .map(|name| (name, 1));
    narrow
        .chain(wide)
        .map(|(name, priority)| Heading::new(name, "string", priority))
        .collect()
}

struct Facts {
    reason: String,
    restarts: i64,
    last_restart: Option<String>,
    ready: usize,
}

/// The row.
pub(super) fn cells(pod: &Value, now: jiff::Timestamp) -> Vec<Value> {
    let facts = facts(pod);
    let native = list(pod, &["spec", "initContainers"])
        .iter()
        .filter(|one| is_sidecar(one))
        .count();
    let total = list(pod, &["spec", "containers"]).len() + native;
    let restarts = match &facts.last_restart {
        Some(time) if facts.restarts > 0 => format!("{} ({} ago)", facts.restarts, time_since(time, now)),
        _ => facts.restarts.to_string(),
    };
    let ready = |gate: &Value| {
        list(pod, &["status", "conditions"]).iter().any(|condition| {
            text(condition, &["type"]) == text(gate, &["conditionType"])
                && text(condition, &["status"]) == "True"
        })
    };
    let gates = list(pod, &["spec", "readinessGates"]);
    let gate_text = if gates.is_empty() {
        "<none>".to_owned()
    } else {
        format!(
            "{}/{}",
            gates.iter().filter(|gate| ready(gate)).count(),
            gates.len()
        )
    };
    vec![
        json!(text(pod, &["metadata", "name"])),
        json!(format!("{}/{total}", facts.ready)),
        json!(facts.reason),
        json!(restarts),
        json!(age(pod, now)),
        json!(or_none(pod, &["status", "podIP"], "<none>")),
        json!(or_none(pod, &["spec", "nodeName"], "<none>")),
        json!(or_none(pod, &["status", "nominatedNodeName"], "<none>")),
        json!(gate_text),
    ]
}

fn is_sidecar(container: &Value) -> bool {
    text(container, &["restartPolicy"]) == "Always"
}

fn count(status: &Value) -> i64 {
    at(status, &["restartCount"]).and_then(Value::as_i64).unwrap_or(0)
}

fn last_end(status: &Value) -> Option<String> {
    let time = text(status, &["lastState", "terminated", "finishedAt"]);
    (!time.is_empty()).then(|| time.to_owned())
}

/// The word for a container that has ended.
fn ended(terminated: &Value) -> String {
    let reason = text(terminated, &["reason"]);
    let signal = at(terminated, &["signal"]).and_then(Value::as_i64).unwrap_or(0);
    match (reason, signal) {
        ("", 0) => format!(
            "ExitCode:{}",
            at(terminated, &["exitCode"]).and_then(Value::as_i64).unwrap_or(0)
        ),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn facts(pod: &Value) -> Facts {
    let mut facts = Facts {
        reason: text(pod, &["status", "phase"]).to_owned(),
        restarts: 0,
        last_restart: None,
        ready: 0,
    };
    if !text(pod, &["status", "reason"]).is_empty() {
        text(pod, &["status", "reason"]).clone_into(&mut facts.reason);
    }
    let gated = list(pod, &["status", "conditions"])
        .iter()
        .any(|one| text(one, &["type"]) == "PodScheduled" && text(one, &["reason"]) == "SchedulingGated");
    if gated {
        "SchedulingGated".clone_into(&mut facts.reason);
    }
    let initialising = init_facts(pod, &mut facts);
    if !initialising || is_initialised(pod) {
        main_facts(pod, &mut facts);
    }
    if at(pod, &["metadata", "deletionTimestamp"]).is_some() {
        if text(pod, &["status", "reason"]) == "NodeLost" {
            "Unknown".clone_into(&mut facts.reason);
        } else if !matches!(text(pod, &["status", "phase"]), "Succeeded" | "Failed") {
            "Terminating".clone_into(&mut facts.reason);
        }
    }
    facts
}

fn is_initialised(pod: &Value) -> bool {
    list(pod, &["status", "conditions"])
        .iter()
        .any(|one| text(one, &["type"]) == "Initialized" && text(one, &["status"]) == "True")
}

/// Walks the init containers; true while one of them is at work or has failed.
fn init_facts(pod: &Value, facts: &mut Facts) -> bool {
    let specs = list(pod, &["spec", "initContainers"]);
    for (index, status) in list(pod, &["status", "initContainerStatuses"]).iter().enumerate() {
        let name = text(status, &["name"]);
        let sidecar = specs
            .iter()
            .any(|spec| text(spec, &["name"]) == name && is_sidecar(spec));
        facts.restarts += count(status);
        facts.last_restart = facts.last_restart.take().max(last_end(status));
        let terminated = at(status, &["state", "terminated"]);
        let waiting = text(status, &["state", "waiting", "reason"]);
        if terminated.is_some_and(|end| at(end, &["exitCode"]).and_then(Value::as_i64).unwrap_or(0) == 0) {
            continue;
        }
        if sidecar && at(status, &["started"]).and_then(Value::as_bool) == Some(true) {
            if at(status, &["ready"]).and_then(Value::as_bool) == Some(true) {
                facts.ready += 1;
            }
            continue;
        }
        facts.reason = match terminated {
            Some(end) => format!("Init:{}", ended(end)),
            None if !waiting.is_empty() && waiting != "PodInitializing" => format!("Init:{waiting}"),
            None => format!("Init:{index}/{}", specs.len()),
        };
        return true;
    }
    false
}

fn main_facts(pod: &Value, facts: &mut Facts) {
    let mut running = false;
    for status in list(pod, &["status", "containerStatuses"]).iter().rev() {
        facts.restarts += count(status);
        facts.last_restart = facts.last_restart.take().max(last_end(status));
        let ready = at(status, &["ready"]).and_then(Value::as_bool) == Some(true);
        let waiting = text(status, &["state", "waiting", "reason"]);
        if !waiting.is_empty() {
            waiting.clone_into(&mut facts.reason);
        } else if let Some(end) = at(status, &["state", "terminated"]) {
            facts.reason = ended(end);
        } else if ready && at(status, &["state", "running"]).is_some() {
            running = true;
            facts.ready += 1;
        }
    }
    if facts.reason == "Completed" && running {
        let pod_ready = list(pod, &["status", "conditions"])
            .iter()
            .any(|one| text(one, &["type"]) == "Ready" && text(one, &["status"]) == "True");
        (if pod_ready { "Running" } else { "NotReady" }).clone_into(&mut facts.reason);
    }
}
