//! Images that the node knows without pulling anything; any other image is the host's own file system.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// An image that consists of programs of the host.
#[derive(Clone, Debug, Default)]
pub struct BuiltinImage {
    /// Path in the container → path on the host. Nothing but these can be started in a container of the image.
    pub files: BTreeMap<PathBuf, PathBuf>,
    /// What a container without `command` runs.
    pub entrypoint: Vec<String>,
    /// Arguments of a container without `command` and `args`.
    pub cmd: Vec<String>,
}

/// Built-in images by reference.
pub type BuiltinImages = BTreeMap<String, BuiltinImage>;

/// Program and arguments of a container; empty if there is nothing to run.
pub(super) fn argv(image: Option<&BuiltinImage>, command: &[String], args: &[String]) -> Vec<String> {
    let default = BuiltinImage::default();
    let image = image.unwrap_or(&default);
    match (command.is_empty(), args.is_empty()) {
        (false, _) => [command, args].concat(),
        (true, false) => [image.entrypoint.as_slice(), args].concat(),
        (true, true) => [image.entrypoint.as_slice(), image.cmd.as_slice()].concat(),
    }
}
