//! Why no pod can be built.
//!
//! The texts are those which end up in the condition of the run; they are upstream's.

use tekton_api::quote::quote;

use crate::input::LookupFailure;

/// A TaskRun that cannot become a pod.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Something that was looked up does not exist or could not be read.
    #[error("{0}")]
    Lookup(#[source] LookupFailure),
    /// The caller did not look up something that [`crate::needs`] names; a defect of the caller.
    #[error("{what} has not been looked up")]
    NotLookedUp {
        /// What is missing.
        what: String,
    },
    /// A Git secret for SSH has no known hosts, and the configuration asks for them.
    #[error(
        "TaskRun validation failed. Git SSH Secret must have \"known_hosts\" included when feature flag \
         \"require-git-ssh-secret-known-hosts\" is set to true"
    )]
    KnownHostsMissing,
    /// A step's image is not an image reference.
    #[error("could not parse reference: {image}")]
    ImageReference {
        /// The text in its place.
        image: String,
    },
    /// There is nothing to run.
    #[error("no steps specified")]
    NoSteps,
    /// `onError` of a step has a value that it cannot have.
    #[error(
        "task step onError must be either \"continue\" or \"stopAndFail\" but it is set to an invalid value \"{value}\""
    )]
    OnError {
        /// The value.
        value: String,
    },
    /// Volumes of the task, the pod template or Tekton itself have equal names.
    #[error("{}", duplicate_volumes(.names))]
    DuplicateVolumes {
        /// The names, each with the places in the pod's list where it is repeated.
        names: Vec<(String, Vec<usize>)>,
    },
    /// A value could not be written as JSON.
    #[error("{message}")]
    Encoding {
        /// What the encoder says.
        message: String,
    },
}

impl BuildError {
    /// True if the run itself is to blame: its condition gets the reason for failed validation.
    pub fn is_validation(&self) -> bool {
        matches!(self, Self::KnownHostsMissing)
    }
}

fn duplicate_volumes(names: &[(String, Vec<usize>)]) -> String {
    let mut lines: Vec<String> = names
        .iter()
        .map(|(name, places)| {
            let mut paths: Vec<String> = places.iter().map(|place| format!("[{place}].name")).collect();
            paths.sort();
            format!(
                "multiple volumes with same name {}: {}",
                quote(name),
                paths.join(", ")
            )
        })
        .collect();
    lines.sort();
    lines.join("\n")
}
