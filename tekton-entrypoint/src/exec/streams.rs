//! The output of a command: inherited, or read here and written to the own output and to a file.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::error::{StepError, os_words, path_words};

const CHUNK: usize = 16 * 1024;

/// Standard output and error output of a command.
#[derive(Debug)]
pub(crate) struct Streams {
    out: Option<Copied>,
    err: Option<Copied>,
    failure: Option<String>,
}

/// A stream that is read here.
#[derive(Debug)]
struct Copied {
    copy: File,
    to_stderr: bool,
    source: Option<io::PipeReader>,
}

impl Streams {
    /// Opens the files that get copies.
    pub(crate) fn open(stdout: Option<&Path>, stderr: Option<&Path>) -> Result<Self, StepError> {
        let open = |path: Option<&Path>, to_stderr| {
            path.map(|path| {
                open_log(path).map(|copy| Copied {
                    copy,
                    to_stderr,
                    source: None,
                })
            })
            .transpose()
        };
        Ok(Self {
            out: open(stdout, false)?,
            err: open(stderr, true)?,
            failure: None,
        })
    }

    /// What the child gets as output and error output; nothing where it inherits them. These ends of the pipes
    /// have to be closed here once the child has them.
    pub(crate) fn for_child(&mut self) -> io::Result<(Option<OwnedFd>, Option<OwnedFd>)> {
        let end = |stream: &mut Option<Copied>| {
            let Some(stream) = stream else { return Ok(None) };
            let (reader, writer) = io::pipe()?;
            stream.source = Some(reader);
            io::Result::Ok(Some(OwnedFd::from(writer)))
        };
        Ok((end(&mut self.out)?, end(&mut self.err)?))
    }

    /// Descriptors that become readable when there is something to copy.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [&self.out, &self.err]
            .into_iter()
            .flatten()
            .filter_map(|stream| stream.source.as_ref())
            .map(AsFd::as_fd)
    }

    /// True if nobody will write any more.
    pub(crate) fn are_closed(&self) -> bool {
        self.descriptors().next().is_none()
    }

    /// Copies what is there, without waiting for more.
    pub(crate) fn copy(&mut self) {
        for stream in [&mut self.out, &mut self.err].into_iter().flatten() {
            match stream.copy_chunk() {
                Ok(true) => {}
                Ok(false) => stream.source = None,
                Err(error) => {
                    stream.source = None;
                    self.failure.get_or_insert_with(|| os_words(&error));
                }
            }
        }
    }

    /// An error if something could not be copied.
    pub(crate) fn outcome(&self) -> Result<(), StepError> {
        match &self.failure {
            None => Ok(()),
            Some(words) => Err(StepError::Start(format!("error copying the output: {words}"))),
        }
    }
}

impl Copied {
    /// False at the end of the stream.
    fn copy_chunk(&mut self) -> io::Result<bool> {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        let Some(source) = &mut self.source else {
            return Ok(true);
        };
        if poll(
            &mut [PollFd::new(source.as_fd(), PollFlags::POLLIN)],
            PollTimeout::ZERO,
        ) == Ok(0)
        {
            return Ok(true);
        }
        let mut chunk = [0; CHUNK];
        let length = match source.read(&mut chunk) {
            Ok(0) => return Ok(false),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
            Err(error) => return Err(error),
        };
        let chunk = chunk.get(..length).unwrap_or_default();
        if self.to_stderr {
            io::stderr().lock().write_all(chunk)?;
        } else {
            let mut stdout = io::stdout().lock();
            stdout.write_all(chunk)?;
            stdout.flush()?;
        }
        self.copy.write_all(chunk)?;
        Ok(true)
    }
}

fn open_log(path: &Path) -> Result<File, StepError> {
    let parent = path.parent().unwrap_or(Path::new(""));
    if !parent.as_os_str().is_empty() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o777)
            .create(parent)
            .map_err(|error| {
                StepError::Start(format!(
                    "error creating parent directory: {}",
                    path_words("mkdir", parent, &error)
                ))
            })?;
    }
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o644)
        .open(path)
        .map_err(|error| {
            StepError::Start(format!(
                "error opening {}: {}",
                path.display(),
                path_words("open", path, &error)
            ))
        })
}
