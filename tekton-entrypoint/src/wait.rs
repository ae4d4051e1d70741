//! Waiting for files, told by the kernel (inotify) and checked now and then in case it does not tell.
//!
//! The nearest directory that exists is watched, so the path to an awaited file may appear bit by bit.
//! Upstream counterpart: `cmd/entrypoint/waiter.go`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use tekton_pod::contract::files;

use crate::error::StepError;
use crate::signals::Signals;

/// How often to look where the kernel tells of changes; it does not on some network file systems.
const CHECK_WATCHED: Duration = Duration::from_secs(1);
/// How often to look where it cannot.
const CHECK_UNWATCHED: Duration = Duration::from_millis(50);

/// How often to look in the beginning, and how long. The kernel takes some ten milliseconds to give up a watch,
/// which a short step need not pay for.
const CHECK_FIRST: Duration = Duration::from_millis(10);
const FIRST: Duration = Duration::from_millis(200);

/// What it takes for a file to count as there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Expect {
    Exists,
    HasContent,
}

/// What to make of a failure marker next to the file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OnErrorFile {
    Skip,
    GoOn,
}

/// A look at one file and at its failure marker.
pub(crate) fn is_there(file: &Path, expect: Expect) -> Result<bool, StepError> {
    match std::fs::metadata(file) {
        Ok(facts) => Ok(expect == Expect::Exists || facts.len() > 0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(StepError::Wait {
            path: file.to_owned(),
            source,
        }),
    }
}

/// Waits until the file is there. An empty name is there at once.
pub(crate) fn wait(
    file: &str,
    expect: Expect,
    on_error: OnErrorFile,
    signals: Option<&Signals>,
) -> Result<(), StepError> {
    if file.is_empty() {
        return Ok(());
    }
    let (path, error_file) = (PathBuf::from(file), PathBuf::from(files::error_file(file)));
    let mut watch = Watch::new(&path);
    loop {
        watch.refresh();
        if is_there(&path, expect)? {
            return Ok(());
        }
        if error_file.exists() {
            return if on_error == OnErrorFile::GoOn {
                Ok(())
            } else {
                Err(StepError::Skipped)
            };
        }
        let descriptors = watch.as_fd().into_iter().chain(signals.map(AsFd::as_fd));
        let mut polled: Vec<_> = descriptors
            .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN))
            .collect();
        let _ = poll(&mut polled, poll_timeout(Some(watch.check_interval())));
        if let Some(signals) = signals {
            signals.act_by_default();
        }
    }
}

/// The kernel's word on changes near one file.
#[derive(Debug)]
pub(crate) struct Watch {
    file: PathBuf,
    begin: Instant,
    inotify: Option<Inotify>,
    watched: Option<PathBuf>,
}

impl Watch {
    pub(crate) fn new(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            begin: Instant::now(),
            inotify: None,
            watched: None,
        }
    }

    /// Forgets what was told and watches the nearest directory that exists by now.
    ///
    /// Has to come before each look at the file: what changes after the look is then told.
    pub(crate) fn refresh(&mut self) {
        if self.begin.elapsed() < FIRST {
            return;
        }
        if self.inotify.is_none() {
            self.inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK).ok();
        }
        let Some(inotify) = &self.inotify else { return };
        while inotify.read_events().is_ok_and(|events| !events.is_empty()) {}
        let flags = AddWatchFlags::IN_CREATE
            | AddWatchFlags::IN_MOVED_TO
            | AddWatchFlags::IN_CLOSE_WRITE
            | AddWatchFlags::IN_MODIFY
            | AddWatchFlags::IN_DELETE_SELF
            | AddWatchFlags::IN_MOVE_SELF
            | AddWatchFlags::IN_ONLYDIR;
        // The path may grow while it is looked at, hence the second round.
        for _ in 0..2 {
            let directories = self.file.ancestors().skip(1);
            let directories = directories.map(|path| {
                if path.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    path
                }
            });
            let Some(nearest) = directories
                .filter(|path| path.is_dir())
                .map(Path::to_owned)
                .next()
            else {
                break;
            };
            if self.watched.as_ref() == Some(&nearest) {
                return;
            }
            self.watched = inotify.add_watch(&nearest, flags).is_ok().then_some(nearest);
        }
    }

    /// The descriptor that becomes readable when something changes.
    pub(crate) fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.watched.as_ref().and(self.inotify.as_ref()).map(AsFd::as_fd)
    }

    /// How long to rely on the kernel before the next look.
    pub(crate) fn check_interval(&self) -> Duration {
        if self.begin.elapsed() < FIRST {
            CHECK_FIRST
        } else if self.as_fd().is_some() {
            CHECK_WATCHED
        } else {
            CHECK_UNWATCHED
        }
    }
}

/// A duration for `poll`, rounded up so that it is over when `poll` returns.
pub(crate) fn poll_timeout(duration: Option<Duration>) -> PollTimeout {
    match duration {
        None => PollTimeout::NONE,
        Some(duration) => {
            let millis = duration.as_micros().div_ceil(1000).min(60_000);
            u16::try_from(millis).map_or(PollTimeout::MAX, PollTimeout::from)
        }
    }
}

/// What is left until a point in time.
pub(crate) fn left_until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}
