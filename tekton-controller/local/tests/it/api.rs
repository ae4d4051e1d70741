//! Transcripts of a real API server, replayed against the service that HTTP serves.

mod matching;
mod replay;

use std::path::Path;

use serde_json::Value;
use tekton_local::cluster::{Cluster, ClusterOptions};

const TOKEN: &str = "token-of-the-tests";

#[tokio::test]
async fn the_transcripts_are_reproduced() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/kubeapi");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    let cluster = Cluster::new(ClusterOptions {
        token: Some(TOKEN.to_owned()),
        ..ClusterOptions::default()
    });
    let runs = paths.iter().enumerate().map(|(index, path)| {
        let case: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let cluster = cluster.clone();
        tokio::spawn(async move {
            let result = replay::Replay::new(cluster, TOKEN, index).play(&case).await;
            result.err().map(|why| format!("{}: {why}", case["id"]))
        })
    });
    let mut failures = Vec::new();
    for run in runs.collect::<Vec<_>>() {
        failures.extend(run.await.unwrap());
    }
    assert!(
        failures.is_empty(),
        "{} of {} differ:\n{}",
        failures.len(),
        paths.len(),
        failures.join("\n")
    );
}
