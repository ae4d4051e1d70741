//! Output of containers: one file for each run of a container, in the line format of Kubernetes' container runtimes.
//!
//! A line is `TIME STREAM F TEXT`; `P` in place of `F` marks a piece whose line goes on. Readers may follow.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::Stream;
use jiff::Timestamp;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncSeekExt as _};
use tokio::sync::watch;

/// A longer line is stored in pieces.
const LONGEST_PIECE: usize = 16 * 1024;

/// Which part of a log is wanted.
#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    /// Go on until the container ends.
    pub follow: bool,
    /// Only that many of the last lines.
    pub tail: Option<usize>,
    /// Only what was written since then.
    pub since: Option<Timestamp>,
    /// Begin each line with its time.
    pub timestamps: bool,
    /// No more bytes than that.
    pub limit: Option<usize>,
    /// The log of the run before the last restart.
    pub previous: bool,
}

/// Logs of all pods of a node.
#[derive(Clone, Debug, Default)]
pub struct Logs {
    pods: Arc<Mutex<BTreeMap<(String, String), PodLogs>>>,
}

#[derive(Debug, Default)]
struct PodLogs {
    dir: PathBuf,
    runs: BTreeMap<String, Vec<Run>>,
}

/// A log file and how far it is written.
#[derive(Clone, Debug)]
struct Run {
    path: PathBuf,
    progress: watch::Receiver<Progress>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    length: u64,
    closed: bool,
}

impl Logs {
    /// Begins the log of a run of a container.
    pub(super) fn begin(
        &self,
        namespace: &str,
        pod: &str,
        container: &str,
        dir: &Path,
    ) -> io::Result<LogWriter> {
        fs::create_dir_all(dir)?;
        let mut pods = self.pods.lock().unwrap_or_else(PoisonError::into_inner);
        let logs = pods.entry((namespace.to_owned(), pod.to_owned())).or_default();
        if logs.dir != dir {
            // A new pod of the same name.
            *logs = PodLogs {
                dir: dir.to_owned(),
                runs: BTreeMap::new(),
            };
        }
        let runs = logs.runs.entry(container.to_owned()).or_default();
        let path = dir.join(format!("{container}-{}.log", runs.len()));
        let (sender, progress) = watch::channel(Progress::default());
        runs.push(Run {
            path: path.clone(),
            progress,
        });
        // Only the last two runs can be asked for.
        if let Some(old) = runs.len().checked_sub(3).and_then(|index| runs.get(index)) {
            fs::remove_file(&old.path).ok();
        }
        let file = File::options().create(true).append(true).open(path)?;
        Ok(LogWriter {
            sink: Arc::new(Mutex::new(file)),
            progress: Arc::new(sender),
        })
    }

    /// Drops the logs of a pod which is gone.
    pub(super) fn forget(&self, namespace: &str, pod: &str, dir: &Path) {
        let mut pods = self.pods.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (namespace.to_owned(), pod.to_owned());
        if pods.get(&key).is_some_and(|logs| logs.dir == dir) {
            pods.remove(&key);
        }
        drop(pods);
        fs::remove_dir_all(dir).ok();
    }

    /// Reads a container's log; nothing if it never ran.
    pub fn read(
        &self,
        namespace: &str,
        pod: &str,
        container: &str,
        query: LogQuery,
    ) -> Option<impl Stream<Item = io::Result<Bytes>> + Send + 'static> {
        let pods = self.pods.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = pods
            .get(&(namespace.to_owned(), pod.to_owned()))?
            .runs
            .get(container)?;
        let run = runs
            .len()
            .checked_sub(if query.previous { 2 } else { 1 })
            .and_then(|index| runs.get(index))?
            .clone();
        Some(read_run(run, query))
    }

    /// The end of a container's log, for its termination message: at most 80 lines and 2048 bytes.
    pub(super) fn last_lines(&self, namespace: &str, pod: &str, container: &str) -> String {
        let path = {
            let pods = self.pods.lock().unwrap_or_else(PoisonError::into_inner);
            let runs = pods
                .get(&(namespace.to_owned(), pod.to_owned()))
                .and_then(|logs| logs.runs.get(container));
            let Some(run) = runs.and_then(|runs| runs.last()) else {
                return String::new();
            };
            run.path.clone()
        };
        let content = fs::read(path).unwrap_or_default();
        let mut lines: Vec<&[u8]> = content.split_inclusive(|byte| *byte == b'\n').collect();
        lines.drain(..lines.len().saturating_sub(80));
        let text: Vec<u8> = lines
            .into_iter()
            .flat_map(|line| Line::parse(line).map(|line| line.text()).unwrap_or_default())
            .collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        let mut start = text.len().saturating_sub(2048);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        text.get(start..).unwrap_or_default().to_owned()
    }
}

