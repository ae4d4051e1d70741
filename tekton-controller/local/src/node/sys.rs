//! The few kernel calls for which no safe wrapper exists; the only unsafe code of this crate.
//!
//! Used by the shim alone, which has one thread, so that nothing else can observe the half-made state.
#![expect(
    unsafe_code,
    reason = "calls of the kernel that nix does not wrap; each is justified in place"
)]

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command};

use nix::libc;

/// Makes the mount at `path` and all below it read-only.
pub(super) fn make_read_only(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: `path` is NUL-terminated and `attributes` is a complete struct; both outlive the call, which only reads them.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Takes a capability away from this process and all its future programs.
pub(super) fn drop_capability(number: libc::c_ulong) {
    // SAFETY: PR_CAPBSET_DROP takes plain numbers. A refusal (unknown number, no right) leaves things as they are.
    unsafe { libc::prctl(libc::PR_CAPBSET_DROP, number, 0, 0, 0) };
}

/// Starts `command` after running `prepare` in the new process.
///
/// The caller must have only one thread: then the new process is a whole copy, and `prepare` may do what it likes.
pub(super) fn spawn_prepared(
    command: &mut Command,
    prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) -> io::Result<Child> {
    // SAFETY: the shim has a single thread, so no lock can be held by another thread at the time of the fork.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}
