//! Files of secrets, and files that only their owner may read.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::error::path_words;

const OWNER_ONLY: u32 = 0o600;

/// User name and password of a secret.
pub(super) fn login(secret: &Path) -> Result<(Vec<u8>, Vec<u8>), String> {
    Ok((read(&secret.join("username"))?, read(&secret.join("password"))?))
}

/// Content of a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| path_words("open", path, &error))
}

/// Writes a file anew.
pub(super) fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(OWNER_ONLY);
    options
        .open(path)
        .and_then(|mut file| file.write_all(content))
        .map_err(|error| path_words("open", path, &error))
}

/// Adds to a file.
pub(super) fn append(path: &Path, content: &[u8]) -> Result<(), String> {
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true).mode(OWNER_ONLY);
    options
        .open(path)
        .and_then(|mut file| file.write_all(content))
        .map_err(|error| path_words("open", path, &error))
}