/// Takes the output of one run of a container.
#[derive(Clone, Debug)]
pub(super) struct LogWriter {
    sink: Arc<Mutex<File>>,
    progress: Arc<watch::Sender<Progress>>,
}

impl LogWriter {
    /// Stores everything a stream says until its end.
    pub(super) async fn copy(&self, mut from: impl AsyncRead + Unpin, stream: &str) -> io::Result<()> {
        let mut chunk = vec![0; 32 * 1024];
        let mut line = Vec::new();
        loop {
            let count = from.read(&mut chunk).await?;
            let now = Timestamp::now();
            let mut out = Vec::new();
            if count == 0 {
                if !line.is_empty() {
                    store(&mut out, now, stream, 'P', &line);
                }
                return self.append(&out);
            }
            for byte in chunk.iter().take(count) {
                if *byte == b'\n' {
                    store(&mut out, now, stream, 'F', &line);
                    line.clear();
                } else {
                    line.push(*byte);
                    if line.len() >= LONGEST_PIECE {
                        store(&mut out, now, stream, 'P', &line);
                        line.clear();
                    }
                }
            }
            self.append(&out)?;
        }
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.sink
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write_all(bytes)?;
        self.progress
            .send_modify(|progress| progress.length += bytes.len() as u64);
        Ok(())
    }

    /// Tells those who follow that there will be no more.
    pub(super) fn close(&self) {
        self.progress.send_modify(|progress| progress.closed = true);
    }
}

fn store(out: &mut Vec<u8>, now: Timestamp, stream: &str, tag: char, text: &[u8]) {
    out.extend(format!("{now:.9} {stream} {tag} ").into_bytes());
    out.extend(text);
    out.push(b'\n');
}

/// A stored line.
struct Line<'a> {
    time: &'a str,
    partial: bool,
    content: &'a [u8],
}

impl<'a> Line<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let mut parts = line
            .strip_suffix(b"\n")
            .unwrap_or(line)
            .splitn(4, |byte| *byte == b' ');
        let time = std::str::from_utf8(parts.next()?).ok()?;
        let (_stream, tag, content) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            time,
            partial: tag == b"P",
            content,
        })
    }

    fn text(&self) -> Vec<u8> {
        let mut text = self.content.to_vec();
        if !self.partial {
            text.push(b'\n');
        }
        text
    }
}

/// Where a reader is.
struct Reader {
    run: Run,
    query: LogQuery,
    offset: u64,
    left: Option<usize>,
    /// The piece before was the last of its line, so that a time belongs before the next.
    line_start: bool,
    done: bool,
}

fn read_run(run: Run, query: LogQuery) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let reader = Reader {
        run,
        offset: 0,
        left: query.limit,
        query,
        line_start: true,
        done: false,
    };
    futures::stream::try_unfold(reader, |mut reader| async move {
        Ok(reader.next().await?.map(|bytes| (bytes, reader)))
    })
}

