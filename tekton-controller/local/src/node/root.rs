//! Builds the root of a container in namespaces of its own: layers above the host's files, mounts of the pod on top.
//!
//! The host's root is covered by an overlay whose upper layer is private to the container. Where the kernel refuses
//! one overlay for all (in a user namespace, as other file systems are mounted below), each directory gets its own,
//! and where it refuses overlays at all, the host's files appear read-only. All mounts vanish with the namespace.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Component, Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Uid, chdir, getgid, getuid, pivot_root, sethostname};

use super::isolation::Isolation;
use super::sys;
use super::wire::Launch;

/// Where the host's root is while mounts are made.
const OLD_ROOT: &str = "/.tekton-host";
/// Top-level directories which get a content of their own.
const OWN: [&str; 4] = ["/proc", "/sys", "/dev", "/tmp"];
/// A directory with more entries is not taken apart.
const MOST_CHILDREN: usize = 512;
/// Devices that a container may use.
const DEVICES: [&str; 7] = ["null", "zero", "full", "random", "urandom", "tty", "fuse"];

type Outcome<T = ()> = Result<T, String>;

/// Moves this process into a new root; its further children get a process namespace of their own.
pub(super) fn enter(launch: &Launch) -> Outcome {
    for name in ["layers", "root", "tmp"] {
        let dir = launch.directory.join(name);
        fs::create_dir_all(&dir).map_err(|e| format!("create {}: {e}", dir.display()))?;
    }
    unshare_all(launch)?;
    let mut builder = Builder {
        userns: launch.isolation == Isolation::Userns,
        layers: launch.directory.join("layers"),
        root: launch.directory.join("root"),
        layer_count: 0,
        host_mounts: host_mounts()?,
        targets: launch
            .mounts
            .iter()
            .map(|bind| (landing(&bind.target), bind.source.is_dir()))
            .collect(),
    };
    // Links in it lead to the right place only now.
    let sources: Vec<PathBuf> = launch.mounts.iter().map(|bind| real(&bind.source)).collect();
    let scratch = real(&launch.directory.join("tmp"));
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>)
        .map_err(|e| format!("make mounts private: {e}"))?;
    // Built below a file system of its own, so that nothing is left in the directory when the namespace is gone.
    tmpfs(&builder.root, "mode=755")?;
    builder.graft(Path::new("/"), &builder.root.clone())?;
    builder.pivot()?;
    kernel_file_systems()?;
    bind(&Path::new(OLD_ROOT).join(relative(&scratch)), Path::new("/tmp"))?;
    fs::set_permissions("/tmp", fs::Permissions::from_mode(0o1777)).map_err(|e| format!("/tmp: {e}"))?;
    for (wanted, source) in launch.mounts.iter().zip(&sources) {
        mount_volume(source, &wanted.target, wanted.read_only)?;
    }
    umount2(OLD_ROOT, MntFlags::MNT_DETACH).map_err(|e| format!("leave the host's root: {e}"))?;
    fs::remove_dir(OLD_ROOT).ok();
    Ok(())
}

fn unshare_all(launch: &Launch) -> Outcome {
    let mut flags = CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWIPC;
    let (user, group) = (getuid(), getgid());
    if launch.isolation == Isolation::Userns {
        flags |= CloneFlags::CLONE_NEWUSER;
    } else if !Uid::effective().is_root() {
        return Err("needs root".to_owned());
    }
    unshare(flags).map_err(|e| format!("new namespaces: {e}"))?;
    if launch.isolation == Isolation::Userns {
        fs::write("/proc/self/setgroups", "deny").ok();
        fs::write("/proc/self/uid_map", format!("0 {user} 1")).map_err(|e| format!("map the user: {e}"))?;
        fs::write("/proc/self/gid_map", format!("0 {group} 1")).map_err(|e| format!("map the group: {e}"))?;
    }
    sethostname(&launch.hostname).ok();
    Ok(())
}

/// What the root is made from.
struct Builder {
    userns: bool,
    layers: PathBuf,
    root: PathBuf,
    layer_count: u32,
    /// Mount points of the host, parents first.
    host_mounts: Vec<PathBuf>,
    /// Where volumes will appear, and whether as a directory.
    targets: Vec<(PathBuf, bool)>,
}

