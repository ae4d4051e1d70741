//! Walks `tests/golden/KIND` and runs every case.

use std::path::Path;

use serde_json::Value;

type Check = fn(&Value) -> Result<(), String>;

fn walk(kind: &str, check: Check) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(kind);
    let mut paths: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no cases of kind {kind}");
    let failures: Vec<String> = paths
        .iter()
        .filter_map(|path| {
            let case: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            check(&case)
                .err()
                .map(|difference| format!("{}: {difference}", case["id"]))
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} failed\n{}",
        failures.len(),
        paths.len(),
        failures.join("\n")
    );
}

#[test]
fn termination() {
    walk("termination", tekton_pod::testing::termination::check);
}
