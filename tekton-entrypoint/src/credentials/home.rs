//! Copies prepared credentials to the home directory of the step, where tools look for them.
//!
//! Upstream counterpart: `CopyCredsToHome` in `pkg/credentials/writer/writer.go`.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::error::path_words;
use crate::log::log;

const COPIED: [&str; 4] = [".docker", ".gitconfig", ".git-credentials", ".ssh"];

/// Copies what is there. Nothing of this can make the step fail.
pub(crate) fn copy_to_home(credentials: &Path, environment: &Environment) {
    if !credentials.is_dir() {
        return;
    }
    let Some(home) = environment.get("HOME").filter(|home| !home.is_empty()) else {
        let cause = "error getting the user's home directory: $HOME is not defined";
        log!("non-fatal error copying credentials: {cause:?}");
        return;
    };
    let home = PathBuf::from(home);
    for name in COPIED {
        if let Err(words) = copy(&credentials.join(name), &home.join(name)) {
            let (from, to) = (credentials.display(), home.display());
            log!("warning: unsuccessful cred copy: {name:?} from \"{from}\" to \"{to}\": {words}");
        }
    }
}

fn copy(source: &Path, target: &Path) -> Result<(), String> {
    let facts = match fs::symlink_metadata(source) {
        Ok(facts) => facts,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(format!(
                "unable to read source file info: {}",
                path_words("lstat", source, &error)
            ));
        }
    };
    if facts.is_dir() {
        return copy_directory(source, target);
    }
    let mut from = match File::open(source) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(format!(
                "unable to open source: {}",
                path_words("open", source, &error)
            ));
        }
    };
    let mut to = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(target)
        .map_err(|error| {
            format!(
                "unable to open destination: {}",
                path_words("open", target, &error)
            )
        })?;
    io::copy(&mut from, &mut to).map(drop).map_err(|error| {
        format!(
            "error copying from source to destination: {}",
            path_words("write", target, &error)
        )
    })
}

fn copy_directory(source: &Path, target: &Path) -> Result<(), String> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(target)
        .map_err(|error| {
            format!(
                "unable to create destination directory: {}",
                path_words("mkdir", target, &error)
            )
        })?;
    let unreadable = |error: io::Error| {
        format!(
            "unable to read subdirectories of source: {}",
            path_words("open", source, &error)
        )
    };
    for entry in fs::read_dir(source).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        copy(&source.join(&name), &target.join(&name))?;
    }
    Ok(())
}