impl Builder {
    /// Makes the host's directory `source` appear at `target`, writable without effect on the host.
    fn graft(&mut self, source: &Path, target: &Path) -> Outcome {
        let below: Vec<PathBuf> = self
            .host_mounts
            .iter()
            .filter(|point| is_below(point, source))
            .cloned()
            .collect();
        if self.overlay(source, target).is_ok() {
            let mut done: Vec<&PathBuf> = Vec::new();
            for point in &below {
                if done.iter().any(|outer| is_below(point, outer)) {
                    continue;
                }
                done.push(point);
                self.graft_entry(point, &target.join(relative_to(point, source)))?;
            }
            return Ok(());
        }
        let children: Vec<PathBuf> = fs::read_dir(source)
            .map(|entries| {
                entries
                    .filter_map(|entry| Some(entry.ok()?.path()))
                    .take(MOST_CHILDREN + 1)
                    .collect()
            })
            .unwrap_or_default();
        if source == Path::new("/") || (!below.is_empty() && children.len() <= MOST_CHILDREN) {
            for child in children {
                self.graft_entry(&child, &target.join(relative_to(&child, source)))?;
            }
            return Ok(());
        }
        bind(source, target)?;
        sys::make_read_only(target).map_err(|e| format!("make {} read-only: {e}", source.display()))
    }

    /// Makes one entry of a directory appear, whatever it is.
    fn graft_entry(&mut self, source: &Path, target: &Path) -> Outcome {
        if OWN.iter().any(|own| source == Path::new(own)) {
            return create_dir(target);
        }
        let Ok(facts) = fs::symlink_metadata(source) else {
            return Ok(());
        };
        if facts.is_symlink() {
            if let Ok(to) = fs::read_link(source) {
                symlink(to, target).ok();
            }
            return Ok(());
        }
        if facts.is_dir() {
            create_dir(target)?;
            // What cannot be shown (a file system of another user) is left out rather than failing the container.
            return self.graft(source, target).or(Ok(()));
        }
        if facts.is_file() || facts.file_type().is_socket() {
            create_file(target)?;
            if bind(source, target).is_ok() {
                sys::make_read_only(target).ok();
            }
        }
        Ok(())
    }

    /// Covers `source` with a private layer at `target`.
    fn overlay(&mut self, source: &Path, target: &Path) -> io::Result<()> {
        self.layer_count += 1;
        let on_disk = self.layers.join(self.layer_count.to_string());
        self.overlay_with(source, target, &on_disk).or_else(|_| {
            // The disk may itself be an overlay, which cannot carry a further upper layer; memory can.
            let memory = self.layers.join("memory");
            if !memory.exists() {
                fs::create_dir_all(&memory)?;
                tmpfs(&memory, "mode=755").map_err(io::Error::other)?;
            }
            self.overlay_with(source, target, &memory.join(self.layer_count.to_string()))
        })
    }

    fn overlay_with(&self, source: &Path, target: &Path, layer: &Path) -> io::Result<()> {
        let (upper, work) = (layer.join("upper"), layer.join("work"));
        fs::create_dir_all(&work)?;
        fs::create_dir_all(&upper)?;
        copy_attributes(source, &upper);
        for (place, is_dir) in self.targets.iter().filter(|(place, _)| is_below(place, source)) {
            self.prepare_target(source, &upper, place, *is_dir)?;
        }
        let options = format!(
            "lowerdir={},upperdir={},workdir={}{}",
            escaped(source),
            escaped(&upper),
            escaped(&work),
            if self.userns { ",userxattr" } else { "" }
        );
        mount(
            Some("overlay"),
            target,
            Some("overlay"),
            MsFlags::empty(),
            Some(options.as_str()),
        )?;
        Ok(())
    }

    /// Makes the mount point of a volume in the upper layer: in a user namespace that cannot be done afterwards.
    fn prepare_target(&self, source: &Path, upper: &Path, place: &Path, is_dir: bool) -> io::Result<()> {
        if self
            .host_mounts
            .iter()
            .any(|point| is_below(point, source) && (place == point || is_below(place, point)))
        {
            return Ok(());
        }
        let mut at = PathBuf::new();
        let parts: Vec<Component<'_>> = relative_to(place, source).components().collect();
        for (index, part) in parts.iter().enumerate() {
            at.push(part);
            let here = upper.join(&at);
            if here.symlink_metadata().is_ok() {
                continue;
            }
            if index + 1 == parts.len() && !is_dir {
                File::create(&here)?;
            } else {
                fs::create_dir(&here)?;
                copy_attributes(&source.join(&at), &here);
            }
        }
        Ok(())
    }

    fn pivot(&self) -> Outcome {
        let old = self.root.join(relative(Path::new(OLD_ROOT)));
        create_dir(&old)?;
        pivot_root(&self.root, &old).map_err(|e| format!("change the root: {e}"))?;
        chdir("/").map_err(|e| format!("change the root: {e}"))
    }
}

