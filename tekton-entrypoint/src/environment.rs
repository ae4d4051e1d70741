//! The environment that the step's command gets: that of the entrypoint, with references filled in.

use std::env;
use std::ffi::{OsStr, OsString};

use crate::places::PATH_PREFIX_VARIABLE;

/// Variables, in order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// The variables of this process that are meant for the step.
    pub fn inherited() -> Self {
        Self(
            env::vars_os()
                .filter(|(name, _)| name != PATH_PREFIX_VARIABLE)
                .collect(),
        )
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_os_str())
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// All variables.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Values that are text, for filling in references.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = (&mut OsString, String)> {
        self.0.iter_mut().filter_map(|(_, value)| {
            let text = value.to_str()?.to_owned();
            Some((value, text))
        })
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self(
            variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}
