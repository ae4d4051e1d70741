//! Starts the `tekton` command on files of a test, with folders of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A place for one test: files, and the folder in which `tekton` keeps its pods.
pub(crate) struct Place {
    dir: TempDir,
}

/// What a finished `tekton` said.
pub(crate) struct Said {
    /// Exit code.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().expect("a folder for the test"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).expect("a file of the test");
        path
    }

    /// The command with its state below this place.
    pub(crate) fn tekton(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tekton"));
        command
            .args(args)
            .env("XDG_RUNTIME_DIR", self.state())
            .env("TMPDIR", self.state());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Where pods, logs and locks are kept.
    pub(crate) fn state(&self) -> PathBuf {
        let state = self.dir.path().join("state");
        std::fs::create_dir_all(&state).expect("the state folder");
        state
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        said(self.tekton(args).output().expect("tekton starts"))
    }

    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        self.tekton(args).spawn().expect("tekton starts")
    }

    /// Runs a document with `-o json` and returns its events.
    pub(crate) fn events(&self, yaml: &str, args: &[&str]) -> (Said, Vec<Value>) {
        let file = self.file("run.yaml", yaml);
        let mut words = vec!["run", file.to_str().expect("a plain path"), "-o", "json"];
        words.extend(args);
        let said = self.run(&words);
        let events = said
            .out
            .lines()
            .map(|line| serde_json::from_str(line).expect("a JSON event a line"))
            .collect();
        (said, events)
    }
}

pub(crate) fn said(output: Output) -> Said {
    Said {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The lines that steps wrote, as `task/step: line`.
pub(crate) fn log_lines(events: &[Value]) -> Vec<String> {
    let text = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
    let logs = events.iter().filter(|event| event["type"] == "log");
    logs.map(|event| {
        format!(
            "{}/{}: {}",
            text(event, "task"),
            text(event, "step"),
            text(event, "line")
        )
    })
    .collect()
}

/// The event that ends a run.
pub(crate) fn finished(events: &[Value]) -> Value {
    events
        .iter()
        .rev()
        .find(|event| event["type"] == "finished")
        .cloned()
        .unwrap_or_default()
}

/// The isolation levels that this machine allows, as `--isolation` names them.
pub(crate) fn isolation_levels() -> Vec<&'static str> {
    let runs = |args: &[&str]| {
        let status = Command::new("unshare")
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    let mut levels = vec!["none"];
    if runs(&["-m", "mount", "-t", "tmpfs", "none", "/mnt"]) {
        levels.push("namespaces");
    }
    if runs(&["-U", "-r", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]) {
        levels.push("user-namespaces");
    }
    levels
}
