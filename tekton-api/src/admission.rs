//! What happens to an object on its way into the cluster: it is decoded, completed and checked.
//!
//! The webhook, the embedded API server and `tekton validate` all come through here, with objects as JSON.
//! Upstream counterpart: the admission controllers that `cmd/webhook` sets up.

mod as_go;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::config::Config;
pub use crate::decode::DecodeError;
use crate::defaults::Defaults;
pub use crate::defaults::Operation;
pub use crate::field_errors::FieldErrors;
use crate::validate::{Context, Dialect, Validate};
use crate::{resolution, v1, v1alpha1, v1beta1};

/// An object on its way.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What is being done.
    pub operation: Operation,
    /// As which apiVersion and kind the object is taken; nothing takes it as what it says it is.
    pub kind: Option<(&'a str, &'a str)>,
    /// The object.
    pub object: &'a Value,
    /// Its state before an update.
    pub old: Option<&'a Value>,
}

impl<'a> Request<'a> {
    /// An object is created.
    pub fn create(object: &'a Value) -> Self {
        Self {
            operation: Operation::Create,
            kind: None,
            object,
            old: None,
        }
    }

    /// An object takes the place of an older state.
    pub fn update(object: &'a Value, old: &'a Value) -> Self {
        Self {
            operation: Operation::Update,
            kind: None,
            object,
            old: Some(old),
        }
    }

    /// The same for another object.
    pub fn with_object(self, object: &'a Value) -> Self {
        Self { object, ..self }
    }

    fn find_kind(&self) -> Result<Kind, AdmissionError> {
        match self.kind {
            Some((api_version, kind)) => kind_named(api_version, kind),
            None => kind_of(self.object),
        }
    }
}

/// Why an object is not let in.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// The kind is none of Tekton's.
    #[error("unhandled kind: {api_version}, Kind={kind}")]
    UnknownKind {
        /// The object's apiVersion.
        api_version: String,
        /// The object's kind.
        kind: String,
    },
    /// The object does not have the form of its kind.
    #[error("cannot decode incoming new object: {0}")]
    Decode(DecodeError),
    /// The state before the update does not have the form of its kind.
    #[error("cannot decode incoming old object: {0}")]
    DecodeOld(DecodeError),
    /// The object cannot be written.
    #[error("cannot encode object: {0}")]
    Encode(String),
    /// The object violates rules.
    #[error("{0}")]
    Invalid(#[from] FieldErrors),
}

/// The object with everything filled in that it leaves open.
///
/// ```
/// use serde_json::json;
/// use tekton_api::admission::{Request, default_object};
/// use tekton_api::config::Config;
///
/// let run = json!({"apiVersion": "tekton.dev/v1", "kind": "TaskRun",
///     "metadata": {"name": "hello"}, "spec": {"taskRef": {"name": "greet"}}});
/// let run = default_object(&Request::create(&run), &Config::default()).unwrap();
/// assert_eq!(run["spec"]["timeout"], "1h0m0s");
/// ```
///
/// # Errors
/// If the kind is unknown, or the object does not have its form.
pub fn default_object(request: &Request<'_>, config: &Config) -> Result<Value, AdmissionError> {
    request.find_kind()?.set_defaults(request, config)
}

/// Checks an object, which has been completed before.
///
/// # Errors
/// If the kind is unknown, the object does not have its form, or it violates rules.
pub fn validate_object(request: &Request<'_>, config: &Config) -> Result<(), AdmissionError> {
    request.find_kind()?.validate(request, config)
}

/// Checks that an object has the form of its kind, and nothing else.
///
/// # Errors
/// If the kind is unknown, or the object does not have its form.
pub fn decode_object(object: &Value) -> Result<(), AdmissionError> {
    kind_of(object)?.decode(object)
}

/// Completes and checks an object as if it were created; the result is complete.
///
/// # Errors
/// Those of [`default_object`] and [`validate_object`].
pub fn admit_new(object: &Value, config: &Config) -> Result<Value, AdmissionError> {
    let object = default_object(&Request::create(object), config)?;
    validate_object(&Request::create(&object), config)?;
    Ok(object)
}