/// `/proc`, `/sys` and a `/dev` with harmless devices only.
fn kernel_file_systems() -> Outcome {
    let old = Path::new(OLD_ROOT);
    for name in ["proc", "sys", "dev", "tmp"] {
        create_dir(&Path::new("/").join(name))?;
    }
    bind(&old.join("proc"), Path::new("/proc"))?;
    bind(&old.join("sys"), Path::new("/sys"))?;
    sys::make_read_only(Path::new("/sys")).map_err(|e| format!("make /sys read-only: {e}"))?;
    tmpfs(Path::new("/dev"), "mode=755")?;
    for device in DEVICES {
        let source = old.join("dev").join(device);
        if source.exists() {
            let target = Path::new("/dev").join(device);
            create_file(&target)?;
            bind(&source, &target)?;
        }
    }
    for dir in ["/dev/shm", "/dev/pts"] {
        create_dir(Path::new(dir))?;
    }
    tmpfs(Path::new("/dev/shm"), "mode=1777")?;
    mount(
        Some("devpts"),
        "/dev/pts",
        Some("devpts"),
        MsFlags::empty(),
        Some("newinstance,ptmxmode=0666,mode=0620"),
    )
    .ok();
    for (link, to) in [
        ("/dev/ptmx", "pts/ptmx"),
        ("/dev/fd", "/proc/self/fd"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/stdout", "/proc/self/fd/1"),
        ("/dev/stderr", "/proc/self/fd/2"),
    ] {
        symlink(to, link).map_err(|e| format!("{link}: {e}"))?;
    }
    Ok(())
}

fn mount_volume(source: &Path, target: &Path, read_only: bool) -> Outcome {
    let from = Path::new(OLD_ROOT).join(relative(source));
    let is_dir = fs::metadata(&from)
        .map_err(|e| format!("{}: {e}", source.display()))?
        .is_dir();
    if is_dir {
        fs::create_dir_all(target).map_err(|e| format!("create mount point {}: {e}", target.display()))?;
    } else if !target.exists() {
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)
                .map_err(|e| format!("create mount point {}: {e}", parent.display()))?;
        }
        create_file(target)?;
    }
    bind(&from, target)?;
    if read_only {
        sys::make_read_only(target).map_err(|e| format!("make {} read-only: {e}", target.display()))?;
    }
    Ok(())
}

/// Mount points of this machine, without those whose place gets a content of its own.
fn host_mounts() -> Outcome<Vec<PathBuf>> {
    let table = fs::read_to_string("/proc/self/mountinfo").map_err(|e| format!("read mounts: {e}"))?;
    let mut points: Vec<PathBuf> = table
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .map(|point| PathBuf::from(unescaped(point)))
        .filter(|point| point != Path::new("/"))
        .filter(|point| !OWN.iter().any(|top| point.starts_with(top)))
        .collect();
    points.sort();
    points.dedup();
    Ok(points)
}

/// Where a path inside the container leads, following the symbolic links that the host has there.
fn landing(target: &Path) -> PathBuf {
    let mut known = target;
    let mut rest = Vec::new();
    loop {
        if let Ok(real) = fs::canonicalize(known) {
            return rest.iter().rev().fold(real, |path, part| path.join(part));
        }
        match (known.parent(), known.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name.to_owned());
                known = parent;
            }
            _ => return target.to_owned(),
        }
    }
}

fn tmpfs(at: &Path, options: &str) -> Outcome {
    mount(
        Some("tmpfs"),
        at,
        Some("tmpfs"),
        MsFlags::MS_NOSUID,
        Some(options),
    )
    .map_err(|e| format!("tmpfs on {}: {e}", at.display()))
}

/// Makes `source` with all that is mounted below appear at `target`.
fn bind(source: &Path, target: &Path) -> Outcome {
    mount(
        Some(source),
        target,
        None::<&str>,
        MsFlags::MS_BIND | MsFlags::MS_REC,
        None::<&str>,
    )
    .map_err(|e| format!("bind {} to {}: {e}", source.display(), target.display()))
}

fn create_dir(path: &Path) -> Outcome {
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(format!("create {}: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

fn create_file(path: &Path) -> Outcome {
    match File::options().create_new(true).write(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(format!("create {}: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

/// A directory of the upper layer stands for the one below it and so takes its mode and, if possible, its owner.
fn copy_attributes(from: &Path, to: &Path) {
    if let Ok(facts) = fs::metadata(from) {
        chown(to, Some(facts.uid()), Some(facts.gid())).ok();
        fs::set_permissions(to, fs::Permissions::from_mode(facts.mode() & 0o7777)).ok();
    }
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn is_below(path: &Path, dir: &Path) -> bool {
    path != dir && path.starts_with(dir)
}

fn relative(path: &Path) -> &Path {
    relative_to(path, Path::new("/"))
}

fn relative_to<'a>(path: &'a Path, base: &Path) -> &'a Path {
    path.strip_prefix(base).unwrap_or(path)
}

/// A path as the overlay's options want it.
fn escaped(path: &Path) -> String {
    path.to_string_lossy()
        .replace('\\', "\\\\")
        .replace(':', "\\:")
        .replace(',', "\\,")
}

/// A path as the table of mounts has it, with its octal escapes undone.
fn unescaped(text: &str) -> String {
    text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\")
}
