//! How a run ended, read from its object.

use k8s_openapi::jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::Outcome;

/// The end of a TaskRun or PipelineRun.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunSummary {
    /// TaskRun or PipelineRun.
    pub kind: String,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Whether it succeeded.
    pub succeeded: bool,
    /// Reason of the condition.
    pub reason: String,
    /// Message of the condition.
    pub message: String,
    /// Seconds from start to completion.
    pub seconds: Option<f64>,
    /// Results in order: name and value.
    pub results: Vec<ResultLine>,
    /// Pipeline tasks that were skipped: name and reason.
    pub skipped: Vec<Skipped>,
}

/// A result of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ResultLine {
    /// Name.
    pub name: String,
    /// String, array or object.
    pub value: Value,
}

/// A skipped pipeline task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Skipped {
    /// Pipeline task.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Status, reason and message of the condition `Succeeded`.
pub(super) fn condition(object: &Value) -> Option<(&str, &str, &str)> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    let found = conditions
        .iter()
        .find(|c| c.get("type").and_then(Value::as_str) == Some("Succeeded"))?;
    let text = |key: &str| found.get(key).and_then(Value::as_str).unwrap_or_default();
    Some((text("status"), text("reason"), text("message")))
}

impl RunSummary {
    /// The summary of a run that has ended; `None` while it has not.
    pub(super) fn of(object: &Value) -> Option<Self> {
        let (status, reason, message) = condition(object)?;
        if status == "Unknown" {
            return None;
        }
        let text = |path: &str| {
            object
                .pointer(path)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let list = |path: &str| {
            object
                .pointer(path)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default()
        };
        let field = |item: &Value, key: &str| {
            item.get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let time = |path: &str| text(path).parse::<Timestamp>().ok();
        let results = list("/status/results");
        Some(Self {
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            succeeded: status == "True",
            reason: reason.to_owned(),
            message: message.to_owned(),
            seconds: time("/status/startTime")
                .zip(time("/status/completionTime"))
                .map(|(start, end)| end.duration_since(start).as_secs_f64()),
            results: results
                .iter()
                .map(|item| ResultLine {
                    name: field(item, "name"),
                    value: item.get("value").cloned().unwrap_or_default(),
                })
                .collect(),
            skipped: list("/status/skippedTasks")
                .iter()
                .map(|item| Skipped {
                    name: field(item, "name"),
                    reason: field(item, "reason"),
                })
                .collect(),
        })
    }

    /// What the end means for the exit code.
    pub(super) fn outcome(&self) -> Outcome {
        let timed_out = [
            tekton_api::reasons::TaskRunReason::TimedOut.as_str(),
            tekton_api::reasons::PipelineRunReason::TimedOut.as_str(),
        ];
        if self.succeeded {
            Outcome::Succeeded
        } else if timed_out.contains(&self.reason.as_str()) {
            Outcome::TimedOut
        } else {
            Outcome::Failed
        }
    }

    /// Lines for people.
    pub(super) fn text(&self) -> String {
        let verdict = if self.succeeded { "succeeded" } else { "failed" };
        let took = self
            .seconds
            .map(|seconds| format!(" in {seconds}s"))
            .unwrap_or_default();
        let mut out = format!(
            "{} {}/{} {verdict}{took}: {}",
            self.kind, self.namespace, self.name, self.reason
        );
        if !self.message.is_empty() {
            out.push_str(&format!(": {}", self.message));
        }
        for skipped in &self.skipped {
            out.push_str(&format!("\n  skipped {}: {}", skipped.name, skipped.reason));
        }
        for result in &self.results {
            let value = match &result.value {
                Value::String(text) => text.trim_end_matches('\n').to_owned(),
                other => other.to_string(),
            };
            out.push_str(&format!("\n  result {} = {value}", result.name));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_run_is_summed_up_when_it_has_ended() {
        let mut run = json!({"kind": "TaskRun", "metadata": {"name": "r", "namespace": "n"}, "status": {
            "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:02Z",
            "conditions": [{"type": "Succeeded", "status": "Unknown", "reason": "Running"}],
            "results": [{"name": "digest", "type": "string", "value": "sha256:1\n"}]}});
        assert!(RunSummary::of(&run).is_none());
        run["status"]["conditions"][0] = json!({"type": "Succeeded", "status": "False", "reason": "TaskRunTimeout", "message": "too long"});
        let summary = RunSummary::of(&run).unwrap();
        assert_eq!(summary.outcome(), Outcome::TimedOut);
        assert_eq!(
            summary.text(),
            "TaskRun n/r failed in 2s: TaskRunTimeout: too long\n  result digest = sha256:1"
        );
    }
}
