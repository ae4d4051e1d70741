//! Runs directories of golden cases on the crates and counts what passes.
//!
//! Each case is a JSON file `{"id", "about", "input", "expected"}` in a folder named after its kind. The
//! black-box kinds (`entrypoint`, `kubeapi`, `webhook`) need running programs and have runners of their own.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use serde_json::Value;

/// Runs golden cases on the Tekton crates.
#[derive(Debug, Parser)]
struct Args {
    /// Runs only these kinds
    #[arg(long = "kind")]
    kinds: Vec<String>,
    /// Prints what differs in each failing case
    #[arg(long)]
    failures: bool,
    /// Folders with one subfolder a kind, or folders of one kind
    #[arg(required = true)]
    folders: Vec<PathBuf>,
}

/// Checks one case; the error is a readable difference.
type Check = fn(&Value) -> Result<(), String>;

/// Kinds that need a running program.
const BLACK_BOX: &[&str] = &["entrypoint", "kubeapi", "webhook"];

fn check_of(kind: &str) -> Check {
    match kind {
        "validate" => tekton_api::testing::validate::check,
        "convert" => tekton_api::testing::convert::check,
        "dag" => tekton_api::testing::dag::check,
        "when" => tekton_api::testing::when::check,
        "matrix" => tekton_api::testing::matrix::check,
        "results" => tekton_api::testing::results::check,
        "names" => tekton_api::testing::names::check,
        "termination" => tekton_pod::testing::termination::check,
        "taskrun" => tekton_controller::testing::taskrun::check,
        "pipelinerun" => tekton_controller::testing::pipelinerun::check,
        _ => |_| Err("this kind is not wired to any crate yet".to_owned()),
    }
}

/// Cases by kind, in order of their file names.
fn cases(folders: &[PathBuf]) -> anyhow::Result<BTreeMap<String, Vec<PathBuf>>> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut waiting: Vec<PathBuf> = folders.to_vec();
    while let Some(folder) = waiting.pop() {
        let entries =
            std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json")
                && let Some(kind) = kind_of(&path)
            {
                found.entry(kind).or_default().push(path);
            }
        }
    }
    for files in found.values_mut() {
        files.sort();
    }
    Ok(found)
}

/// The kind of a case file: the first part of its id. Files that are no cases have none.
fn kind_of(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let case: Value = serde_json::from_str(&text).ok()?;
    let id = case.get("id")?.as_str()?;
    let folder = path.parent()?.file_name()?.to_str()?;
    Some(id.split_once('/').map_or(folder, |(kind, _)| kind).to_owned())
}

fn run(path: &Path, check: Check) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let case: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    std::panic::catch_unwind(|| check(&case)).unwrap_or_else(|_| Err("panicked".to_owned()))
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let mut out = std::io::stdout().lock();
    let (mut passed, mut failed) = (0, 0);
    for (kind, files) in cases(&args.folders)? {
        let wanted = if args.kinds.is_empty() {
            !BLACK_BOX.contains(&kind.as_str())
        } else {
            args.kinds.contains(&kind)
        };
        if !wanted {
            continue;
        }
        let (mut good, mut bad) = (0, 0);
        for file in &files {
            match run(file, check_of(&kind)) {
                Ok(()) => good += 1,
                Err(difference) => {
                    bad += 1;
                    if args.failures {
                        writeln!(out, "FAIL {}\n{difference}\n", file.display())?;
                    }
                }
            }
        }
        writeln!(out, "{kind}: {good} passed, {bad} failed")?;
        passed += good;
        failed += bad;
    }
    writeln!(out, "{passed} passed, {failed} failed")?;
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
