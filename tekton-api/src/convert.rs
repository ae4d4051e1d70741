//! Conversion between the versions of an object.
//!
//! As upstream, conversion goes through a hub version (v1beta1; v1alpha1 for StepAction and
//! ResolutionRequest), so what the hub lacks is lost even when source and target are the same. Fields that
//! only v1beta1 has are kept in annotations. Upstream counterpart: the `*_conversion.go` files of
//! `pkg/apis/pipeline/v1beta1` and of `pkg/apis/resolution`.

mod annotations;
mod go_json;
mod pipeline;
mod pipelinerun;
mod requests;
mod steps;
mod task;
mod taskrun;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::admission::{Operation, Request, default_object};
use crate::config::Config;
use crate::{decode, resolution, v1, v1alpha1, v1beta1};

/// Why an object cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The object is not of its kind.
    #[error("unable to unmarshal input: {0}")]
    Decode(String),
    /// There is no conversion between these versions of this kind.
    #[error("conversion not supported for type {kind} from {from} to {to}")]
    Unsupported {
        /// The kind.
        kind: String,
        /// Group and version of the object.
        from: String,
        /// Group and version wanted.
        to: String,
    },
    /// An annotation in which fields were kept cannot be read.
    #[error("error {action} key {key} from metadata: {problem}")]
    Annotation {
        /// `serializing` or `deserializing`.
        action: &'static str,
        /// The annotation's key.
        key: &'static str,
        /// What is wrong with its value.
        problem: String,
    },
    /// The fields kept in an annotation belong to another number of steps.
    #[error("length of deserialized steps mismatch the length of target steps")]
    StepCount,
    /// v1alpha1 of ResolutionRequest has no place for these parameters.
    #[error("cannot convert v1beta1 to v1alpha, non-string type parameter(s) found: {0}")]
    NotText(String),
}

/// Converts between an object of the hub version and one of another.
trait Convert<Hub>: Sized {
    /// The object in the hub version.
    fn into_hub(self) -> Result<Hub, ConvertError>;
    /// The object from the hub version.
    fn from_hub(hub: Hub) -> Result<Self, ConvertError>;
}

/// The object in the version `to`, without defaults.
///
/// ```
/// use serde_json::json;
///
/// let old = json!({
///     "apiVersion": "tekton.dev/v1beta1", "kind": "Task", "metadata": {"name": "t"},
///     "spec": {"steps": [{"name": "s", "image": "a", "resources": {}}]},
/// });
/// let new = tekton_api::convert::convert(&old, "tekton.dev/v1")?;
/// assert_eq!(new["spec"]["steps"][0], json!({"name": "s", "image": "a", "computeResources": {}}));
/// # Ok::<(), tekton_api::convert::ConvertError>(())
/// ```
///
/// # Errors
/// If the object is not of its kind, there is no such version of it, or fields cannot be kept or restored.
pub fn convert(object: &Value, to: &str) -> Result<Value, ConvertError> {
    let text = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let (from, kind) = (text("apiVersion"), text("kind"));
    let unsupported = || ConvertError::Unsupported {
        kind: kind.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
    };
    let pair = |hub: &str, other: &str| match (from == hub, to == hub) {
        (from_hub, to_hub) if (from_hub || from == other) && (to_hub || to == other) => {
            Ok((from_hub, to_hub))
        }
        _ => Err(unsupported()),
    };
    let ends = match kind {
        "Task" | "TaskRun" | "Pipeline" | "PipelineRun" => pair("tekton.dev/v1beta1", "tekton.dev/v1")?,
        "StepAction" => pair("tekton.dev/v1alpha1", "tekton.dev/v1beta1")?,
        "ResolutionRequest" => pair("resolution.tekton.dev/v1alpha1", "resolution.tekton.dev/v1beta1")?,
        _ => return Err(unsupported()),
    };
    match kind {
        "Task" => through::<v1beta1::Task, v1::Task>(object, ends),
        "TaskRun" => through::<v1beta1::TaskRun, v1::TaskRun>(object, ends),
        "Pipeline" => through::<v1beta1::Pipeline, v1::Pipeline>(object, ends),
        "PipelineRun" => through::<v1beta1::PipelineRun, v1::PipelineRun>(object, ends),
        "StepAction" => through::<v1alpha1::StepAction, v1beta1::StepAction>(object, ends),
        _ => through::<resolution::v1alpha1::ResolutionRequest, resolution::v1beta1::ResolutionRequest>(
            object, ends,
        ),
    }
}

/// The object in the version `to` as the conversion webhook gives it: with defaults of the configuration
/// filled in.
///
/// # Errors
/// Those of [`convert`].
pub fn convert_with_defaults(object: &Value, to: &str, config: &Config) -> Result<Value, ConvertError> {
    let object = convert(object, to)?;
    let request = Request {
        operation: Operation::Other,
        ..Request::create(&object)
    };
    default_object(&request, config).map_err(|error| ConvertError::Decode(error.to_string()))
}

/// Reads the object, converts it to the hub version unless it has it, and from there unless that is wanted.
fn through<Hub, Other>(object: &Value, (from_hub, to_hub): (bool, bool)) -> Result<Value, ConvertError>
where
    Hub: DeserializeOwned + Serialize,
    Other: DeserializeOwned + Serialize + Convert<Hub>,
{
    let hub = if from_hub {
        read::<Hub>(object)?
    } else {
        read::<Other>(object)?.into_hub()?
    };
    if to_hub {
        write(&hub)
    } else {
        write(&Other::from_hub(hub)?)
    }
}

fn read<T: DeserializeOwned>(object: &Value) -> Result<T, ConvertError> {
    let mut object = object.clone();
    give_values(&mut object);
    decode::lenient(&object).map_err(|error| ConvertError::Decode(error.to_string()))
}

fn write<T: Serialize>(object: &T) -> Result<Value, ConvertError> {
    serde_json::to_value(object).map_err(|error| ConvertError::Decode(error.to_string()))
}

/// Parameters and results without a value get an empty one, as conversion gives them a type. What a custom
/// task is told (the `spec` of an embedded task) is left alone.
fn give_values(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let of_pipeline = members.contains_key("tasks") || members.contains_key("finally");
            for (name, member) in members {
                match name.as_str() {
                    "params" | "taskResults" | "pipelineResults" => default_values(member),
                    "results" if of_pipeline => default_values(member),
                    "taskSpec" => {
                        let told = member.as_object_mut().and_then(|task| task.remove("spec"));
                        give_values(member);
                        if let (Some(task), Some(told)) = (member.as_object_mut(), told) {
                            task.insert("spec".into(), told);
                        }
                        continue;
                    }
                    _ => {}
                }
                give_values(member);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(give_values),
        _ => {}
    }
}

fn default_values(list: &mut Value) {
    for item in list
        .as_array_mut()
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        item.entry("value").or_insert_with(|| "".into());
    }
}

/// The name of an object, by which fields of its own spec are kept.
fn name_of(metadata: &ObjectMeta) -> String {
    metadata.name.clone().unwrap_or_default()
}

impl Convert<v1alpha1::StepAction> for v1beta1::StepAction {
    fn into_hub(self) -> Result<v1alpha1::StepAction, ConvertError> {
        Ok(v1alpha1::StepAction {
            metadata: self.metadata,
            spec: self.spec,
        })
    }

    fn from_hub(hub: v1alpha1::StepAction) -> Result<Self, ConvertError> {
        Ok(Self {
            metadata: hub.metadata,
            spec: hub.spec,
        })
    }
}
