//! Reads the files of `tekton run` and turns them into the objects to be created.
//!
//! Checks only what the API cannot say better: that a file is readable, is YAML, and holds objects. Params,
//! workspaces, time-outs and `--start` of the command line are worked into the runs here.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{CliError, RunArgs};

/// An object and where it comes from.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// File (and number of the document in it, from 1, if it has several).
    pub origin: String,
    /// The object.
    pub object: Value,
}

impl Document {
    /// `kind`.
    pub(super) fn kind(&self) -> &str {
        self.object
            .get("kind")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// `metadata.name`, or the prefix that a name is generated from.
    pub(super) fn name(&self) -> &str {
        let metadata = self.object.get("metadata");
        let text = |key: &str| {
            metadata
                .and_then(|m| m.get(key))
                .and_then(Value::as_str)
                .filter(|t| !t.is_empty())
        };
        text("name").or_else(|| text("generateName")).unwrap_or_default()
    }

    /// TaskRun or PipelineRun of Tekton.
    pub(super) fn is_run(&self) -> bool {
        is_tekton(&self.object) && matches!(self.kind(), "TaskRun" | "PipelineRun")
    }

    /// `FILE: Kind "name"`, the start of every complaint.
    pub(super) fn describe(&self) -> String {
        format!("{}: {} \"{}\"", self.origin, self.kind(), self.name())
    }
}

fn is_tekton(object: &Value) -> bool {
    object
        .get("apiVersion")
        .and_then(Value::as_str)
        .is_some_and(|version| version.starts_with("tekton.dev/"))
}

/// Reads all files.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<Document>, CliError> {
    let mut found = Vec::new();
    for file in files {
        let label = if file == Path::new("-") {
            "standard input".to_owned()
        } else {
            file.display().to_string()
        };
        let text = text_of(file).map_err(|error| CliError::BadInput(format!("{label}: {error}")))?;
        let objects = tekton_api::yaml::documents(&text)
            .map_err(|error| CliError::BadInput(format!("{label}: invalid YAML: {error}")))?;
        let several = objects.len() > 1;
        for (index, object) in objects.into_iter().enumerate() {
            let origin = if several {
                format!("{label} (document {})", index + 1)
            } else {
                label.clone()
            };
            collect(origin, object, &mut found)?;
        }
    }
    if found.is_empty() {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        return Err(CliError::BadInput(format!(
            "{}: no objects found",
            names.join(", ")
        )));
    }
    Ok(found)
}

fn text_of(file: &Path) -> std::io::Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        Ok(text)
    } else {
        std::fs::read_to_string(file)
    }
}

/// Adds an object, or the items of a List.
fn collect(origin: String, object: Value, found: &mut Vec<Document>) -> Result<(), CliError> {
    if object.is_null() {
        return Ok(());
    }
    if object.get("kind").and_then(Value::as_str) == Some("List") {
        let items = object
            .get("items")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        for (index, item) in items.into_iter().enumerate() {
            collect(format!("{origin}, item {}", index + 1), item, found)?;
        }
        return Ok(());
    }
    let missing = |field: &str| {
        Err(CliError::BadInput(format!(
            "{origin}: field \"{field}\" is missing"
        )))
    };
    let has = |path: &str| {
        object
            .pointer(path)
            .and_then(Value::as_str)
            .is_some_and(|text| !text.is_empty())
    };
    if !object.is_object() {
        return Err(CliError::BadInput(format!("{origin}: not a Kubernetes object")));
    }
    if !has("/apiVersion") {
        return missing("apiVersion");
    }
    if !has("/kind") {
        return missing("kind");
    }
    if !has("/metadata/name") && !has("/metadata/generateName") {
        return missing("metadata.name");
    }
    found.push(Document { origin, object });
    Ok(())
}