/// Declares the kinds with the types they are decoded into.
macro_rules! kinds {
    ($( $api_version:literal $kind:literal $variant:ident $type:ty, $dialect:ident; )+) => {
        /// Kinds that pass through admission.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Kind {
            $( $variant, )+
        }

        impl Kind {
            fn find(api_version: &str, kind: &str) -> Option<Self> {
                match (api_version, kind) {
                    $( ($api_version, $kind) => Some(Self::$variant), )+
                    _ => None,
                }
            }

            fn set_defaults(self, request: &Request<'_>, config: &Config) -> Result<Value, AdmissionError> {
                match self {
                    $( Self::$variant => set_defaults::<$type>(request, config), )+
                }
            }

            fn validate(self, request: &Request<'_>, config: &Config) -> Result<(), AdmissionError> {
                match self {
                    $( Self::$variant => validate::<$type>(request, config, Dialect::$dialect), )+
                }
            }

            fn decode(self, object: &Value) -> Result<(), AdmissionError> {
                match self {
                    $( Self::$variant => decode::<$type>(object).map(drop), )+
                }
            }
        }

        /// The kinds that pass through admission, with their apiVersions.
        pub const KINDS: &[(&str, &str)] = &[$( ($api_version, $kind), )+];
    };
}

kinds! {
    "tekton.dev/v1" "Task" Task v1::Task, V1;
    "tekton.dev/v1" "TaskRun" TaskRun v1::TaskRun, V1;
    "tekton.dev/v1" "Pipeline" Pipeline v1::Pipeline, V1;
    "tekton.dev/v1" "PipelineRun" PipelineRun v1::PipelineRun, V1;
    "tekton.dev/v1beta1" "Task" TaskV1Beta1 v1beta1::Task, V1Beta1;
    "tekton.dev/v1beta1" "TaskRun" TaskRunV1Beta1 v1beta1::TaskRun, V1Beta1;
    "tekton.dev/v1beta1" "Pipeline" PipelineV1Beta1 v1beta1::Pipeline, V1Beta1;
    "tekton.dev/v1beta1" "PipelineRun" PipelineRunV1Beta1 v1beta1::PipelineRun, V1Beta1;
    "tekton.dev/v1beta1" "CustomRun" CustomRun v1beta1::CustomRun, V1Beta1;
    "tekton.dev/v1beta1" "StepAction" StepAction v1beta1::StepAction, V1;
    "tekton.dev/v1alpha1" "StepAction" StepActionV1Alpha1 v1alpha1::StepAction, V1;
    "tekton.dev/v1alpha1" "VerificationPolicy" VerificationPolicy v1alpha1::VerificationPolicy, V1;
    "tekton.dev/v1alpha1" "Run" Run v1alpha1::Run, V1Beta1;
    "resolution.tekton.dev/v1beta1" "ResolutionRequest" ResolutionRequest resolution::v1beta1::ResolutionRequest, V1;
    "resolution.tekton.dev/v1alpha1" "ResolutionRequest" ResolutionRequestV1Alpha1 resolution::v1alpha1::ResolutionRequest, V1;
}

fn kind_of(object: &Value) -> Result<Kind, AdmissionError> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    kind_named(text("apiVersion"), text("kind"))
}

fn kind_named(api_version: &str, kind: &str) -> Result<Kind, AdmissionError> {
    Kind::find(api_version, kind).ok_or_else(|| AdmissionError::UnknownKind {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
    })
}

fn decode<T: DeserializeOwned>(object: &Value) -> Result<T, AdmissionError> {
    crate::decode::object(object).map_err(AdmissionError::Decode)
}

fn decode_old<T: DeserializeOwned>(request: &Request<'_>) -> Result<Option<T>, AdmissionError> {
    request
        .old
        .map(crate::decode::object)
        .transpose()
        .map_err(AdmissionError::DecodeOld)
}

fn set_defaults<T: DeserializeOwned + Serialize + Defaults>(
    request: &Request<'_>,
    config: &Config,
) -> Result<Value, AdmissionError> {
    let mut object: T = decode(request.object)?;
    decode_old::<T>(request)?;
    object.set_defaults(config, request.operation);
    let mut written =
        serde_json::to_value(&object).map_err(|error| AdmissionError::Encode(error.to_string()))?;
    as_go::complete(&mut written, request.object);
    Ok(written)
}

fn validate<T: DeserializeOwned + Validate>(
    request: &Request<'_>,
    config: &Config,
    dialect: Dialect,
) -> Result<(), AdmissionError> {
    let object: T = decode(request.object)?;
    let old: Option<T> = decode_old(request)?;
    let context = Context {
        config,
        operation: request.operation,
        dialect,
    };
    Ok(object.validate(&context, old.as_ref()).into_result()?)
}
