//! Waits for the signals that ask a program to end.

use tokio::signal::unix::{SignalKind, signal};

/// Resolves at the first SIGINT or SIGTERM from now on.
pub(crate) async fn requested() {
    let mut signals = Vec::new();
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        match signal(kind) {
            Ok(signal) => signals.push(signal),
            Err(error) => tracing::warn!(%error, "a signal cannot be watched"),
        }
    }
    if signals.is_empty() {
        std::future::pending::<()>().await;
    }
    let waits = signals
        .iter_mut()
        .map(|signal| Box::pin(async move { signal.recv().await }));
    futures::future::select_all(waits).await;
}
