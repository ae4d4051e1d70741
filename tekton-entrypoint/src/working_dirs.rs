//! The program `workingdirinit`: makes the working directories of steps that lie in workspaces.
//!
//! Upstream counterpart: `cmd/workingdirinit/main.go`.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tekton_pod::contract::paths;

use crate::error::path_words;
use crate::go_path;
use crate::log::log;
use crate::places::Places;

/// Makes the directories that these arguments name. Absolute ones elsewhere are left to their owners.
pub fn working_dir_init(argv: &[String]) -> ExitCode {
    let places = Places::from_env();
    for directory in argv {
        let Some(path) = wanted(directory, &places) else {
            continue;
        };
        if let Err(error) = DirBuilder::new().recursive(true).mode(0o755).create(&path) {
            log!(
                "Failed to mkdir {:?}: {}",
                path.display().to_string(),
                path_words("mkdir", &path, &error)
            );
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn wanted(directory: &str, places: &Places) -> Option<PathBuf> {
    let path = go_path::clean(directory);
    let below = |root: &Path| {
        Path::new(&path)
            .strip_prefix(root)
            .is_ok_and(|rest| !rest.as_os_str().is_empty())
    };
    if !path.starts_with('/') || below(&places.workspace()) {
        return Some(PathBuf::from(path));
    }
    below(Path::new(paths::WORKSPACE_DIR)).then(|| places.path(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_workspaces_and_relative_paths_count() {
        let in_container = |path| wanted(path, &Places::default()).map(|path| path.display().to_string());
        assert_eq!(
            in_container("/workspace/./a//b/").as_deref(),
            Some("/workspace/a/b")
        );
        assert_eq!(in_container("sub/x").as_deref(), Some("sub/x"));
        assert_eq!(in_container("").as_deref(), Some("."));
        for elsewhere in ["/workspace", "/workspacefoo/x", "/workspace/../tekton", "/etc"] {
            assert_eq!(in_container(elsewhere), None, "{elsewhere}");
        }
        let elsewhere = Places::below("/run/pod");
        assert_eq!(
            wanted("/workspace/a", &elsewhere),
            Some(PathBuf::from("/run/pod/workspace/a"))
        );
        assert_eq!(
            wanted("/run/pod/workspace/a", &elsewhere),
            Some(PathBuf::from("/run/pod/workspace/a"))
        );
        assert_eq!(wanted("/run/pod/etc", &elsewhere), None);
    }
}
