//! From a container of a pod to what its shim has to do.
//!
//! With namespaces everything appears at its real path. Without, the pod's paths are replaced by places of the host in
//! arguments, environment and working directory, and in scripts that init containers put into empty directories.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::{Container, Pod};

use super::env::{Sources, environment, expand};
use super::fields::NodeFacts;
use super::images::{BuiltinImage, BuiltinImages, argv};
use super::isolation::Isolation;
use super::paths::PathMap;
use super::volumes::{Places, binds};
use super::wire::{Bind, Launch};

/// Where a container leaves its last words unless it says otherwise.
const TERMINATION_LOG: &str = "/dev/termination-log";
/// Directories of a pod that every container has, mounted or not.
const POD_ROOTS: [&str; 2] = ["/tekton", "/workspace"];
/// Larger files of an empty directory are no scripts.
const LARGEST_SCRIPT: u64 = 4 * 1024 * 1024;

/// Everything around a container that its start depends on.
#[derive(Debug)]
pub(super) struct Surroundings<'a> {
    /// The pod.
    pub pod: &'a Pod,
    /// How containers are kept apart.
    pub isolation: Isolation,
    /// Facts of the node.
    pub node: &'a NodeFacts,
    /// Images that need no pull.
    pub images: &'a BuiltinImages,
    /// Objects the environment refers to.
    pub sources: &'a Sources,
    /// Volumes of the pod.
    pub places: &'a Places,
    /// Variables that every container gets: search path, home, address of the API.
    pub base_env: &'a [(String, String)],
    /// Private directory of the pod.
    pub pod_dir: &'a Path,
    /// Private directory of the container.
    pub directory: &'a Path,
}

/// Why a container cannot be started yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfigProblem(pub String);

/// Makes the private directory of a container and says how it is started.
pub(super) fn launch(container: &Container, around: &Surroundings<'_>) -> Result<Launch, ConfigProblem> {
    let env = environment(
        around.pod,
        container,
        around.node,
        around.sources,
        around.base_env.to_vec(),
    )
    .map_err(ConfigProblem)?;
    let image = container
        .image
        .as_ref()
        .and_then(|image| around.images.get(image));
    let words = |texts: &Option<Vec<String>>| {
        texts
            .iter()
            .flatten()
            .map(|text| expand(text, &env))
            .collect::<Vec<_>>()
    };
    let argv = argv(image, &words(&container.command), &words(&container.args));
    let failed = |e: io::Error| ConfigProblem(format!("prepare container directory: {e}"));
    prepare(around.directory).map_err(failed)?;
    let binds = all_binds(container, image, around, &env).map_err(ConfigProblem)?;
    let mut launch = Launch {
        isolation: around.isolation,
        directory: around.directory.to_owned(),
        hostname: around.pod.metadata.name.clone().unwrap_or_default(),
        closed_to: image
            .map(|_| binds.iter().map(|bind| bind.target.clone()).collect())
            .unwrap_or_default(),
        mounts: binds,
        argv,
        env,
        cwd: PathBuf::from(container.working_dir.as_deref().unwrap_or_default()),
        ..Launch::default()
    };
    if image.is_some() && launch.closed_to.is_empty() {
        launch.closed_to.push(PathBuf::from(TERMINATION_LOG));
    }
    set_identity(&mut launch, around.pod, container);
    if around.isolation == Isolation::None {
        replace_paths(&mut launch, around).map_err(failed)?;
    } else if launch.cwd.as_os_str().is_empty() {
        launch.cwd = PathBuf::from("/");
    }
    Ok(launch)
}

/// Replaces paths in the command of a probe or hook.
pub(super) fn probe_command(launch: &Launch, pod_dir: &Path, command: &[String]) -> Vec<String> {
    if launch.isolation != Isolation::None {
        return command.to_vec();
    }
    let map = path_map(&launch.mounts, pod_dir);
    command.iter().map(|word| map.text(word)).collect()
}

/// The file in which a container leaves its last words.
pub(super) fn termination_log(directory: &Path) -> PathBuf {
    directory.join("termination-log")
}

fn prepare(directory: &Path) -> io::Result<()> {
    for name in ["tmp", "cwd"] {
        let dir = directory.join(name);
        fs::create_dir_all(&dir)?;
        fs::set_permissions(dir, fs::Permissions::from_mode(0o1777))?;
    }
    let log = termination_log(directory);
    fs::write(&log, "")?;
    fs::set_permissions(log, fs::Permissions::from_mode(0o666))
}

/// Volumes, files of the image and the file for the last words.
fn all_binds(
    container: &Container,
    image: Option<&BuiltinImage>,
    around: &Surroundings<'_>,
    env: &[(String, String)],
) -> Result<Vec<Bind>, String> {
    let mut all: Vec<Bind> = image
        .iter()
        .flat_map(|image| &image.files)
        .map(|(target, source)| Bind {
            source: source.clone(),
            target: target.clone(),
            read_only: true,
        })
        .collect();
    all.extend(binds(container, around.places, env)?);
    let path = container
        .termination_message_path
        .as_deref()
        .filter(|path| !path.is_empty())
        .unwrap_or(TERMINATION_LOG);
    all.push(Bind {
        source: termination_log(around.directory),
        target: PathBuf::from(path),
        read_only: false,
    });
    Ok(all)
}

