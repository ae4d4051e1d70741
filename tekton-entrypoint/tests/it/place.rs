//! A directory that stands for the root of a container, and programs that run in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tekton_entrypoint::PATH_PREFIX_VARIABLE;
use tekton_entrypoint::contract::termination;

/// Nothing in these tests takes this long unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Place {
    root: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// Repeats what takes a moment until it once took less than the interval in which things are looked at
/// without being told. A busy machine may be slow now and then, but not always.
pub(crate) fn once_in_a_moment(mut attempt: impl FnMut() -> Duration) {
    let mut taken = Vec::new();
    while taken.len() < 20 {
        taken.push(attempt());
        if taken
            .last()
            .is_some_and(|taken| *taken < Duration::from_millis(500))
        {
            return;
        }
    }
    panic!("never in a moment: {taken:?}");
}

/// What a finished program left.
pub(crate) struct Left {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Left {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self {
            root: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        };
        std::fs::create_dir_all(place.path("work")).unwrap();
        place
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub(crate) fn at(&self, path: &str) -> String {
        self.path(path).display().to_string()
    }

    /// A file, and the directories above it. It appears with its content.
    pub(crate) fn with(self, path: &str, content: &str) -> Self {
        self.put(path, content);
        self
    }

    pub(crate) fn put(&self, path: &str, content: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let hidden = path.with_extension("new");
        std::fs::write(&hidden, content).unwrap();
        std::fs::rename(hidden, path).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.path(path)).ok()
    }

    /// The entries of the termination message, as `key=value:type`; times are left out.
    pub(crate) fn message(&self) -> Vec<String> {
        let content = self.read("tekton/termination").unwrap();
        let entries = termination::existing(content.as_bytes()).unwrap();
        let view = |key: &str, value: &str| {
            if key == "StartedAt" {
                "time".to_owned()
            } else {
                value.to_owned()
            }
        };
        entries
            .iter()
            .map(|entry| {
                format!(
                    "{}={}:{}",
                    entry.key,
                    view(&entry.key, &entry.value),
                    entry.result_type.number()
                )
            })
            .collect()
    }

    pub(crate) fn program(&self, name: &str, args: &[&str]) -> Command {
        let path = match name {
            "entrypoint" => env!("CARGO_BIN_EXE_entrypoint"),
            "nop" => env!("CARGO_BIN_EXE_nop"),
            "sidecarlogresults" => env!("CARGO_BIN_EXE_sidecarlogresults"),
            _ => env!("CARGO_BIN_EXE_workingdirinit"),
        };
        let mut command = Command::new(path);
        command
            .args(args)
            .current_dir(self.path("work"))
            .env_clear()
            .envs(self.variables.iter().cloned());
        command
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env(PATH_PREFIX_VARIABLE, self.root.path());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The step at index 0.
    pub(crate) fn step(&self, flags: &[&str], command: &[&str]) -> Command {
        let (post, metadata) = (self.at("tekton/run/0/out"), self.at("tekton/run/0/status"));
        let mut args = vec!["-post_file", &post, "-step_metadata_dir", &metadata];
        args.extend_from_slice(flags);
        args.extend(["-entrypoint", command[0], "--"]);
        args.extend_from_slice(&command[1..]);
        self.program("entrypoint", &args)
    }

    pub(crate) fn run(&self, flags: &[&str], command: &[&str]) -> Left {
        self.step(flags, command).output().unwrap().into()
    }

    /// Runs a shell script as step.
    pub(crate) fn shell(&self, flags: &[&str], script: &str) -> Left {
        self.run(flags, &["sh", "-c", script])
    }

    /// Waits for a file.
    pub(crate) fn until(&self, path: &str) {
        let begin = Instant::now();
        while !self.path(path).exists() {
            assert!(begin.elapsed() < PATIENCE, "{path} does not appear");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The marker, the exit code file and the content of both.
    pub(crate) fn marks(&self) -> String {
        let marker = [("out", "tekton/run/0/out"), ("err", "tekton/run/0/out.err")];
        let marker: Vec<&str> = marker
            .iter()
            .filter(|(_, path)| self.path(path).exists())
            .map(|(name, _)| *name)
            .collect();
        format!(
            "{} {}",
            marker.join("+"),
            self.read("tekton/run/0/status/exitCode")
                .unwrap_or_else(|| "-".into())
        )
    }
}

/// The end of a program that has been started.
pub(crate) fn finish(child: Child) -> Left {
    child.wait_with_output().unwrap().into()
}

pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("sh")
        .args(["-c", &format!("kill -{name} {}", child.id())])
        .status()
        .unwrap();
    assert!(status.success());
}

pub(crate) fn exists(path: &Path) -> bool {
    path.exists()
}