/// Works the command line into the documents: adds a run for `--start`, then params, workspaces and
/// time-outs to every run. Returns also the volume objects that `-w` needs.
pub(super) fn prepare(documents: &mut Vec<Document>, args: &RunArgs) -> Result<(), CliError> {
    if let Some(name) = &args.start {
        let run = started(documents, name)?;
        documents.push(run);
    }
    if !documents.iter().any(Document::is_run) {
        let startable: Vec<&str> = documents
            .iter()
            .filter(|d| startable(d))
            .map(Document::name)
            .collect();
        let hint = match startable.as_slice() {
            [] => String::new(),
            names => format!("; start one with --start: {}", names.join(", ")),
        };
        return Err(CliError::BadInput(format!(
            "the files hold no TaskRun or PipelineRun{hint}"
        )));
    }
    let params = args
        .params
        .iter()
        .map(|text| param(text))
        .collect::<Result<Vec<_>, _>>()?;
    let mut volumes = Vec::new();
    let mut bindings = Vec::new();
    for text in &args.workspaces {
        let (binding, objects) = workspace(text, &args.namespace)?;
        bindings.push(binding);
        volumes.extend(objects);
    }
    for document in documents.iter_mut().filter(|document| document.is_run()) {
        for (name, value) in &params {
            set_by_name(
                &mut document.object,
                "params",
                name,
                json!({"name": name, "value": value}),
            );
        }
        for binding in &bindings {
            let name = binding
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            set_by_name(&mut document.object, "workspaces", &name, binding.clone());
        }
        if let Some(timeout) = &args.timeout {
            set_timeout(document, timeout)?;
        }
    }
    documents.splice(0..0, volumes);
    Ok(())
}

fn startable(document: &Document) -> bool {
    is_tekton(&document.object) && matches!(document.kind(), "Task" | "Pipeline")
}

fn started(documents: &[Document], name: &str) -> Result<Document, CliError> {
    let known: BTreeSet<&str> = documents
        .iter()
        .filter(|d| startable(d))
        .map(Document::name)
        .collect();
    let Some(found) = documents
        .iter()
        .find(|document| startable(document) && document.name() == name)
    else {
        let known: Vec<&str> = known.into_iter().collect();
        let known = if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        };
        return Err(CliError::BadInput(format!(
            "--start: no Task or Pipeline \"{name}\" in the files (found: {known})"
        )));
    };
    let reference = if found.kind() == "Task" {
        "taskRef"
    } else {
        "pipelineRef"
    };
    let mut metadata = Map::new();
    metadata.insert("generateName".to_owned(), json!(format!("{name}-run-")));
    if let Some(namespace) = found.object.pointer("/metadata/namespace") {
        metadata.insert("namespace".to_owned(), namespace.clone());
    }
    let object = json!({
        "apiVersion": found.object.get("apiVersion"),
        "kind": format!("{}Run", found.kind()),
        "metadata": metadata,
        "spec": {reference: {"name": name}},
    });
    Ok(Document {
        origin: format!("--start {name}"),
        object,
    })
}

fn param(text: &str) -> Result<(String, Value), CliError> {
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return Err(CliError::BadInput(format!("-p {text}: expected NAME=VALUE")));
    };
    let structured = value.starts_with('[') || value.starts_with('{');
    let value = if structured {
        serde_json::from_str(value).unwrap_or_else(|_| json!(value))
    } else {
        json!(value)
    };
    Ok((name.to_owned(), value))
}

/// A binding of a workspace to a folder, with the claim and the volume that carry it.
fn workspace(text: &str, namespace: &str) -> Result<(Value, Vec<Document>), CliError> {
    let Some((name, folder)) = text
        .split_once('=')
        .filter(|(name, folder)| !name.is_empty() && !folder.is_empty())
    else {
        return Err(CliError::BadInput(format!("-w {text}: expected NAME=DIR")));
    };
    let path = std::fs::canonicalize(folder)
        .map_err(|error| CliError::BadInput(format!("-w {text}: {folder}: {error}")))?;
    if !path.is_dir() {
        return Err(CliError::BadInput(format!(
            "-w {text}: {folder} is not a directory"
        )));
    }
    let volume = format!("workspace-{}", name.to_lowercase());
    let size = json!({"storage": "1Gi"});
    let volume_object = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume},
        "spec": {"capacity": size, "accessModes": ["ReadWriteMany"], "hostPath": {"path": path}},
    });
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": volume, "namespace": namespace},
        "spec": {"volumeName": volume, "storageClassName": "", "accessModes": ["ReadWriteMany"],
                 "resources": {"requests": size}},
    });
    let document = |object| Document {
        origin: format!("-w {text}"),
        object,
    };
    let binding = json!({"name": name, "persistentVolumeClaim": {"claimName": volume}});
    Ok((binding, vec![document(volume_object), document(claim)]))
}

