//! Turns a script that was placed in base64 into what its author wrote.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::{os_words, path_words};

/// Decodes the file in place; its mode stays.
pub(crate) fn decode(script: &Path) -> Result<(), String> {
    let name = script.display().to_string();
    let decoded = read(script).map_err(|cause| format!("error decoding script file {name:?}: {cause}"))?;
    fs::write(script, decoded).map_err(|error| {
        format!(
            "error writing decoded script file {name:?}: {}",
            path_words("open", script, &error)
        )
    })
}

fn read(script: &Path) -> Result<Vec<u8>, String> {
    let name = script.display().to_string();
    let mut file = File::open(script).map_err(|error| {
        format!(
            "error reading from script file {name:?}: {}",
            path_words("open", script, &error)
        )
    })?;
    let mut encoded = Vec::new();
    file.read_to_end(&mut encoded)
        .map_err(|error| format!("error reading from script file {name:?}: {}", os_words(&error)))?;
    // Line breaks are passed over, as they may be in base64.
    encoded.retain(|byte| !matches!(byte, b'\r' | b'\n'));
    STANDARD
        .decode(&encoded)
        .map_err(|error| format!("error decoding script file {name:?}: {error}"))
}
