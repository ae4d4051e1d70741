//! One entry of a termination message: a result, an artifact list, or a fact about the step itself.
//!
//! Upstream counterpart: `pkg/result/result.go`.

use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::Value;

use super::json;

/// What an entry is about.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ResultType {
    /// Nothing was said; left out when written.
    #[default]
    Unset,
    /// A result of the Task.
    TaskRun,
    /// A fact that only Tekton itself looks at: start time, exit code, reason.
    InternalTekton,
    /// A result of a step.
    Step,
    /// The artifacts of a step.
    StepArtifacts,
    /// The artifacts of the Task.
    TaskRunArtifacts,
    /// The type was given by a name that is not known.
    Unknown,
    /// The type was given by a number that is not known.
    Other(i64),
}

impl ResultType {
    /// The number on the wire.
    pub fn number(self) -> i64 {
        match self {
            Self::Unset => 0,
            Self::TaskRun => 1,
            Self::InternalTekton => 3,
            Self::Step => 4,
            Self::StepArtifacts => 5,
            Self::TaskRunArtifacts => 6,
            Self::Unknown => 10,
            Self::Other(number) => number,
        }
    }

    fn from_name(name: &str) -> Self {
        match name {
            "TaskRunResult" => Self::TaskRun,
            "InternalTektonResult" => Self::InternalTekton,
            "StepResult" => Self::Step,
            "StepArtifactsResult" => Self::StepArtifacts,
            "TaskRunArtifactsResult" => Self::TaskRunArtifacts,
            _ => Self::Unknown,
        }
    }

    fn decode(value: &Value) -> Result<Self, String> {
        let number = match value {
            Value::Null => return Ok(Self::Unset),
            Value::String(name) => return Ok(Self::from_name(name)),
            Value::Number(number) => match number.as_i64() {
                Some(number) => return Ok(Self::from(number)),
                None => format!(" {number}"),
            },
            _ => String::new(),
        };
        let kind = json::kind(value);
        Err(format!(
            "unsupported value type, neither int nor string: json: cannot unmarshal {kind}{number} into Go value \
             of type int\njson: cannot unmarshal {kind} into Go value of type string"
        ))
    }
}

impl From<i64> for ResultType {
    fn from(number: i64) -> Self {
        match number {
            0 => Self::Unset,
            1 => Self::TaskRun,
            3 => Self::InternalTekton,
            4 => Self::Step,
            5 => Self::StepArtifacts,
            6 => Self::TaskRunArtifacts,
            10 => Self::Unknown,
            other => Self::Other(other),
        }
    }
}

/// An entry of a termination message.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RunResult {
    /// Name of the result, or of the fact.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Kept for messages of old; nothing writes it any more.
    pub resource_name: String,
    /// What the entry is about.
    pub result_type: ResultType,
}

impl RunResult {
    /// An entry without resource name.
    pub fn new(key: impl Into<String>, value: impl Into<String>, result_type: ResultType) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
            resource_name: String::new(),
            result_type,
        }
    }

    /// A fact for Tekton itself.
    pub fn internal(key: &str, value: impl Into<String>) -> Self {
        Self::new(key, value, ResultType::InternalTekton)
    }

    /// Reads one entry; the error is Go's sentence.
    pub fn decode(text: &str) -> Result<Self, String> {
        Self::from_value(&json::parse(text)?, "result.RunResult", "")
    }

    /// `go_type` and `path` are what the error names for a value of a wrong kind.
    pub(super) fn from_value(value: &Value, go_type: &str, path: &str) -> Result<Self, String> {
        let fields = match value {
            Value::Null => return Ok(Self::default()),
            Value::Object(fields) => fields,
            other => {
                return Err(format!(
                    "json: cannot unmarshal {} into Go value of type {go_type}",
                    json::kind(other)
                ));
            }
        };
        let mut entry = Self::default();
        for (name, value) in fields {
            let text = |into: &mut String| match value {
                Value::Null => Ok(()),
                Value::String(text) => {
                    into.clone_from(text);
                    Ok(())
                }
                other => Err(format!(
                    "json: cannot unmarshal {} into Go struct field {path}.{name} of type string",
                    json::kind(other)
                )),
            };
            match name.to_ascii_lowercase().as_str() {
                "key" => text(&mut entry.key)?,
                "value" => text(&mut entry.value)?,
                "resourcename" => text(&mut entry.resource_name)?,
                "type" => entry.result_type = ResultType::decode(value)?,
                _ => {}
            }
        }
        Ok(entry)
    }
}

impl Serialize for RunResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (named, typed) = (
            !self.resource_name.is_empty(),
            self.result_type != ResultType::Unset,
        );
        let mut entry =
            serializer.serialize_struct("RunResult", 2 + usize::from(named) + usize::from(typed))?;
        entry.serialize_field("key", &self.key)?;
        entry.serialize_field("value", &self.value)?;
        if named {
            entry.serialize_field("resourceName", &self.resource_name)?;
        }
        if typed {
            entry.serialize_field("type", &self.result_type.number())?;
        }
        entry.end()
    }
}
