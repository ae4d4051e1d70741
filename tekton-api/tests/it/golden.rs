//! The golden cases of this crate's kinds.

use std::path::Path;

use serde_json::Value;
use tekton_api::testing;

fn passes(kind: &str, check: fn(&Value) -> Result<(), String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(kind);
    let report = testing::run(&folder, check).unwrap();
    assert!(report.passed > 0, "no cases of {kind}");
    let failed: Vec<_> = report
        .failed
        .iter()
        .map(|(name, difference)| format!("{kind}/{name}:\n{difference}"))
        .collect();
    let total = failed.len() + report.passed;
    assert!(
        failed.is_empty(),
        "{}\n{kind}: {} of {total} cases fail",
        failed.join("\n\n"),
        failed.len()
    );
}

#[test]
fn names() {
    passes("names", testing::names::check);
}

#[cfg(feature = "cel")]
#[test]
fn when() {
    passes("when", testing::when::check);
}

#[test]
fn matrix() {
    passes("matrix", testing::matrix::check);
}

#[test]
fn results() {
    passes("results", testing::results::check);
}

#[test]
fn convert() {
    passes("convert", testing::convert::check);
}

#[test]
fn dag() {
    passes("dag", testing::dag::check);
}

#[test]
fn validate() {
    passes("validate", testing::validate::check);
}