/// Puts an element into a list of the spec, in the place of the one with the same name.
fn set_by_name(object: &mut Value, list: &str, name: &str, element: Value) {
    let Some(object) = object.as_object_mut() else {
        return;
    };
    let spec = object.entry("spec").or_insert_with(|| json!({}));
    let Some(spec) = spec.as_object_mut() else { return };
    let Some(list) = spec.entry(list).or_insert_with(|| json!([])).as_array_mut() else {
        return;
    };
    match list
        .iter_mut()
        .find(|known| known.get("name").and_then(Value::as_str) == Some(name))
    {
        Some(known) => *known = element,
        None => list.push(element),
    }
}

fn set_timeout(document: &mut Document, timeout: &str) -> Result<(), CliError> {
    if timeout.parse::<tekton_api::duration::Duration>().is_err() {
        return Err(CliError::BadInput(format!(
            "--timeout {timeout}: expected a duration like 90s, 5m or 1h30m"
        )));
    }
    let task_run = document.kind() == "TaskRun";
    let v1beta1 = document.object.get("apiVersion").and_then(Value::as_str) == Some("tekton.dev/v1beta1");
    let Some(object) = document.object.as_object_mut() else {
        return Ok(());
    };
    let Some(spec) = object.entry("spec").or_insert_with(|| json!({})).as_object_mut() else {
        return Ok(());
    };
    if task_run {
        spec.insert("timeout".to_owned(), json!(timeout));
    } else {
        if v1beta1 {
            spec.remove("timeout");
        }
        spec.insert("timeouts".to_owned(), json!({"pipeline": timeout}));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(extra: &[&str]) -> RunArgs {
        use clap::Parser;
        let words = ["tekton", "run", "f.yaml"].iter().chain(extra);
        match super::super::Cli::parse_from(words).command {
            super::super::Command::Run(args) => args,
            other => panic!("not a run: {other:?}"),
        }
    }

    fn document(object: Value) -> Document {
        Document {
            origin: "f.yaml".into(),
            object,
        }
    }

    #[test]
    fn params_replace_those_of_the_file() {
        let mut documents = vec![document(json!({
            "apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"name": "r"},
            "spec": {"params": [{"name": "a", "value": "old"}]}}))];
        prepare(
            &mut documents,
            &args(&["-p", "a=new", "-p", "l=[\"x\"]", "--timeout", "5s"]),
        )
        .unwrap();
        let spec = &documents[0].object["spec"];
        assert_eq!(
            spec["params"],
            json!([{"name": "a", "value": "new"}, {"name": "l", "value": ["x"]}])
        );
        assert_eq!(spec["timeout"], "5s");
    }

    #[test]
    fn start_makes_a_run() {
        let mut documents = vec![document(
            json!({"apiVersion": "tekton.dev/v1", "kind": "Pipeline", "metadata": {"name": "p"}}),
        )];
        let refused = prepare(&mut documents.clone(), &args(&[]))
            .unwrap_err()
            .to_string();
        assert_eq!(
            refused,
            "the files hold no TaskRun or PipelineRun; start one with --start: p"
        );
        prepare(&mut documents, &args(&["--start", "p"])).unwrap();
        assert_eq!(documents[1].object["spec"]["pipelineRef"]["name"], "p");
        assert!(
            prepare(&mut documents, &args(&["--start", "q"]))
                .unwrap_err()
                .to_string()
                .contains("found: p")
        );
    }

    #[test]
    fn what_is_no_object_is_named() {
        let text = |object| {
            collect("f.yaml".into(), object, &mut Vec::new())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            text(json!({"kind": "Task"})),
            "f.yaml: field \"apiVersion\" is missing"
        );
        assert_eq!(
            text(json!({"apiVersion": "v1", "kind": "Task"})),
            "f.yaml: field \"metadata.name\" is missing"
        );
        assert_eq!(text(json!(["x"])), "f.yaml: not a Kubernetes object");
    }
}
