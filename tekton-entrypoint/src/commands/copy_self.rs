//! Copies an executable to where all steps find it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::error::{os_words, path_words};

/// Its owner may write and execute it, everybody may execute it, nobody needs to read it.
const MODE: u32 = 0o311;

/// Copies a file. One that is there already keeps its mode, and its end if it is longer.
pub(crate) fn copy(source: &Path, target: &Path) -> Result<(), String> {
    let mut from = File::open(source).map_err(|error| path_words("open", source, &error))?;
    let mut to = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(MODE)
        .open(target)
        .map_err(|error| path_words("open", target, &error))?;
    io::copy(&mut from, &mut to)
        .map(drop)
        .map_err(|error| os_words(&error))
}
