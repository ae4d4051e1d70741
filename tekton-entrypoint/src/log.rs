//! Log lines of the programs: the time, then the text, on standard error. Never secrets.

use std::fmt;
use std::io::Write as _;
use std::time::SystemTime;

use crate::clock;

/// Writes one line. A log that cannot be written is no reason to fail.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    let line = format!("{} {text}\n", clock::log_time(SystemTime::now()));
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Writes text as it is.
pub(crate) fn plain(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

macro_rules! log {
    ($($part:tt)*) => { $crate::log::line(format_args!($($part)*)) };
}

pub(crate) use log;
