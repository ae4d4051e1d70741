//! The process above each container: builds its root, starts its program, passes on signals, reports its end.
//!
//! It is the node's own executable, started again with a marker in the environment. It has one thread, keeps no
//! open file but the socket to the node, and kills everything below it when that socket closes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use nix::errno::Errno;
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Gid, Pid, Uid, dup2_stderr, dup2_stdout, getpid, setgid, setgroups, setsid, setuid};

use super::isolation::Isolation;
use super::wire::{Launch, Order, Report};
use super::{root, sys};

/// Variable that tells the program that it shall be a shim; its value names the node's state directory.
pub(super) const MARKER: &str = "TEKTON_LOCAL_SHIM";

/// Capabilities that could harm the host although its files are out of reach (numbers of `linux/capability.h`).
const HARMFUL: [libc::c_ulong; 6] = [16, 17, 20, 22, 25, 27]; // modules, raw I/O, accounting, boot, time, device files

/// What the shim's work may end with.
type Outcome<T = ()> = Result<T, String>;

/// Acts as shim when this process was started as one, and returns its exit code then.
///
/// To be called first in `main` of every program that runs a [`Node`](super::Node), before any thread is started.
#[must_use]
pub fn run_if_requested() -> Option<ExitCode> {
    std::env::var_os(MARKER)?;
    Some(match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn run() -> io::Result<()> {
    // A session of its own: the interrupt key of the terminal reaches the node only.
    setsid().ok();
    let mut socket = Socket {
        stream: UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?),
        pending: Vec::new(),
    };
    let Some(launch) = socket.receive::<Launch>()? else {
        return Ok(());
    };
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGCHLD);
    mask.thread_block()?;
    let children = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    prctl::set_child_subreaper(true)?;
    match start(&launch) {
        Ok(None) => socket.send(&Report::Exited { code: 0 }),
        Ok(Some(pid)) => {
            release_output()?;
            socket.send(&Report::Started { pid: pid.as_raw() })?;
            Supervisor {
                launch,
                pid,
                execs: BTreeMap::new(),
                socket,
            }
            .supervise(&children)
        }
        Err(message) => socket.send(&Report::Refused { message }),
    }
}

/// Builds the root and starts the program; nothing is started for a probe.
fn start(launch: &Launch) -> Outcome<Option<Pid>> {
    if launch.isolation != Isolation::None {
        root::enter(launch)?;
    }
    if launch.probe {
        return Ok(None);
    }
    if !launch.cwd.as_os_str().is_empty() {
        std::fs::create_dir_all(&launch.cwd).map_err(|e| {
            format!(
                "unable to start container process: error during container init: mkdir {}: {e}",
                launch.cwd.display()
            )
        })?;
    }
    if launch.read_only_root && launch.isolation != Isolation::None {
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
        mount(None::<&str>, "/", None::<&str>, flags, None::<&str>)
            .map_err(|e| format!("read-only root: {e}"))?;
    }
    let (mut command, name) = command_of(launch, &launch.argv)?;
    command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let setup = launch.clone();
    let child = sys::spawn_prepared(&mut command, move || prepare(&setup, true))
        .map_err(|error| refusal(&name, &error_text(&error)))?;
    Ok(Some(Pid::from_raw(child.id().cast_signed())))
}

/// The command for a program in the container, and the name it was called by.
fn command_of(launch: &Launch, argv: &[String]) -> Outcome<(Command, String)> {
    let Some((name, arguments)) = argv.split_first() else {
        return Err("no command specified".to_owned());
    };
    let program = find_program(launch, name)?;
    let mut command = Command::new(program);
    std::os::unix::process::CommandExt::arg0(&mut command, name);
    command.args(arguments).env_clear().stdin(Stdio::null());
    command.envs(launch.env.iter().map(|(key, value)| (key, value)));
    if !launch.cwd.as_os_str().is_empty() {
        command.current_dir(&launch.cwd);
    }
    Ok((command, name.clone()))
}

/// Looks a program up the way a container runtime does; the error is the runtime's.
fn find_program(launch: &Launch, name: &str) -> Outcome<PathBuf> {
    let not_found = || Err(refusal(name, "executable file not found in $PATH"));
    if !launch.closed_to.is_empty()
        && !launch
            .closed_to
            .iter()
            .any(|known| Path::new(name).starts_with(known))
    {
        return if name.contains('/') {
            Err(refusal(name, &format!("stat {name}: no such file or directory")))
        } else {
            not_found()
        };
    }
    if name.contains('/') {
        let path = launch.cwd.join(name);
        return match std::fs::metadata(&path) {
            Err(error) => Err(refusal(name, &format!("stat {name}: {}", error_text(&error)))),
            Ok(facts) if facts.is_dir() => Err(refusal(name, "is a directory")),
            Ok(facts) if facts.permissions().mode() & 0o111 == 0 => Err(refusal(name, "permission denied")),
            Ok(_) => Ok(path),
        };
    }
    let path = launch
        .env
        .iter()
        .rev()
        .find(|(key, _)| key == "PATH")
        .map_or("", |(_, value)| value.as_str());
    let found = path
        .split(':')
        .filter(|dir| !dir.is_empty())
        .map(|dir| Path::new(dir).join(name))
        .find(|candidate| {
            std::fs::metadata(candidate)
                .is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
        });
    found.map_or_else(not_found, Ok)
}

fn refusal(name: &str, reason: &str) -> String {
    format!("unable to start container process: error during container init: exec: \"{name}\": {reason}")
}

/// The kernel's words for an error, without the number that the standard library adds.
fn error_text(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(
        || error.to_string(),
        |number| Errno::from_raw(number).desc().to_lowercase(),
    )
}

