//! Artifacts of steps and of the Task: filled in where they are referred to, and reported when a step ends.
//!
//! Upstream counterparts: `applyStepArtifactSubstitutions`, `appendArtifactOutputs` in
//! `pkg/entrypoint/entrypointer.go`, and `internal/artifactref`.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tekton_pod::contract::result::{ResultType, RunResult};
use tekton_pod::contract::{files, json};

use crate::environment::Environment;
use crate::error::{StepError, os_words, path_words};
use crate::go_path;
use crate::places::Places;

const OPENING: &str = "$(steps.";
const TEMPORARY_NAMES: u32 = 1000;

/// A file with artifacts. Unknown members are dropped.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Artifacts {
    #[serde(default, skip_serializing_if = "is_empty")]
    inputs: Option<Vec<Artifact>>,
    #[serde(default, skip_serializing_if = "is_empty")]
    outputs: Option<Vec<Artifact>>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
struct Artifact {
    #[serde(default, skip_serializing_if = "is_blank")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "is_empty")]
    values: Option<Vec<ArtifactValue>>,
    #[serde(default, rename = "buildOutput", skip_serializing_if = "is_off")]
    build_output: Option<bool>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
struct ArtifactValue {
    #[serde(default, skip_serializing_if = "has_no_digest")]
    digest: Option<BTreeMap<String, Option<String>>>,
    #[serde(default, skip_serializing_if = "is_blank")]
    uri: Option<String>,
}

#[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
fn is_empty<T>(list: &Option<Vec<T>>) -> bool {
    list.as_ref().is_none_or(Vec::is_empty)
}

#[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
fn is_blank(text: &Option<String>) -> bool {
    text.as_ref().is_none_or(String::is_empty)
}

#[expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference to the field"
)]
fn is_off(value: &Option<bool>) -> bool {
    *value != Some(true)
}

#[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
fn has_no_digest(digest: &Option<BTreeMap<String, Option<String>>>) -> bool {
    digest.as_ref().is_none_or(BTreeMap::is_empty)
}

/// Reads a file with artifacts.
pub(crate) fn load(path: &Path) -> Result<Artifacts, String> {
    let bytes = fs::read(path).map_err(|error| path_words("open", path, &error))?;
    let value = json::parse(&json::text(bytes))?;
    serde_json::from_value::<Option<Artifacts>>(value)
        .map(Option::unwrap_or_default)
        .map_err(|error| error.to_string())
}

/// Fills in artifacts of earlier steps: in a placed script (a copy of it is run then) or in the command, and in
/// the environment. The error is logged.
pub(crate) fn fill_in(
    places: &Places,
    environment: &mut Environment,
    command: &mut Vec<String>,
) -> Result<(), String> {
    let steps = places.steps();
    match command.as_slice() {
        [script] if is_placed_script(places, script) => {
            let bytes = fs::read(script).map_err(|error| path_words("open", Path::new(script), &error))?;
            let text = json::text(bytes);
            if let Some(filled) = in_text(&steps, &text)?.filter(|filled| *filled != text) {
                *command = vec![copy_of_script(&filled, environment)?];
            }
        }
        words => {
            let filled: Result<_, String> = words
                .iter()
                .map(|word| Ok(in_text(&steps, word)?.unwrap_or_else(|| word.clone())))
                .collect();
            *command = filled?;
        }
    }
    for (value, text) in environment.texts_mut() {
        if let Some(filled) = in_text(&steps, &text)? {
            *value = filled.into();
        }
    }
    Ok(())
}

fn is_placed_script(places: &Places, program: &str) -> bool {
    let parent = program.rsplit_once('/').map_or(".", |(parent, _)| parent);
    Path::new(&go_path::clean(parent)) == places.scripts()
}

fn in_text(steps: &Path, text: &str) -> Result<Option<String>, String> {
    let mut filled = None;
    for reference in references(text) {
        let with = values(steps, &reference)?;
        filled = Some(filled.as_deref().unwrap_or(text).replace(reference.text, &with));
    }
    Ok(filled)
}

/// `$(steps.STEP.outputs.NAME)` or the same with `inputs`.
#[derive(Debug)]
struct Reference<'a> {
    text: &'a str,
    step: &'a str,
    outputs: bool,
    name: &'a str,
}

fn references(text: &str) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(OPENING) {
        let here = rest.get(start..).unwrap_or_default();
        rest = here.get(OPENING.len()..).unwrap_or_default();
        if let Some(reference) = reference(here) {
            rest = here.get(reference.text.len()..).unwrap_or_default();
            found.push(reference);
        }
    }
    found
}

fn reference(here: &str) -> Option<Reference<'_>> {
    let (step, rest) = here.strip_prefix(OPENING)?.split_once('.')?;
    let (outputs, rest) = match rest.strip_prefix("outputs.") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix("inputs.")?),
    };
    let name = rest.get(..rest.find(['.', ')'])?)?;
    let text = here.get(..here.len() - rest.len() + name.len() + 1)?;
    (!step.is_empty() && !name.is_empty() && text.ends_with(')')).then_some(Reference {
        text,
        step,
        outputs,
        name,
    })
}

fn values(steps: &Path, reference: &Reference<'_>) -> Result<String, String> {
    let container = format!("{}{}", files::STEP_PREFIX, reference.step);
    let artifacts = load(
        &steps
            .join(container)
            .join(files::ARTIFACTS)
            .join(files::PROVENANCE),
    )?;
    let list = if reference.outputs {
        artifacts.outputs
    } else {
        artifacts.inputs
    };
    let artifact = list
        .unwrap_or_default()
        .into_iter()
        .find(|artifact| artifact.name.as_deref() == Some(reference.name));
    let artifact = artifact.ok_or_else(|| format!("values for template {} not found", reference.text))?;
    json::to_string(&artifact.values).map_err(|error| error.to_string())
}

/// A file that only its maker can have made, ready to be executed.
fn copy_of_script(text: &str, environment: &Environment) -> Result<String, String> {
    let directory = environment
        .get("TMPDIR")
        .filter(|directory| !directory.is_empty());
    let directory = directory.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let stamp = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos();
    for attempt in 0..TEMPORARY_NAMES {
        let path = directory.join(format!(
            "script-{}-{}",
            std::process::id(),
            stamp + u128::from(attempt)
        ));
        let mut file = match OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o700)
            .open(&path)
        {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(path_words("open", &path, &error)),
        };
        return file
            .write_all(text.as_bytes())
            .and_then(|()| file.set_permissions(fs::Permissions::from_mode(0o755)))
            .map(|()| path.display().to_string())
            .map_err(|error| os_words(&error));
    }
    Err(format!("no free name for a script in {}", directory.display()))
}

/// The provenance files of the step and of the Task, each under its path.
pub(crate) fn outputs(places: &Places, step_metadata_dir: &str) -> Result<Vec<RunResult>, StepError> {
    let of_step = go_path::join(
        step_metadata_dir,
        &format!("{}/{}", files::ARTIFACTS, files::PROVENANCE),
    );
    let sources = [
        (PathBuf::from(of_step), ResultType::StepArtifacts, "step"),
        (places.task_provenance(), ResultType::TaskRunArtifacts, "task"),
    ];
    let mut entries = Vec::new();
    for (path, result_type, owner) in sources {
        match fs::read(&path) {
            Ok(bytes) => entries.push(RunResult::new(
                places.contract_path(&path),
                json::text(bytes),
                result_type,
            )),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let words = path_words("open", &path, &error);
                return Err(StepError::Results(format!(
                    "Error while handling {owner} artifacts: {words}"
                )));
            }
        }
    }
    Ok(entries)
}
