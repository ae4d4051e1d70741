//! What node and shim tell each other: one JSON value per line over a socket that is the shim's standard input.
//!
//! When the node's end closes, the shim kills the container and ends: nothing outlives the node.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::isolation::Isolation;

/// Everything a shim needs to start one container.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Launch {
    /// How far the container is kept apart from the host.
    pub isolation: Isolation,
    /// Private directory of the container: layers, root and `/tmp`.
    pub directory: PathBuf,
    /// Host name inside.
    pub hostname: String,
    /// What is mounted where; ordered, parents first.
    pub mounts: Vec<Bind>,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Whole environment.
    pub env: Vec<(String, String)>,
    /// Working directory; made when missing.
    pub cwd: PathBuf,
    /// User, where that can be chosen.
    pub user: Option<u32>,
    /// Group, where that can be chosen.
    pub group: Option<u32>,
    /// Further groups, where they can be chosen.
    pub groups: Vec<u32>,
    /// Keep all capabilities.
    pub privileged: bool,
    /// Mount the root read-only.
    pub read_only_root: bool,
    /// Programs and directories of a built-in image; not empty means that nothing else can be started.
    pub closed_to: Vec<PathBuf>,
    /// Only build the root and end: finds out whether this isolation works here.
    pub probe: bool,
}

/// A directory or file of the host that appears in the container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Bind {
    /// Where it is on the host.
    pub source: PathBuf,
    /// Where it appears.
    pub target: PathBuf,
    /// Whether writing is refused.
    pub read_only: bool,
}

/// From node to shim.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Order {
    /// Ask the container to end.
    Terminate,
    /// Kill the container.
    Kill,
    /// Run a further program in the container.
    Exec {
        /// Repeated in the answer.
        id: u64,
        /// Program and arguments.
        argv: Vec<String>,
    },
}

/// From shim to node.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Report {
    /// The program runs.
    Started {
        /// Its process, as the node sees it.
        pid: i32,
    },
    /// The program could not be started.
    Refused {
        /// Reason, in the words a container runtime uses.
        message: String,
    },
    /// The program ended; the last line.
    Exited {
        /// Exit code, or 128 plus the number of the signal.
        code: i32,
    },
    /// A further program ended.
    ExecDone {
        /// Of the order.
        id: u64,
        /// Exit code, or 128 plus the number of the signal.
        code: i32,
    },
}