fn set_identity(launch: &mut Launch, pod: &Pod, container: &Container) {
    let own = container.security_context.as_ref();
    let shared = pod.spec.as_ref().and_then(|spec| spec.security_context.as_ref());
    let number = |id: Option<i64>| id.and_then(|id| u32::try_from(id).ok());
    launch.user = number(
        own.and_then(|c| c.run_as_user)
            .or(shared.and_then(|c| c.run_as_user)),
    );
    launch.group = number(
        own.and_then(|c| c.run_as_group)
            .or(shared.and_then(|c| c.run_as_group)),
    );
    let more = shared
        .iter()
        .flat_map(|c| c.supplemental_groups.iter().flatten().copied().chain(c.fs_group));
    launch.groups = more.filter_map(|id| u32::try_from(id).ok()).collect();
    launch.privileged = own.and_then(|c| c.privileged) == Some(true);
    launch.read_only_root = own.and_then(|c| c.read_only_root_filesystem) == Some(true);
}

/// Which paths are replaced by what, without namespaces.
fn path_map(mounts: &[Bind], pod_dir: &Path) -> PathMap {
    let mut map = PathMap::below(pod_dir);
    for bind in mounts {
        map.add(&bind.target, &bind.source);
    }
    for root in POD_ROOTS {
        map.add(
            Path::new(root),
            &pod_dir.join("root").join(root.trim_start_matches('/')),
        );
    }
    map
}

fn replace_paths(launch: &mut Launch, around: &Surroundings<'_>) -> io::Result<()> {
    let root = around.pod_dir.join("root");
    for dir in POD_ROOTS {
        open_dir(&root.join(dir.trim_start_matches('/')))?;
    }
    for bind in &mut launch.mounts {
        // A file of an image keeps its name, by which a program with several faces knows what it shall do.
        if around
            .places
            .values()
            .all(|place| !bind.source.starts_with(&place.path))
            && bind.read_only
        {
            let link = around
                .directory
                .join("image")
                .join(bind.target.strip_prefix("/").unwrap_or(&bind.target));
            link_to(&bind.source, &link)?;
            bind.source = link;
        } else if POD_ROOTS
            .iter()
            .any(|top| bind.target.starts_with(top) && bind.target != Path::new(top))
        {
            // Seen when the directory above is listed; without effect where a mounted volume is above.
            link_to(
                &bind.source,
                &root.join(bind.target.strip_prefix("/").unwrap_or(&bind.target)),
            )
            .ok();
        }
    }
    let map = path_map(&launch.mounts, around.pod_dir);
    for word in &mut launch.argv {
        *word = map.text(word);
    }
    for (_, value) in &mut launch.env {
        *value = map.text(value);
    }
    for program in &mut launch.closed_to {
        *program = map.path(program);
    }
    launch.cwd = if launch.cwd.as_os_str().is_empty() || launch.cwd == Path::new("/") {
        around.directory.join("cwd")
    } else {
        map.path(&launch.cwd)
    };
    if !launch.env.iter().any(|(name, _)| name == "TMPDIR") {
        launch.env.push((
            "TMPDIR".to_owned(),
            around.directory.join("tmp").to_string_lossy().into_owned(),
        ));
    }
    Ok(())
}

fn open_dir(path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        fs::create_dir_all(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o777))?;
    }
    Ok(())
}

fn link_to(to: &Path, link: &Path) -> io::Result<()> {
    if let Some(parent) = link.parent() {
        fs::create_dir_all(parent)?;
    }
    match symlink(to, link) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Replaces paths in the scripts which an init container has put into empty directories, without namespaces.
pub(super) fn replace_in_scripts(pod: &Pod, places: &Places, pod_dir: &Path) -> io::Result<()> {
    let Some(spec) = pod.spec.as_ref() else {
        return Ok(());
    };
    let mut map = PathMap::below(pod_dir);
    for container in spec
        .containers
        .iter()
        .chain(spec.init_containers.iter().flatten())
    {
        for bind in binds(container, places, &[]).unwrap_or_default() {
            map.add(&bind.target, &bind.source);
        }
    }
    for root in POD_ROOTS {
        map.add(
            Path::new(root),
            &pod_dir.join("root").join(root.trim_start_matches('/')),
        );
    }
    for place in places.values().filter(|place| place.scratch) {
        replace_in_directory(&place.path, &map, 8)?;
    }
    Ok(())
}

fn replace_in_directory(dir: &Path, map: &PathMap, depth: u32) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let facts = fs::symlink_metadata(entry.path())?;
        if facts.is_dir() && depth > 0 {
            replace_in_directory(&entry.path(), map, depth - 1)?;
        } else if facts.is_file() && facts.len() <= LARGEST_SCRIPT {
            let content = fs::read(entry.path())?;
            let script = content.starts_with(b"#!") || facts.permissions().mode() & 0o111 != 0;
            if let Some(replaced) = map.bytes(&content).filter(|_| script) {
                fs::write(entry.path(), replaced)?;
            }
        }
    }
    Ok(())
}
