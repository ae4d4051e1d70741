//! The node's private directory, and the removal of what killed nodes have left behind.
//!
//! Below `$XDG_RUNTIME_DIR` or the directory for temporary files there is `tekton-UID/INSTANCE`. A lock on a file in
//! it, which the kernel drops with the process, tells the living from the dead. All mounts of containers are in
//! namespaces of their own and vanish with the last process there, so only processes and files can be left.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::{Signal, kill};
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{Pid, getuid};

use super::shim::MARKER;

/// Variable by which processes of a pod are found that have no namespace of their own.
pub(super) const POD_MARKER: &str = "TEKTON_LOCAL_INSTANCE";
const LOCK: &str = "lock";

/// A directory that belongs to this process and is removed with the value.
#[derive(Debug)]
pub struct StateDir {
    path: PathBuf,
    _lock: Flock<File>,
}

impl StateDir {
    /// Makes a directory for this process below `base`, after clearing away those of dead ones.
    ///
    /// Without `base` it lies where this user's temporary state belongs.
    pub fn create(base: Option<&Path>) -> io::Result<Self> {
        let base = base.map_or_else(default_base, Path::to_owned);
        let top = base.join(format!("tekton-{}", getuid()));
        fs::DirBuilder::new().recursive(true).mode(0o711).create(&top)?;
        let top = fs::canonicalize(top)?;
        if fs::metadata(&top)?.uid() != getuid().as_raw() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("{} belongs to somebody else", top.display()),
            ));
        }
        clear_dead(&top)?;
        let path = top.join(uuid::Uuid::new_v4().simple().to_string());
        // Made under a name that is not looked at, so that it is never seen without its lock.
        let hidden = top.join(format!(".{}", std::process::id()));
        remove_tree(&hidden)?;
        fs::DirBuilder::new().mode(0o711).create(&hidden)?;
        let mut file = File::options()
            .create(true)
            .write(true)
            .truncate(true)
            .open(hidden.join(LOCK))?;
        writeln!(file, "{}", std::process::id())?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno)?;
        fs::rename(&hidden, &path)?;
        Ok(Self { path, _lock: lock })
    }

    /// Where the directory is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name by which this node's processes are found.
    pub(super) fn instance(&self) -> &std::ffi::OsStr {
        self.path.file_name().unwrap_or_default()
    }
}

impl Drop for StateDir {
    fn drop(&mut self) {
        remove_tree(&self.path).ok();
        if let Some(top) = self.path.parent() {
            // Only the last one succeeds.
            fs::remove_dir(top).ok();
        }
    }
}

fn default_base() -> PathBuf {
    let usable = |dir: &PathBuf| statvfs(dir).is_ok_and(|facts| !facts.flags().contains(FsFlags::ST_NOEXEC));
    std::env::var_os("XDG_RUNTIME_DIR")
        .map(PathBuf::from)
        .filter(usable)
        .unwrap_or_else(std::env::temp_dir)
}

fn clear_dead(top: &Path) -> io::Result<()> {
    for entry in fs::read_dir(top)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let alive = match File::options().write(true).open(path.join(LOCK)) {
            Ok(file) => Flock::lock(file, FlockArg::LockExclusiveNonblock).is_err(),
            Err(_) => false,
        };
        if !alive {
            kill_marked(&name.to_string_lossy());
            remove_tree(&path)?;
        }
    }
    Ok(())
}

/// Kills all processes that carry the marker of an instance, until none is left.
fn kill_marked(instance: &str) {
    let marks = [
        format!("{MARKER}={instance}").into_bytes(),
        format!("{POD_MARKER}={instance}").into_bytes(),
    ];
    for _ in 0..500 {
        let mut found = false;
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else {
                continue;
            };
            let Ok(environment) = fs::read(entry.path().join("environ")) else {
                continue;
            };
            if environment
                .split(|byte| *byte == 0)
                .any(|var| marks.iter().any(|mark| mark == var))
            {
                found |= kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok();
            }
        }
        if !found {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Removes a directory with everything in it, also where its owner has forbidden that to itself.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path);
            fs::remove_dir_all(path)
        }
        result => result,
    }
}

fn open_up(dir: &Path) {
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).ok();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clears_the_dead_and_spares_the_living() {
        let base = tempfile::tempdir().unwrap();
        let living = StateDir::create(Some(base.path())).unwrap();
        let dead = living.path().parent().unwrap().join("dead");
        let locked = dead.join("pods/x");
        fs::create_dir_all(locked.join("y")).unwrap();
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
        let second = StateDir::create(Some(base.path())).unwrap();
        assert!(living.path().exists() && second.path().exists() && !dead.exists());
        let top = living.path().parent().unwrap().to_owned();
        drop(living);
        drop(second);
        assert!(!top.exists());
    }

    #[test]
    fn kills_marked_processes() {
        let instance = uuid::Uuid::new_v4().to_string();
        let mut child = std::process::Command::new("sleep")
            .arg("1000")
            .env(POD_MARKER, &instance)
            .spawn()
            .unwrap();
        kill_marked(&instance);
        assert!(!child.wait().unwrap().success());
    }
}
