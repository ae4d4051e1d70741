//! Signals of the process, taken one by one from a descriptor instead of by handlers.
//!
//! Blocked from the first moment of the program on: while a command runs they are passed on to its process
//! group, at any other time they do what they always do. The first process of a container has no default
//! actions; there, and only there, ending is left to an exit code.

use std::os::fd::{AsFd, BorrowedFd};
use std::process;

use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

/// Exit code of a process that a signal should have ended but could not.
const UNKILLABLE: i32 = 2;

/// The blocked signals.
#[derive(Debug)]
pub(crate) struct Signals {
    descriptor: SignalFd,
}

impl Signals {
    /// Blocks the signals in this thread, which has to be the only one.
    pub(crate) fn block() -> nix::Result<Self> {
        let mask: SigSet = Signal::iterator()
            .filter(|signal| !is_left_alone(*signal))
            .collect();
        mask.thread_block()?;
        Ok(Self {
            descriptor: SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?,
        })
    }

    /// The next signal that has arrived.
    pub(crate) fn next(&self) -> Option<Signal> {
        loop {
            let info = self.descriptor.read_signal().ok()??;
            let number = i32::try_from(info.ssi_signo).unwrap_or_default();
            if let Ok(signal) = Signal::try_from(number) {
                return Some(signal);
            }
        }
    }

    /// Does with all signals that have arrived what happens by default.
    pub(crate) fn act_by_default(&self) {
        while let Some(signal) = self.next() {
            match signal {
                Signal::SIGCHLD => drop(reap_orphans(None)),
                Signal::SIGCONT
                | Signal::SIGURG
                | Signal::SIGWINCH
                | Signal::SIGPIPE
                | Signal::SIGTSTP
                | Signal::SIGTTIN
                | Signal::SIGTTOU => {}
                fatal => end_by(fatal),
            }
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Signals that cannot be blocked, or that report a defect of this very program.
fn is_left_alone(signal: Signal) -> bool {
    matches!(
        signal,
        Signal::SIGKILL
            | Signal::SIGSTOP
            | Signal::SIGSEGV
            | Signal::SIGBUS
            | Signal::SIGFPE
            | Signal::SIGILL
            | Signal::SIGABRT
            | Signal::SIGTRAP
            | Signal::SIGSYS
    )
}

fn end_by(signal: Signal) {
    let _ = raise(signal);
    let _ = SigSet::from(signal).thread_unblock();
    process::exit(UNKILLABLE);
}

/// As the first process of a container: collects children that lost their parents. Tells how `wanted` ended.
pub(crate) fn reap_orphans(wanted: Option<Pid>) -> Option<WaitStatus> {
    if getpid().as_raw() != 1 {
        return None;
    }
    let mut found = None;
    while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG)) {
        let Some(pid) = status.pid() else { break };
        if Some(pid) == wanted {
            found = Some(status);
        }
    }
    found
}
