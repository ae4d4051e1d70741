//! Starts a command in this process's namespaces.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::unistd::Pid;

use super::streams::Streams;
use super::too_big;
use crate::environment::Environment;
use crate::error::{StepError, os_words};

/// What is started.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    /// The file to execute.
    pub(crate) path: &'a Path,
    /// The name by which the program was called.
    pub(crate) program: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) environment: &'a Environment,
}

impl Start<'_> {
    /// Starts the command with empty input, as leader of a new process group.
    pub(crate) fn start(&self, streams: &mut Streams) -> Result<Pid, StepError> {
        let mut command = Command::new(self.path);
        command
            .arg0(self.program)
            .args(self.args)
            .env_clear()
            .process_group(0)
            .stdin(Stdio::null());
        for (name, value) in self.environment.iter() {
            if !is_unusable(name, value) {
                command.env(name, value);
            }
        }
        let (stdout, stderr) = streams.for_child().map_err(|error| self.failed(&error))?;
        let stdio = |end: Option<OwnedFd>| end.map_or_else(Stdio::inherit, Stdio::from);
        command.stdout(stdio(stdout)).stderr(stdio(stderr));
        let child = command.spawn().map_err(|error| self.failed(&error))?;
        Ok(Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX)))
    }

    pub(super) fn failed(&self, error: &io::Error) -> StepError {
        let mut words = format!("fork/exec {}: {}", self.path.display(), os_words(error));
        if error.raw_os_error() == Some(nix::errno::Errno::E2BIG as i32) {
            words = format!(
                "{words}: {}",
                too_big::explain(self.program, self.args, self.environment)
            );
        }
        StepError::Start(words)
    }
}

/// Variables that no program can be given.
pub(super) fn is_unusable(name: &OsStr, value: &OsStr) -> bool {
    name.is_empty() || name.as_encoded_bytes().contains(&0) || value.as_encoded_bytes().contains(&0)
}
