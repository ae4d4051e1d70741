//! Looks through the files before anything is started: references to Tasks and Pipelines that are not
//! there, and required params that nobody gives.
//!
//! The reconcilers report the same on the run's status; here it costs no start, and the text names file,
//! object and field. Only what is certain is refused: remote references are left to their resolvers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::CliError;
use super::documents::Document;

/// Checks all runs of the files; the first complaint wins.
pub(super) fn check(documents: &[Document], namespace: &str) -> Result<(), CliError> {
    let files = Files { documents, namespace };
    for run in documents.iter().filter(|document| document.is_run()) {
        files.run(run)?;
    }
    Ok(())
}

struct Files<'a> {
    documents: &'a [Document],
    namespace: &'a str,
}

impl<'a> Files<'a> {
    fn run(&self, run: &Document) -> Result<(), CliError> {
        let kind = run.kind().trim_end_matches("Run");
        let (reference, embedded) = if kind == "Task" {
            ("taskRef", "taskSpec")
        } else {
            ("pipelineRef", "pipelineSpec")
        };
        let path = format!("spec.{reference}");
        let (owner, spec, prefix) = if let Some(target) = at(&run.object, &["spec", reference]) {
            let Some(found) = self.find(run, kind, target, &path)? else {
                return Ok(());
            };
            (found, at(&found.object, &["spec"]), "spec".to_owned())
        } else {
            (
                run,
                at(&run.object, &["spec", embedded]),
                format!("spec.{embedded}"),
            )
        };
        let Some(spec) = spec else { return Ok(()) };
        Self::required_params(run, spec)?;
        if kind == "Pipeline" {
            self.pipeline(owner, spec, &prefix)?;
        }
        Ok(())
    }

    fn pipeline(&self, owner: &Document, spec: &Value, prefix: &str) -> Result<(), CliError> {
        for list in ["tasks", "finally"] {
            for (index, task) in items(spec, list).iter().enumerate() {
                let Some(target) = at(task, &["taskRef"]) else {
                    continue;
                };
                // A reference with an API version of another group is a custom task.
                let custom = at(target, &["apiVersion"])
                    .and_then(Value::as_str)
                    .is_some_and(|version| !version.is_empty() && !version.starts_with("tekton.dev/"));
                if !custom {
                    self.find(
                        owner,
                        "Task",
                        target,
                        &format!("{prefix}.{list}[{index}].taskRef"),
                    )?;
                }
            }
        }
        Ok(())
    }

    /// The document that a reference names; `None` if it is not for us to find.
    fn find(
        &self,
        from: &Document,
        kind: &str,
        target: &Value,
        path: &str,
    ) -> Result<Option<&'a Document>, CliError> {
        let remote = at(target, &["resolver"]).is_some() || at(target, &["bundle"]).is_some();
        let named_kind = at(target, &["kind"]).and_then(Value::as_str).unwrap_or(kind);
        let Some(name) = at(target, &["name"]).and_then(Value::as_str) else {
            return Ok(None);
        };
        if remote || name.contains("$(") || named_kind != kind {
            return Ok(None);
        }
        let namespace = self.namespace_of(from);
        let matches = |document: &&Document| {
            document.kind() == kind && document.name() == name && self.namespace_of(document) == namespace
        };
        match self.documents.iter().find(matches) {
            Some(found) => Ok(Some(found)),
            None => Err(CliError::BadInput(format!(
                "{}: {path}.name: {kind} \"{name}\" is not in the files",
                from.describe()
            ))),
        }
    }

    fn namespace_of<'d>(&'d self, document: &'d Document) -> &'d str {
        at(&document.object, &["metadata", "namespace"])
            .and_then(Value::as_str)
            .unwrap_or(self.namespace)
    }

    fn required_params(run: &Document, spec: &Value) -> Result<(), CliError> {
        let run_spec = at(&run.object, &["spec"]).unwrap_or(&Value::Null);
        let given: BTreeSet<&str> = items(run_spec, "params").iter().filter_map(name_of).collect();
        let missing: Vec<String> = items(spec, "params")
            .iter()
            .filter(|declared| at(declared, &["default"]).is_none())
            .filter_map(name_of)
            .filter(|name| !given.contains(name))
            .map(|name| format!("\"{name}\""))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let (noun, example) = if missing.len() == 1 {
            ("param", "has")
        } else {
            ("params", "have")
        };
        Err(CliError::BadInput(format!(
            "{}: spec.params: required {noun} {} {example} no value; give it in the file or with -p NAME=VALUE",
            run.describe(),
            missing.join(", ")
        )))
    }
}

fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter()
        .try_fold(value, |value, key| value.get(key))
        .filter(|value| !value.is_null())
}

fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn name_of(item: &Value) -> Option<&str> {
    item.get("name").and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(kind: &str, spec: &Value) -> Document {
        let name = kind.to_lowercase();
        let object =
            json!({"apiVersion": "tekton.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec});
        Document {
            origin: "f.yaml".into(),
            object,
        }
    }

    fn complaint(documents: &[Document]) -> String {
        check(documents, "default").unwrap_err().to_string()
    }

    #[test]
    fn a_missing_task_is_named_with_its_field() {
        let run = document("TaskRun", &json!({"taskRef": {"name": "gone"}}));
        assert_eq!(
            complaint(&[run]),
            "f.yaml: TaskRun \"taskrun\": spec.taskRef.name: Task \"gone\" is not in the files"
        );
        let run = document("PipelineRun", &json!({"pipelineRef": {"name": "pipeline"}}));
        let pipeline = document(
            "Pipeline",
            &json!({"tasks": [{"name": "a", "taskRef": {"name": "gone"}}]}),
        );
        let expected =
            "f.yaml: Pipeline \"pipeline\": spec.tasks[0].taskRef.name: Task \"gone\" is not in the files";
        assert_eq!(complaint(&[run, pipeline]), expected);
    }

    #[test]
    fn a_param_without_value_is_named() {
        let task = document(
            "Task",
            &json!({"params": [{"name": "who"}, {"name": "x", "default": "1"}]}),
        );
        let run = document("TaskRun", &json!({"taskRef": {"name": "task"}}));
        assert!(complaint(&[task.clone(), run]).contains("spec.params: required param \"who\" has no value"));
        let run = document(
            "TaskRun",
            &json!({"taskRef": {"name": "task"}, "params": [{"name": "who", "value": "x"}]}),
        );
        assert!(check(&[task, run], "default").is_ok());
    }

    #[test]
    fn remote_and_custom_references_are_left_alone() {
        let tasks = json!([{"name": "a", "taskRef": {"apiVersion": "example.dev/v1", "kind": "Wait", "name": "w"}},
                           {"name": "b", "taskRef": {"resolver": "git"}}]);
        let run = document("PipelineRun", &json!({"pipelineSpec": {"tasks": tasks}}));
        assert!(check(&[run], "default").is_ok());
    }
}
