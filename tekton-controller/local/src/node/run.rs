//! One run of a container: its process, log, probes and last words, told to the pod as events.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::container::termination_log;
use super::logs::LogWriter;
use super::process::{Process, ShimProgram};
use super::wire::{Launch, Order, Report};

/// Longest last words; what is beyond is cut off.
const LONGEST_MESSAGE: u64 = 4096;
/// How long output is awaited after the end of a container whose processes are all gone.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// Something that happened to a run.
#[derive(Debug)]
pub(super) struct Event {
    /// Which container, counted through init containers and containers.
    pub slot: usize,
    /// Which of its runs.
    pub run: u64,
    /// What happened.
    pub what: Happening,
}

/// What can happen to a run.
#[derive(Debug)]
pub(super) enum Happening {
    /// The program runs.
    Started { pid: i32, at: Timestamp },
    /// The program could not be started.
    Refused { message: String, at: Timestamp },
    /// The program ended and everything it wrote is stored.
    Exited {
        code: i32,
        message: String,
        at: Timestamp,
    },
    /// The start-up probe passed, or there is none.
    Up,
    /// The readiness probe changed its mind.
    Ready(bool),
    /// A probe failed so often that the container must be stopped.
    Unhealthy,
}

/// A run in progress; dropping it kills the container.
#[derive(Debug)]
pub(super) struct Run {
    /// For orders to the shim.
    pub orders: mpsc::UnboundedSender<Order>,
    /// The container's process once it runs.
    pub pid: Option<i32>,
    /// The image it was started with.
    pub image: String,
    /// When it was started.
    pub since: Instant,
    /// When it is killed, once it was asked to end.
    pub kill_at: Option<Instant>,
    /// Number of the run.
    pub number: u64,
    /// Its private directory.
    pub directory: PathBuf,
    /// How it was started.
    pub launch: Launch,
    /// Further programs in the container.
    pub execs: Execs,
    /// Probes, stopped with the run.
    pub probes: Option<JoinHandle<()>>,
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(probes) = &self.probes {
            probes.abort();
        }
    }
}

/// Runs further programs in a container.
#[derive(Clone, Debug)]
pub(super) struct Execs {
    orders: mpsc::WeakUnboundedSender<Order>,
    waiting: Arc<Mutex<BTreeMap<u64, oneshot::Sender<i32>>>>,
    next: Arc<AtomicU64>,
}

impl Execs {
    /// The exit code of a program run in the container; nothing once the container has ended.
    pub(super) async fn run(&self, argv: Vec<String>) -> Option<i32> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (done, code) = oneshot::channel();
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, done);
        self.orders.upgrade()?.send(Order::Exec { id, argv }).ok()?;
        code.await.ok()
    }

    fn finish(&self, id: u64, code: i32) {
        if let Some(done) = self
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id)
        {
            done.send(code).ok();
        }
    }
}

/// Starts a run and reports on it until its end.
pub(super) fn start(
    shim: &ShimProgram,
    launch: Launch,
    log: LogWriter,
    slot: usize,
    number: u64,
    events: mpsc::UnboundedSender<Event>,
) -> io::Result<Run> {
    let Process {
        mut reports,
        orders,
        stdout,
        stderr,
    } = Process::start(shim, &launch)?;
    let execs = Execs {
        orders: orders.downgrade(),
        waiting: Arc::default(),
        next: Arc::default(),
    };
    let directory = launch.directory.clone();
    let run = Run {
        orders,
        pid: None,
        image: String::new(),
        since: Instant::now(),
        kill_at: None,
        number,
        directory: directory.clone(),
        launch,
        execs: execs.clone(),
        probes: None,
    };
    let tell = move |what| {
        events
            .send(Event {
                slot,
                run: number,
                what,
            })
            .ok()
    };
    tokio::spawn(async move {
        let out = tokio::spawn({
            let log = log.clone();
            async move { log.copy(stdout, "stdout").await }
        });
        let err = tokio::spawn({
            let log = log.clone();
            async move { log.copy(stderr, "stderr").await }
        });
        while let Some(report) = reports.recv().await {
            match report {
                Report::Started { pid } => {
                    tell(Happening::Started {
                        pid,
                        at: Timestamp::now(),
                    });
                }
                Report::ExecDone { id, code } => execs.finish(id, code),
                Report::Refused { message } => {
                    log.close();
                    tell(Happening::Refused {
                        message,
                        at: Timestamp::now(),
                    });
                }
                Report::Exited { code } => {
                    let at = Timestamp::now();
                    timeout(LAST_OUTPUT, async { (out.await, err.await) }).await.ok();
                    log.close();
                    let message = last_words(&directory);
                    tell(Happening::Exited { code, message, at });
                    return;
                }
            }
        }
    });
    Ok(run)
}

/// What the container left in its file for last words.
fn last_words(directory: &std::path::Path) -> String {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    if let Ok(file) = std::fs::File::open(termination_log(directory)) {
        file.take(LONGEST_MESSAGE).read_to_end(&mut bytes).ok();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
