//! Links from `/tekton/steps` to the metadata of each step, by name and by index.

use std::io;
use std::os::unix::fs::symlink;

use tekton_pod::contract::files;

use crate::error::os_words;
use crate::outcome::make_dirs;
use crate::places::Places;

/// Makes the links. Those that are there already, from an earlier start, stay.
pub(crate) fn link(steps: &[&str], places: &Places) -> Result<(), String> {
    let directory = places.steps();
    make_dirs(&directory).map_err(|words| {
        format!(
            "Error creating steps directory {:?}: {words}",
            directory.display().to_string()
        )
    })?;
    for (index, step) in steps.iter().enumerate() {
        let metadata = places.path(&files::step_metadata_dir(index));
        for link in [
            directory.join(step.trim_start_matches('/')),
            directory.join(index.to_string()),
        ] {
            match symlink(&metadata, &link) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(format!(
                        "symlink {} {}: {}",
                        metadata.display(),
                        link.display(),
                        os_words(&error)
                    ));
                }
                _ => {}
            }
        }
    }
    Ok(())
}
