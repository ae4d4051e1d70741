//! Starts a command in fresh user, process, mount and network namespaces: hermetic execution.
//!
//! The one place with `unsafe` in this crate. The namespaces have to be made by `clone`, because only a process
//! outside of them may map the users, and only a child is the first process of a new process namespace.
//! Upstream counterpart: `cmd/entrypoint/namespaces_linux.go`.

use std::ffi::{CString, OsStr, c_char};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::ptr;

use nix::errno::Errno;
use nix::libc;
use nix::sched::{CloneFlags, clone};
use nix::sys::signal::{SigHandler, SigSet, Signal, kill, signal};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, close, dup2_stderr, dup2_stdin, dup2_stdout, setpgid};

use super::spawn::{Start, is_unusable};
use super::streams::Streams;
use crate::error::StepError;

const STACK: usize = 256 * 1024;

/// Starts the command. Users and groups in it are those outside.
pub(crate) fn start(start: &Start<'_>, streams: &mut Streams) -> Result<Pid, StepError> {
    let failed = |error: io::Error| start.failed(&error);
    let prepared = Prepared::new(start, streams).map_err(failed)?;
    let (mut mapped_in_child, mut mapped) = io::pipe().map_err(failed)?;
    let (mut refused, mut refused_in_child) = io::pipe().map_err(failed)?;
    let outside = [mapped.as_raw_fd(), refused.as_raw_fd()];
    let child = || {
        let _ = outside.map(close);
        let mut go = [0];
        let errno = match mapped_in_child.read(&mut go) {
            Ok(1) => prepared.become_command(),
            _ => Errno::EPERM,
        };
        let _ = refused_in_child.write_all(&(errno as i32).to_ne_bytes());
        127
    };
    let flags = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNET;
    let mut stack = vec![0; STACK];
    // SAFETY: without CLONE_VM the child has a copy of the memory, as after fork, so nothing it does can reach
    // data of this process; the stack lives in that copy. The child only makes system calls, with descriptors
    // and strings that were prepared before: it allocates nothing and takes no lock, which makes it sound even
    // if this process has more threads. The two descriptors it closes are its own copies, and their owners are
    // never dropped there.
    #[expect(
        unsafe_code,
        reason = "namespaces need clone, for which there is no safe interface"
    )]
    let pid = unsafe { clone(Box::new(child), &mut stack, flags, Some(Signal::SIGCHLD as i32)) };
    let pid = pid.map_err(|errno| failed(errno.into()))?;
    drop((prepared, mapped_in_child, refused_in_child));
    let allowed = map_users(pid).and_then(|()| mapped.write_all(&[1]));
    drop(mapped);
    if let Err(error) = allowed {
        let _ = kill(pid, Signal::SIGKILL);
        let _ = waitpid(pid, None);
        return Err(failed(error));
    }
    let mut errno = [0; 4];
    if refused.read_exact(&mut errno).is_ok() {
        let _ = waitpid(pid, None);
        return Err(failed(io::Error::from_raw_os_error(i32::from_ne_bytes(errno))));
    }
    Ok(pid)
}

/// All users and groups keep their numbers.
fn map_users(pid: Pid) -> io::Result<()> {
    let all = format!("0 0 {}\n", u32::MAX);
    fs::write(format!("/proc/{pid}/uid_map"), &all)?;
    fs::write(format!("/proc/{pid}/setgroups"), "allow")?;
    fs::write(format!("/proc/{pid}/gid_map"), &all)
}

/// What the child needs, made before it exists.
struct Prepared {
    path: CString,
    args: Vec<CString>,
    variables: Vec<CString>,
    stdin: File,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
}

impl Prepared {
    fn new(start: &Start<'_>, streams: &mut Streams) -> io::Result<Self> {
        let text = |bytes: &[u8]| CString::new(bytes).map_err(io::Error::other);
        let words = std::iter::once(start.program).chain(start.args.iter().map(String::as_str));
        let args = words
            .map(|word| text(word.as_bytes()))
            .collect::<io::Result<Vec<_>>>()?;
        let variables = start
            .environment
            .iter()
            .filter(|(name, value)| !is_unusable(name, value))
            .map(|(name, value)| text(&[name, OsStr::new("="), value].map(OsStr::as_bytes).concat()))
            .collect::<io::Result<Vec<_>>>()?;
        let (stdout, stderr) = streams.for_child()?;
        let pointers = |texts: &[CString]| {
            texts
                .iter()
                .map(|text| text.as_ptr())
                .chain([ptr::null()])
                .collect()
        };
        Ok(Self {
            path: text(start.path.as_os_str().as_bytes())?,
            argv: pointers(&args),
            envp: pointers(&variables),
            args,
            variables,
            stdin: File::open("/dev/null")?,
            stdout,
            stderr,
        })
    }

    /// Runs in the child, and returns only if it fails.
    fn become_command(&self) -> Errno {
        debug_assert!(self.args.len() < self.argv.len() && self.variables.len() < self.envp.len());
        let prepare = || {
            setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
            dup2_stdin(&self.stdin)?;
            self.stdout.as_ref().map(dup2_stdout).transpose()?;
            self.stderr.as_ref().map(dup2_stderr).transpose()?;
            // SAFETY: the default action is no function, so nothing of this program can run in a handler.
            #[expect(unsafe_code, reason = "a disposition cannot be set in a safe way")]
            unsafe {
                signal(Signal::SIGPIPE, SigHandler::SigDfl)?;
            }
            SigSet::empty().thread_set_mask()
        };
        if let Err(errno) = prepare() {
            return errno;
        }
        // SAFETY: path and strings are owned by `self` and end in a zero byte; both lists end in a null pointer.
        #[expect(
            unsafe_code,
            reason = "the safe interface allocates, which a child of clone must not do"
        )]
        unsafe {
            libc::execve(self.path.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr());
        }
        Errno::last()
    }
}
