//! Results of the Task and of the step, from their files into the termination message.
//!
//! Upstream counterparts: `readResultsFromDisk` in `entrypointer.go`, `pkg/termination/write.go`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use tekton_pod::contract::json;
use tekton_pod::contract::result::{ResultType, RunResult};
use tekton_pod::contract::termination::{self, Compression, TerminationError};

use crate::error::{StepError, path_words};
use crate::log::log;

/// Reads the results that are there; others are passed over.
pub(crate) fn read(
    directory: &Path,
    names: &[String],
    result_type: ResultType,
) -> Result<Vec<RunResult>, StepError> {
    let mut entries = Vec::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        let path = directory.join(name.trim_start_matches('/'));
        match fs::read(&path) {
            Ok(bytes) => entries.push(RunResult::new(name, json::text(bytes), result_type)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StepError::Results(path_words("read", &path, &error))),
        }
    }
    Ok(entries)
}

/// Adds entries to the termination message. What would make it too long changes nothing.
pub(crate) fn report(path: &Path, entries: &[RunResult], compression: Compression) -> Result<(), StepError> {
    let content = match fs::read(path) {
        Ok(content) => Some(content),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(StepError::Message(path_words("open", path, &error))),
    };
    if compression == Compression::WhenShorter
        && let Some(Err(error)) = content.as_deref().map(termination::existing)
    {
        log!("Failed to parse existing termination message, previous results will be lost: {error}");
    }
    let message =
        termination::append(content.as_deref(), entries, compression).map_err(|error| match error {
            TerminationError::TooLong => StepError::MessageTooLong(error.to_string()),
            other => StepError::Message(other.to_string()),
        })?;
    write(path, &message).map_err(|error| StepError::Message(path_words("open", path, &error)))
}

/// Not synced to disk: the reader is on the same machine, and it outlives no crash that would lose the file.
fn write(path: &Path, message: &str) -> io::Result<()> {
    let mut file: File = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o666)
        .open(path)?;
    file.write_all(message.as_bytes())
}