impl Reader {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            if self.done {
                return Ok(None);
            }
            let progress = *self.run.progress.borrow_and_update();
            if progress.length > self.offset {
                let text = self.read_to(progress.length).await?;
                if !text.is_empty() {
                    return Ok(Some(text));
                }
                continue;
            }
            if progress.closed || !self.query.follow || self.run.progress.changed().await.is_err() {
                return Ok(None);
            }
        }
    }

    async fn read_to(&mut self, end: u64) -> io::Result<Bytes> {
        let mut file = tokio::fs::File::open(&self.run.path).await?;
        file.seek(io::SeekFrom::Start(self.offset)).await?;
        let mut stored = Vec::new();
        file.take(end - self.offset).read_to_end(&mut stored).await?;
        let first = self.offset == 0;
        self.offset = end;
        let mut lines: Vec<&[u8]> = stored.split_inclusive(|byte| *byte == b'\n').collect();
        if let Some(tail) = self.query.tail.filter(|_| first) {
            lines.drain(..lines.len().saturating_sub(tail));
        }
        let mut out = Vec::new();
        for line in lines.into_iter().filter_map(Line::parse) {
            let too_old = self
                .query
                .since
                .is_some_and(|since| line.time.parse::<Timestamp>().is_ok_and(|time| time < since));
            if too_old {
                continue;
            }
            if self.query.timestamps && self.line_start {
                out.extend(line.time.bytes());
                out.push(b' ');
            }
            self.line_start = !line.partial;
            out.extend(line.text());
        }
        if let Some(left) = &mut self.left {
            out.truncate(*left);
            *left -= out.len();
            self.done = *left == 0;
        }
        Ok(Bytes::from(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::TryStreamExt as _;

    async fn read(logs: &Logs, query: LogQuery) -> String {
        let parts: Vec<Bytes> = logs
            .read("ns", "p", "c", query)
            .unwrap()
            .try_collect()
            .await
            .unwrap();
        String::from_utf8(parts.concat()).unwrap()
    }

    #[tokio::test]
    async fn reads_what_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let logs = Logs::default();
        let writer = logs.begin("ns", "p", "c", dir.path()).unwrap();
        writer.copy(&b"one\ntwo\nthr"[..], "stdout").await.unwrap();
        assert_eq!(read(&logs, LogQuery::default()).await, "one\ntwo\nthr");
        assert_eq!(
            read(
                &logs,
                LogQuery {
                    tail: Some(2),
                    ..LogQuery::default()
                }
            )
            .await,
            "two\nthr"
        );
        assert_eq!(
            read(
                &logs,
                LogQuery {
                    tail: Some(0),
                    ..LogQuery::default()
                }
            )
            .await,
            ""
        );
        assert_eq!(
            read(
                &logs,
                LogQuery {
                    limit: Some(5),
                    ..LogQuery::default()
                }
            )
            .await,
            "one\nt"
        );
        let later = Timestamp::now().checked_add(jiff::Span::new().hours(1)).unwrap();
        assert_eq!(
            read(
                &logs,
                LogQuery {
                    since: Some(later),
                    ..LogQuery::default()
                }
            )
            .await,
            ""
        );
        let timed = read(
            &logs,
            LogQuery {
                timestamps: true,
                ..LogQuery::default()
            },
        )
        .await;
        assert!(
            timed
                .lines()
                .all(|line| line.split_once(' ').unwrap().0.parse::<Timestamp>().is_ok()),
            "{timed}"
        );
        assert_eq!(logs.last_lines("ns", "p", "c"), "one\ntwo\nthr");
    }

    #[tokio::test]
    async fn follows_until_the_end_and_keeps_the_previous_run() {
        let dir = tempfile::tempdir().unwrap();
        let logs = Logs::default();
        let first = logs.begin("ns", "p", "c", dir.path()).unwrap();
        let follower = tokio::spawn({
            let logs = logs.clone();
            async move {
                read(
                    &logs,
                    LogQuery {
                        follow: true,
                        ..LogQuery::default()
                    },
                )
                .await
            }
        });
        first.copy(&b"a\n"[..], "stdout").await.unwrap();
        first.copy(vec![b'x'; 40_000].as_slice(), "stderr").await.unwrap();
        first.close();
        let text = follower.await.unwrap();
        assert_eq!(text.len(), 40_002);
        logs.begin("ns", "p", "c", dir.path()).unwrap();
        assert_eq!(read(&logs, LogQuery::default()).await, "");
        assert_eq!(
            read(
                &logs,
                LogQuery {
                    previous: true,
                    ..LogQuery::default()
                }
            )
            .await
            .len(),
            40_002
        );
        logs.forget("ns", "p", dir.path());
        assert!(logs.read("ns", "p", "c", LogQuery::default()).is_none());
    }
}
