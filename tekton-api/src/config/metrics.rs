//! Metrics: Tekton's entries of the ConfigMap `config-observability`.
//!
//! Levels and types are not checked, as upstream does not: what is unknown fails where it is used.
//! Upstream counterpart: `pkg/apis/config/metrics.go`.

use super::parse::Data;

/// How durations are measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DurationType {
    /// As a distribution.
    Histogram,
    /// As the last value.
    LastValue,
    /// A text that is neither.
    Other(String),
}

impl DurationType {
    /// The text in the ConfigMap.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Histogram => "histogram",
            Self::LastValue => "lastvalue",
            Self::Other(text) => text,
        }
    }

    fn from_data(data: &Data, key: &str) -> Self {
        match data.get(key).map(String::as_str) {
            None | Some("histogram") => Self::Histogram,
            Some("lastvalue") => Self::LastValue,
            Some(other) => Self::Other(other.to_owned()),
        }
    }
}

/// What metrics are told apart by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// Level of TaskRun metrics: `taskrun`, `task` or `namespace`.
    pub taskrun_level: String,
    /// Level of PipelineRun metrics: `pipelinerun`, `pipeline` or `namespace`.
    pub pipelinerun_level: String,
    /// Level of the count of running PipelineRuns; empty counts all together.
    pub running_pipelinerun_level: String,
    /// How durations of TaskRuns are measured.
    pub duration_taskrun_type: DurationType,
    /// How durations of PipelineRuns are measured.
    pub duration_pipelinerun_type: DurationType,
    /// Counts carry the reason.
    pub count_with_reason: bool,
    /// Counts of throttled TaskRuns carry the namespace.
    pub throttle_with_namespace: bool,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::from_data(&Data::new())
    }
}

impl Metrics {
    /// Reads the entries of the ConfigMap.
    pub fn from_data(data: &Data) -> Self {
        let text = |key: &str, default: &str| data.get(key).map_or(default, String::as_str).to_owned();
        // Anything but "false" switches on.
        let flag = |key: &str| data.get(key).is_some_and(|text| text != "false");
        Self {
            taskrun_level: text("metrics.taskrun.level", "task"),
            pipelinerun_level: text("metrics.pipelinerun.level", "pipeline"),
            running_pipelinerun_level: text("metrics.running-pipelinerun.level", ""),
            duration_taskrun_type: DurationType::from_data(data, "metrics.taskrun.duration-type"),
            duration_pipelinerun_type: DurationType::from_data(data, "metrics.pipelinerun.duration-type"),
            count_with_reason: flag("metrics.count.enable-reason"),
            throttle_with_namespace: flag("metrics.taskrun.throttle.enable-namespace"),
        }
    }
}
