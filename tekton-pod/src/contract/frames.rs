//! Lines by which the results sidecar tells results and artifacts through its log.
//!
//! A line is a JSON object with `name`, `value` and `type`. Upstream counterpart:
//! `internal/sidecarlogresults` (`SidecarLogResult`, `extractResultsFromLogs`).

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use super::json;
use super::result::{ResultType, RunResult};

/// Kind of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FrameType {
    /// A result of the Task.
    Task,
    /// A result of a step; its name is `STEP.RESULT`.
    Step,
    /// The artifacts of a step; the name is that of the container.
    StepArtifact,
    /// The artifacts of the Task.
    TaskArtifact,
}

impl FrameType {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "task" => Some(Self::Task),
            "step" => Some(Self::Step),
            "stepArtifact" => Some(Self::StepArtifact),
            "taskArtifact" => Some(Self::TaskArtifact),
            _ => None,
        }
    }

    fn result_type(self) -> ResultType {
        match self {
            Self::Task => ResultType::TaskRun,
            Self::Step => ResultType::Step,
            Self::StepArtifact => ResultType::StepArtifacts,
            Self::TaskArtifact => ResultType::TaskRunArtifacts,
        }
    }
}

/// One line.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Frame {
    /// Name of the result, or of the container.
    pub name: String,
    /// The value.
    pub value: String,
    /// Kind of the line.
    #[serde(rename = "type")]
    pub frame_type: FrameType,
}

impl Frame {
    /// A result of the Task.
    pub fn task_result(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            frame_type: FrameType::Task,
        }
    }

    /// A result of a step.
    pub fn step_result(step: &str, name: &str, value: impl Into<String>) -> Self {
        Self {
            name: format!("{step}.{name}"),
            value: value.into(),
            frame_type: FrameType::Step,
        }
    }

    /// The artifacts of a step, as JSON.
    pub fn step_artifacts(container: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: container.into(),
            value: value.into(),
            frame_type: FrameType::StepArtifact,
        }
    }

    /// The line, with its end.
    pub fn encode(&self) -> Result<String, serde_json::Error> {
        json::to_string(self).map(|line| line + "\n")
    }
}

/// What is wrong with a log.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum FrameError {
    /// A line is longer than results may be.
    #[error("{length} bytes results size exceeds configured limit of {limit} bytes")]
    SizeExceeded {
        /// Length of the line in bytes.
        length: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A line is no JSON object of the right shape.
    #[error("invalid result \"{name}\": {cause}")]
    Invalid {
        /// Name in the line, as far as it could be read.
        name: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The type of a line is not known.
    #[error("invalid sidecar result type {0}. Must be task or step or stepArtifact")]
    UnknownType(String),
    /// The name of a step result does not tell the step.
    #[error("invalid string {0} : expected somtthing that looks like <stepName>.<resultName>")]
    StepName(String),
}

/// Reads a whole log. Lines before one that is too long are kept; a line that cannot be read voids all.
pub fn parse_log(log: &[u8], limit: usize) -> (Vec<RunResult>, Option<FrameError>) {
    let mut entries = Vec::new();
    for line in log.split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > limit {
            return (
                entries,
                Some(FrameError::SizeExceeded {
                    length: line.len(),
                    limit,
                }),
            );
        }
        match parse_line(&json::text(line.to_vec())) {
            Ok(entry) => entries.push(entry),
            Err(error) => return (Vec::new(), Some(error)),
        }
    }
    (entries, None)
}

/// Reads one line.
pub fn parse_line(line: &str) -> Result<RunResult, FrameError> {
    let invalid = |name: &str, cause: String| FrameError::Invalid {
        name: name.to_owned(),
        cause,
    };
    let fields = match json::parse(line).map_err(|cause| invalid("", cause))? {
        Value::Object(fields) => fields,
        Value::Null => serde_json::Map::new(),
        other => {
            let kind = json::kind(&other);
            let go_type = "sidecarlogresults.SidecarLogResult";
            return Err(invalid(
                "",
                format!("json: cannot unmarshal {kind} into Go value of type {go_type}"),
            ));
        }
    };
    let (mut name, mut value, mut frame_type) = (String::new(), String::new(), String::new());
    let mut wrong = None;
    for (field, found) in &fields {
        let (into, go_type) = match field.to_ascii_lowercase().as_str() {
            "name" => (&mut name, "string"),
            "value" => (&mut value, "string"),
            "type" => (&mut frame_type, "sidecarlogresults.SidecarLogResultType"),
            _ => continue,
        };
        match found {
            Value::Null => {}
            Value::String(text) => into.clone_from(text),
            other => {
                let kind = json::kind(other);
                wrong.get_or_insert(format!(
                    "json: cannot unmarshal {kind} into Go struct field .{field} of type {go_type}"
                ));
            }
        }
    }
    if let Some(cause) = wrong {
        return Err(invalid(&name, cause));
    }
    let frame_type = FrameType::from_name(&frame_type).ok_or(FrameError::UnknownType(frame_type))?;
    Ok(RunResult::new(name, value, frame_type.result_type()))
}

/// Step and result from the name of a line for a step's result.
pub fn split_step_result(name: &str) -> Result<(&str, &str), FrameError> {
    name.split_once('.')
        .ok_or_else(|| FrameError::StepName(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_as_entries() {
        let log = [
            Frame::task_result("digest", "<a&b>"),
            Frame::step_result("build", "image.name", "x\ny"),
            Frame::step_artifacts("step-build", "{}"),
        ]
        .map(|frame| frame.encode().unwrap())
        .concat();
        assert!(
            log.starts_with(
                "{\"name\":\"digest\",\"value\":\"\\u003ca\\u0026b\\u003e\",\"type\":\"task\"}\n"
            ),
            "{log}"
        );
        let (entries, error) = parse_log(log.as_bytes(), 4096);
        assert_eq!(error, None);
        assert_eq!(
            entries,
            [
                RunResult::new("digest", "<a&b>", ResultType::TaskRun),
                RunResult::new("build.image.name", "x\ny", ResultType::Step),
                RunResult::new("step-build", "{}", ResultType::StepArtifacts),
            ]
        );
        assert_eq!(split_step_result("build.image.name"), Ok(("build", "image.name")));
    }

    #[test]
    fn a_long_line_keeps_what_came_before() {
        let log = format!(
            "{}{}",
            Frame::task_result("a", "1").encode().unwrap(),
            "x".repeat(100)
        );
        let (entries, error) = parse_log(log.as_bytes(), 50);
        assert_eq!(entries.len(), 1);
        assert_eq!(
            error.unwrap().to_string(),
            "100 bytes results size exceeds configured limit of 50 bytes"
        );
    }

    #[test]
    fn a_line_that_cannot_be_read_voids_all() {
        for (line, words) in [
            (
                "oops",
                "invalid result \"\": invalid character 'o' looking for beginning of value",
            ),
            (
                "{\"name\":\"n\",\"value\":\"v\",\"type\":\"tusk\"}",
                "invalid sidecar result type tusk. Must be task or step or stepArtifact",
            ),
            (
                "{\"name\":\"n\",\"value\":1,\"type\":\"task\"}",
                "invalid result \"n\": json: cannot unmarshal number into Go struct field .value of type string",
            ),
        ] {
            let log = format!("{}{line}\n", Frame::task_result("a", "1").encode().unwrap());
            let (entries, error) = parse_log(log.as_bytes(), 500);
            assert_eq!((entries.len(), error.unwrap().to_string().as_str()), (0, words));
        }
    }
}