/// In the new process, right before its program takes over.
fn prepare(launch: &Launch, first: bool) -> io::Result<()> {
    setsid().ok();
    if launch.isolation != Isolation::None && first {
        // A view of the new process namespace; refused where the host's own view is restricted, which does no harm.
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        mount(Some("proc"), "/proc", Some("proc"), flags, None::<&str>).ok();
    }
    if launch.isolation == Isolation::Namespaces && !launch.privileged {
        HARMFUL.into_iter().for_each(sys::drop_capability);
    }
    if launch.isolation == Isolation::Namespaces
        || Uid::effective().is_root() && launch.isolation == Isolation::None
    {
        if launch.user.is_some() || launch.group.is_some() || !launch.groups.is_empty() {
            setgroups(
                &launch
                    .groups
                    .iter()
                    .copied()
                    .map(Gid::from_raw)
                    .collect::<Vec<_>>(),
            )?;
        }
        if let Some(group) = launch.group {
            setgid(Gid::from_raw(group))?;
        }
        if let Some(user) = launch.user {
            setuid(Uid::from_raw(user))?;
        }
    }
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    Ok(())
}

/// Lets go of the container's output, so that its end is seen when the container closes it.
fn release_output() -> io::Result<()> {
    let null = File::options().write(true).open("/dev/null")?;
    dup2_stdout(null.as_fd())?;
    dup2_stderr(null.as_fd())?;
    Ok(())
}

/// Watches over one running container.
struct Supervisor {
    launch: Launch,
    pid: Pid,
    execs: BTreeMap<i32, u64>,
    socket: Socket,
}

impl Supervisor {
    fn supervise(mut self, children: &SignalFd) -> io::Result<()> {
        loop {
            let (hung_up, child_ended) = self.wait(children.as_fd())?;
            if child_ended {
                while let Ok(Some(_)) = children.read_signal() {}
                if let Some(code) = self.reap()? {
                    self.kill_rest();
                    return self.socket.send(&Report::Exited { code });
                }
            }
            if hung_up && !self.obey()? {
                kill(self.pid, Signal::SIGKILL).ok();
                self.kill_rest();
                return Ok(());
            }
        }
    }

    /// Waits until the node said something or a child ended.
    fn wait(&self, children: BorrowedFd<'_>) -> io::Result<(bool, bool)> {
        let mut fds = [
            PollFd::new(self.socket.stream.as_fd(), PollFlags::POLLIN),
            PollFd::new(children, PollFlags::POLLIN),
        ];
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok((false, false)),
            Err(error) => return Err(error.into()),
        }
        let [node, child] = fds;
        Ok((node.any().unwrap_or(true), child.any().unwrap_or(true)))
    }

    /// Collects ended children; the exit code of the container's own program ends the watch.
    fn reap(&mut self) -> io::Result<Option<i32>> {
        loop {
            let (pid, code) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) => (pid, code),
                Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, 128 + signal as i32),
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return Ok(None),
                Ok(_) | Err(Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
            };
            if pid == self.pid {
                return Ok(Some(code));
            }
            if let Some(id) = self.execs.remove(&pid.as_raw()) {
                self.socket.send(&Report::ExecDone { id, code })?;
            }
        }
    }

    /// Carries out what the node wants; false once the node is gone.
    fn obey(&mut self) -> io::Result<bool> {
        let Some(order) = self.socket.receive::<Order>()? else {
            return Ok(false);
        };
        let mut next = Some(order);
        while let Some(order) = next {
            match order {
                Order::Terminate => kill(self.pid, Signal::SIGTERM).ok(),
                Order::Kill => kill(self.pid, Signal::SIGKILL).ok(),
                Order::Exec { id, argv } => {
                    self.exec(id, &argv)?;
                    Some(())
                }
            };
            next = self.socket.next_pending();
        }
        Ok(true)
    }

    fn exec(&mut self, id: u64, argv: &[String]) -> io::Result<()> {
        let started = command_of(&self.launch, argv).and_then(|(mut command, name)| {
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let setup = self.launch.clone();
            sys::spawn_prepared(&mut command, move || prepare(&setup, false))
                .map_err(|e| refusal(&name, &error_text(&e)))
        });
        match started {
            Ok(child) => {
                self.execs.insert(child.id().cast_signed(), id);
                Ok(())
            }
            Err(_) => self.socket.send(&Report::ExecDone { id, code: 127 }),
        }
    }

    /// Kills what the container left running: with namespaces the kernel did, else all became children of the shim.
    fn kill_rest(&self) {
        let listing = format!("/proc/{0}/task/{0}/children", getpid());
        loop {
            if self.launch.isolation == Isolation::None {
                for pid in std::fs::read_to_string(&listing)
                    .unwrap_or_default()
                    .split_whitespace()
                {
                    if let Ok(pid) = pid.parse() {
                        kill(Pid::from_raw(pid), Signal::SIGKILL).ok();
                    }
                }
            }
            match waitpid(None, None) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => return,
            }
        }
    }
}

/// The shim's end of the connection with the node.
struct Socket {
    stream: UnixStream,
    pending: Vec<u8>,
}

impl Socket {
    /// The next message; nothing once the node is gone.
    fn receive<T: serde::de::DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut chunk = [0; 16 * 1024];
        loop {
            if let Some(message) = self.next_pending() {
                return Ok(Some(message));
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(count) => self.pending.extend(chunk.iter().take(count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// The next message that was read already.
    fn next_pending<T: serde::de::DeserializeOwned>(&mut self) -> Option<T> {
        let end = self.pending.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.pending.drain(..=end).collect();
        serde_json::from_slice(&line).ok()
    }

    fn send(&mut self, report: &Report) -> io::Result<()> {
        let mut line = serde_json::to_vec(report)?;
        line.push(b'\n');
        self.stream.write_all(&line)
    }
}
