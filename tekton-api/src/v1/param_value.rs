//! Values of parameters and results: a text, a list of texts or a map of texts.
//!
//! Reading never fails: what is neither of the three is kept as its JSON text.
//! Upstream counterpart: `ParamValue` in `pkg/apis/pipeline/v1/param_types.go`.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::ParamType;

/// Value of a parameter or result.
///
/// ```
/// use tekton_api::v1::ParamValue;
///
/// let read = |text| serde_json::from_str::<ParamValue>(text);
/// assert_eq!(read(r#"["a", "b"]"#)?, ParamValue::from(["a", "b"]));
/// assert_eq!(read("17")?, ParamValue::from("17"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamValue {
    /// A text.
    String(String),
    /// A list of texts.
    Array(Vec<String>),
    /// A map of texts.
    Object(BTreeMap<String, String>),
}

impl ParamValue {
    /// The type of this value.
    pub fn param_type(&self) -> ParamType {
        match self {
            Self::String(_) => ParamType::String,
            Self::Array(_) => ParamType::Array,
            Self::Object(_) => ParamType::Object,
        }
    }

    /// The text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// The list, if this is one.
    pub fn as_array(&self) -> Option<&[String]> {
        match self {
            Self::Array(items) => Some(items),
            Self::String(_) | Self::Object(_) => None,
        }
    }

    /// The map, if this is one.
    pub fn as_object(&self) -> Option<&BTreeMap<String, String>> {
        match self {
            Self::Object(entries) => Some(entries),
            Self::String(_) | Self::Array(_) => None,
        }
    }

    /// All texts in this value: itself, its items or its entries' values.
    pub fn texts(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::String(text) => Box::new(std::iter::once(text.as_str())),
            Self::Array(items) => Box::new(items.iter().map(String::as_str)),
            Self::Object(entries) => Box::new(entries.values().map(String::as_str)),
        }
    }

    /// The value that is written as `json`. What is not a text, a list or a map of texts is kept exactly as
    /// it is written.
    ///
    /// # Errors
    /// If `json` is not JSON.
    pub fn from_json_text(json: &str) -> Result<Self, serde_json::Error> {
        let json = json.trim_ascii();
        Ok(match serde_json::from_str(json)? {
            Value::Null => Self::default(),
            Value::String(text) => Self::String(text),
            value => match Self::from_json(value) {
                Self::String(_) => Self::String(json.to_owned()),
                value => value,
            },
        })
    }

    /// The value that stands in a JSON document as `value`.
    pub fn from_json(value: Value) -> Self {
        match value {
            Value::Null => Self::default(),
            Value::String(text) => Self::String(text),
            Value::Array(items) => match texts_of(items.iter()) {
                Some(texts) => Self::Array(texts),
                None => Self::String(Value::Array(items).to_string()),
            },
            Value::Object(entries) => match texts_of(entries.values()) {
                Some(texts) => Self::Object(entries.into_iter().map(|(key, _)| key).zip(texts).collect()),
                None => Self::String(Value::Object(entries).to_string()),
            },
            other => Self::String(other.to_string()),
        }
    }
}

/// The texts among which `null` counts as empty, or nothing if there is anything else.
fn texts_of<'a>(values: impl Iterator<Item = &'a Value>) -> Option<Vec<String>> {
    values
        .map(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Null => Some(String::new()),
            _ => None,
        })
        .collect()
}

impl Default for ParamValue {
    fn default() -> Self {
        Self::String(String::new())
    }
}

impl From<&str> for ParamValue {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for ParamValue {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<Vec<String>> for ParamValue {
    fn from(items: Vec<String>) -> Self {
        Self::Array(items)
    }
}

impl<const N: usize> From<[&str; N]> for ParamValue {
    fn from(items: [&str; N]) -> Self {
        Self::Array(items.map(str::to_owned).into())
    }
}

impl From<BTreeMap<String, String>> for ParamValue {
    fn from(entries: BTreeMap<String, String>) -> Self {
        Self::Object(entries)
    }
}

impl Serialize for ParamValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::String(text) => text.serialize(serializer),
            Self::Array(items) => items.serialize(serializer),
            Self::Object(entries) => entries.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ParamValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from_json)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ParamValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ParamValue".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"x-kubernetes-preserve-unknown-fields": true})
    }

    fn inline_schema() -> bool {
        true
    }
}
