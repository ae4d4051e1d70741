//! How far containers are kept apart from the host, and which way works on this machine.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A way to keep containers apart from the host, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// A mount and process namespace with layers above the host's files; for root.
    #[default]
    Namespaces,
    /// The same in a user namespace; for an ordinary user.
    Userns,
    /// Plain processes; the paths of a pod are replaced by those of a private directory.
    None,
}

impl Isolation {
    /// All ways, best first.
    pub const ALL: [Self; 3] = [Self::Namespaces, Self::Userns, Self::None];

    /// The name by which the way is chosen and printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Userns => "userns",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no way of isolation.
#[derive(Debug, thiserror::Error)]
#[error("unknown isolation {0:?}: expected namespaces, userns or none")]
pub struct UnknownIsolation(String);

impl FromStr for Isolation {
    type Err = UnknownIsolation;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|way| way.as_str() == text)
            .ok_or_else(|| UnknownIsolation(text.to_owned()))
    }
}
