//! The places below `/tekton` and `/workspace` that no flag tells.
//!
//! In a container they are where they always were. A runner without containers of its own puts a directory
//! in front of all of them by the variable `TEKTON_PATH_PREFIX`; flags are never changed by it.

use std::env;
use std::path::{Path, PathBuf};

use tekton_pod::contract::{files, paths};

/// Variable with a directory that stands for the root directory. Steps do not inherit it.
pub const PATH_PREFIX_VARIABLE: &str = "TEKTON_PATH_PREFIX";

/// Where the fixed places are.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Places {
    prefix: Option<PathBuf>,
}

impl Places {
    /// The places that the environment of this process tells.
    pub fn from_env() -> Self {
        let prefix = env::var_os(PATH_PREFIX_VARIABLE).filter(|prefix| !prefix.is_empty());
        Self {
            prefix: prefix.map(PathBuf::from),
        }
    }

    /// The places below a directory.
    pub fn below(prefix: impl Into<PathBuf>) -> Self {
        Self {
            prefix: Some(prefix.into()),
        }
    }

    /// Where a path of the contract really is.
    pub fn path(&self, path: &str) -> PathBuf {
        match &self.prefix {
            None => PathBuf::from(path),
            Some(prefix) => prefix.join(path.trim_start_matches('/')),
        }
    }

    /// The path as the contract has it, without the prefix.
    pub(crate) fn contract_path(&self, path: &Path) -> String {
        let bare = self
            .prefix
            .as_ref()
            .and_then(|prefix| path.strip_prefix(prefix).ok());
        match bare {
            None => path.display().to_string(),
            Some(bare) => Path::new("/").join(bare).display().to_string(),
        }
    }

    pub(crate) fn results(&self) -> PathBuf {
        self.path(paths::RESULTS_DIR)
    }

    pub(crate) fn steps(&self) -> PathBuf {
        self.path(paths::STEPS_DIR)
    }

    pub(crate) fn run(&self) -> PathBuf {
        self.path(paths::RUN_DIR)
    }

    pub(crate) fn scripts(&self) -> PathBuf {
        self.path(paths::SCRIPTS_DIR)
    }

    pub(crate) fn cancel_file(&self) -> PathBuf {
        self.path(paths::DOWNWARD_CANCEL)
    }

    pub(crate) fn task_provenance(&self) -> PathBuf {
        self.path(paths::ARTIFACTS_DIR).join(files::PROVENANCE)
    }

    pub(crate) fn credentials(&self) -> PathBuf {
        self.path(paths::CREDENTIALS_DIR)
    }

    pub(crate) fn credential_secret(&self, name: &str) -> PathBuf {
        self.path(paths::CREDENTIAL_SECRETS_DIR).join(name)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path(paths::WORKSPACE_DIR)
    }
}
