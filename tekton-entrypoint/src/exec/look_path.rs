//! Finds the program of a command: names without a slash are looked up in `PATH`.
//!
//! Upstream counterpart: Go's `os/exec` (`LookPath`), whose words are kept.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, eaccess};

use crate::environment::Environment;
use crate::error::{StepError, os_words};

/// The file to execute.
pub(crate) fn find(program: &str, environment: &Environment) -> Result<PathBuf, StepError> {
    if program.contains('/') {
        return Ok(PathBuf::from(program));
    }
    let refused = |words: &str| StepError::Start(format!("exec: {program:?}: {words}"));
    let mut cause = None;
    for directory in std::env::split_paths(environment.get("PATH").unwrap_or(OsStr::new(""))) {
        let relative = !directory.is_absolute();
        let directory = if directory.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            directory
        };
        let candidate = directory.join(program);
        match executable(&candidate) {
            Ok(()) if relative => {
                return Err(refused(
                    "cannot run executable found relative to current directory",
                ));
            }
            Ok(()) => return Ok(candidate),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => cause = Some(os_words(&error)),
            Err(_) => {}
        }
    }
    // A file that is there but may not be executed explains more than that nothing was found.
    Err(match cause {
        Some(words) => refused(&format!("executable file not found in $PATH ({words})")),
        None => refused("executable file not found in $PATH"),
    })
}

fn executable(path: &Path) -> io::Result<()> {
    if std::fs::metadata(path)?.is_dir() {
        return Err(io::Error::from_raw_os_error(nix::errno::Errno::EISDIR as i32));
    }
    Ok(eaccess(path, AccessFlags::X_OK)?)
}
