//! The node's side of a container's process: starts the shim, passes orders on, hands out its reports.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::process::{ChildStderr, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::shim::MARKER;
use super::wire::{Launch, Order, Report};

/// Exit code of a container that was killed.
pub(super) const KILLED: i32 = 137;

/// How shims are started.
#[derive(Clone, Debug)]
pub(super) struct ShimProgram {
    /// The executable whose `main` calls [`run_if_requested`](super::shim::run_if_requested).
    pub program: PathBuf,
    /// Value of the marker: by it the next start finds what a killed node left behind.
    pub instance: OsString,
    /// Knows when all shims have ended.
    pub shims: TaskTracker,
}

/// A container's process.
#[derive(Debug)]
pub(super) struct Process {
    /// What the shim says; closed after the last report.
    pub reports: mpsc::UnboundedReceiver<Report>,
    /// For orders to the shim.
    pub orders: mpsc::UnboundedSender<Order>,
    /// The container's standard output.
    pub stdout: ChildStdout,
    /// The container's error output.
    pub stderr: ChildStderr,
}

impl Process {
    /// Starts a shim for `launch`. Dropping the orders' sender kills the container.
    pub(super) fn start(shim: &ShimProgram, launch: &Launch) -> io::Result<Self> {
        let (ours, theirs) = StdStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut child = Command::new(&shim.program)
            .env_clear()
            .env(MARKER, &shim.instance)
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let stderr = child.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let (from_shim, mut to_shim) = UnixStream::from_std(ours)?.into_split();
        let (report, reports) = mpsc::unbounded_channel();
        let (orders, mut order) = mpsc::unbounded_channel::<Order>();
        let mut first = serde_json::to_vec(launch)?;
        first.push(b'\n');
        tokio::spawn(async move {
            if to_shim.write_all(&first).await.is_err() {
                return;
            }
            while let Some(order) = order.recv().await {
                let Ok(mut line) = serde_json::to_vec(&order) else {
                    continue;
                };
                line.push(b'\n');
                if to_shim.write_all(&line).await.is_err() {
                    return;
                }
            }
        });
        shim.shims.spawn(async move {
            let mut lines = BufReader::new(from_shim).lines();
            let mut ended = false;
            while let Ok(Some(line)) = lines.next_line().await {
                if let Ok(message) = serde_json::from_str::<Report>(&line) {
                    ended |= matches!(message, Report::Exited { .. } | Report::Refused { .. });
                    report.send(message).ok();
                }
            }
            child.wait().await.ok();
            if !ended {
                report.send(Report::Exited { code: KILLED }).ok();
            }
        });
        Ok(Self {
            reports,
            orders,
            stdout,
            stderr,
        })
    }
}

/// Whether a process would take notice of SIGTERM; the first process of a namespace otherwise never does.
pub(super) fn listens_to_terminate(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_none_or(|mask| mask & (1 << (15 - 1)) != 0)
}
