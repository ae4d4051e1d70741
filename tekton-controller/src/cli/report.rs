//! What `tekton run` prints: lines for people, or one JSON event a line.
//!
//! Only this module and `crds` write to standard output.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::OutputFormat;
use super::summary::RunSummary;

/// One line of `-o json`. The schema is documented in the crate's README.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Event<'a> {
    /// The pod runner is ready.
    Ready {
        /// How containers are kept apart.
        isolation: &'a str,
    },
    /// A run was created.
    Started {
        /// TaskRun or PipelineRun.
        kind: &'a str,
        /// Its namespace.
        namespace: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// The condition of a run changed.
    Status {
        /// TaskRun or PipelineRun.
        kind: &'a str,
        /// Its namespace.
        namespace: &'a str,
        /// Its name.
        name: &'a str,
        /// Reason of the condition.
        reason: &'a str,
        /// Message of the condition.
        message: &'a str,
    },
    /// A step or sidecar wrote a line.
    Log {
        /// TaskRun.
        task_run: &'a str,
        /// Pipeline task, or the TaskRun if it stands alone.
        task: &'a str,
        /// Step.
        step: &'a str,
        /// The line, without its end.
        line: &'a str,
    },
    /// A run has ended.
    Finished {
        /// How.
        #[serde(flatten)]
        summary: &'a RunSummary,
    },
}

/// Where the output goes.
#[derive(Debug)]
pub(super) struct Report {
    format: OutputFormat,
    quiet: bool,
    progress: Option<ProgressBar>,
}

impl Report {
    /// Output in a format; with a progress line if standard error is a terminal.
    pub(super) fn new(format: OutputFormat, quiet: bool) -> Self {
        let terminal = format == OutputFormat::Text && std::io::stderr().is_terminal();
        let progress = terminal.then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self {
            format,
            quiet,
            progress,
        }
    }

    /// Tells of an event.
    pub(super) fn event(&self, event: &Event<'_>) {
        match self.format {
            OutputFormat::Json => {
                if let Ok(line) = serde_json::to_string(event) {
                    print(&line);
                }
            }
            OutputFormat::Text => self.text(event),
        }
    }

    fn text(&self, event: &Event<'_>) {
        match event {
            Event::Ready { isolation } => self.aside(&format!("isolation: {isolation}")),
            Event::Started {
                kind,
                namespace,
                name,
            } => self.line(&format!("{kind} {namespace}/{name} started")),
            Event::Status {
                name,
                reason,
                message,
                ..
            } => {
                if let Some(progress) = &self.progress {
                    progress.set_message(format!("{name}: {reason} {message}"));
                }
            }
            Event::Log { task, step, line, .. } => {
                if !self.quiet {
                    self.line(&format!("[{task} : {step}] {line}"));
                }
            }
            Event::Finished { summary } => self.line(&summary.text()),
        }
    }

    fn line(&self, text: &str) {
        match &self.progress {
            Some(progress) => progress.suspend(|| print(text)),
            None => print(text),
        }
    }

    /// A line for people that is not part of the output proper.
    pub(super) fn aside(&self, text: &str) {
        match &self.progress {
            Some(progress) => progress.suspend(|| complain(text)),
            None => complain(text),
        }
    }

    /// Removes the progress line.
    pub(super) fn finish(&self) {
        if let Some(progress) = &self.progress {
            progress.finish_and_clear();
        }
    }
}

/// Writes a line to standard output. A closed pipe is no reason to stop.
pub(super) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Writes a line to standard error.
pub(super) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
