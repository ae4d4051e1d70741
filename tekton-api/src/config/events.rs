//! Cloud events: the ConfigMap `config-events`.
//!
//! Upstream counterpart: `pkg/apis/config/events.go`.

use std::collections::BTreeSet;

use super::ConfigError;
use super::parse::Data;

/// A format of cloud events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EventFormat {
    /// Tekton's own.
    TektonV1,
}

impl EventFormat {
    /// The text in the ConfigMap.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TektonV1 => "tektonv1",
        }
    }
}

/// Where cloud events go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events {
    /// The address; empty sends none.
    pub sink: String,
    /// The formats sent.
    pub formats: BTreeSet<EventFormat>,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            sink: String::new(),
            formats: BTreeSet::from([EventFormat::TektonV1]),
        }
    }
}

impl Events {
    /// Reads the entries of the ConfigMap.
    ///
    /// # Errors
    /// If the formats are empty, unknown or doubled.
    pub fn from_data(data: &Data) -> Result<Self, ConfigError> {
        let built_in = Self::default();
        Ok(Self {
            formats: match data.get("formats") {
                Some(text) => formats(text)?,
                None => built_in.formats,
            },
            sink: data.get("sink").cloned().unwrap_or(built_in.sink),
        })
    }
}

fn formats(text: &str) -> Result<BTreeSet<EventFormat>, ConfigError> {
    if text.is_empty() {
        return Err(ConfigError::NoEventFormats);
    }
    let mut formats = BTreeSet::new();
    for name in text.split(',') {
        if name != EventFormat::TektonV1.as_str() {
            return Err(ConfigError::UnknownEventFormat(name.to_owned()));
        }
        if !formats.insert(EventFormat::TektonV1) {
            return Err(ConfigError::DuplicateEventFormat(name.to_owned()));
        }
    }
    Ok(formats)
}
