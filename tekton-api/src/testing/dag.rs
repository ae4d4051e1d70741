//! Cases of task graphs.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tekton_dag::Graph;

use super::{diff, expected, input, set, typed};
use crate::result_ref::dependencies;
use crate::v1::PipelineSpec;

/// Builds the graph of the tasks, and that of the finally tasks if there are any, and compares.
///
/// # Errors
/// The difference.
pub fn check(case: &Value) -> Result<(), String> {
    let spec: PipelineSpec = typed(case, "pipelineSpec")?;
    let done: Vec<String> = typed(case, "done")?;
    let deps: BTreeMap<&str, Vec<String>> = spec
        .tasks
        .iter()
        .map(|task| (task.name(), dependencies(task)))
        .filter(|(_, dependencies)| !dependencies.is_empty())
        .collect();
    let none = Vec::new();
    let tasks = spec
        .tasks
        .iter()
        .map(|task| (task.name(), deps.get(task.name()).unwrap_or(&none)));
    let mut actual = graph(tasks, &done, expected(case));
    set(&mut actual, "deps", json!(deps));
    if !spec.finally.is_empty() {
        let done: Vec<String> = typed(case, "finallyDone")?;
        let tasks = spec.finally.iter().map(|task| (task.name(), &none));
        let finally = graph(
            tasks,
            &done,
            expected(case).get("finally").unwrap_or(&Value::Null),
        );
        set(&mut actual, "finally", finally);
    }
    let mut expected = expected(case).clone();
    settle(&mut expected, &actual);
    if let (Some(finally), Some(actual)) = (expected.get_mut("finally"), actual.get("finally")) {
        settle(finally, actual);
    }
    if input(case, "pipelineSpec").is_null() {
        return Err("no pipelineSpec".to_owned());
    }
    diff::compare(&expected, &actual)
}

/// Edges, candidates and error of one graph.
fn graph<'a>(
    tasks: impl Iterator<Item = (&'a str, &'a Vec<String>)>,
    done: &[String],
    expected: &Value,
) -> Value {
    let graph = match Graph::build(tasks) {
        Ok(graph) => graph,
        Err(error) => return json!({"edges": null, "candidates": null, "error": error.to_string()}),
    };
    let mut edges = graph.edges();
    edges.sort_unstable();
    let edges = if edges.is_empty() && expected.get("edges").is_some_and(Value::is_null) {
        Value::Null
    } else {
        json!(edges)
    };
    match graph.candidates(done) {
        Ok(candidates) => json!({"edges": edges, "candidates": candidates, "error": null}),
        Err(error) => json!({"edges": edges, "candidates": null, "error": error.to_string()}),
    }
}

/// Where several errors are right, chooses the one that was found.
fn settle(expected: &mut Value, actual: &Value) {
    let Some(members) = expected.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(errors)) = members.remove("errorAnyOf") {
        let found = actual
            .get("error")
            .filter(|error| errors.contains(error))
            .cloned();
        members.insert("error".into(), found.unwrap_or(Value::Array(errors)));
    }
}
