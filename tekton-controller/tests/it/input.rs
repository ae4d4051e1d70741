//! Bad input: one clear message that names file, object and field, exit code 2, nothing left running.

use crate::machine::Place;

fn refused(text: &str) -> String {
    let place = Place::new();
    let file = place.file("in.yaml", text);
    let said = place.run(&["run", file.to_str().unwrap()]);
    assert_eq!(said.code, Some(2), "{}\n{}", said.out, said.err);
    assert_eq!(
        std::fs::read_dir(place.state())
            .unwrap()
            .flatten()
            .flat_map(|e| std::fs::read_dir(e.path()))
            .flatten()
            .count(),
        0
    );
    said.err.replace(&place.path().display().to_string(), "")
}

#[test]
fn a_file_that_cannot_be_read() {
    let place = Place::new();
    let said = place.run(&["run", "/no/such/file.yaml"]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.err.contains("/no/such/file.yaml: No such file"),
        "{}",
        said.err
    );
}

#[test]
fn yaml_that_is_none() {
    let text = refused("a: [1\nb: 2\n");
    assert!(text.contains("/in.yaml: invalid YAML"), "{text}");
}

#[test]
fn an_unknown_kind() {
    let text = refused(
        "apiVersion: tekton.dev/v1\nkind: TaskRum\nmetadata:\n  name: x\n---\napiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata:\n  name: r\nspec:\n  taskSpec:\n    steps:\n    - image: b\n      command: ['true']\n",
    );
    assert!(
        text.contains("/in.yaml (document 1): TaskRum \"x\": unknown kind \"TaskRum\""),
        "{text}"
    );
}

#[test]
fn an_unknown_field_is_refused_by_admission() {
    let text = refused(
        "apiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata:\n  name: r\nspec:\n  taskSpec:\n    stepz: []\n    steps:\n    - image: b\n",
    );
    assert!(
        text.contains("/in.yaml: TaskRun \"r\"") && text.contains("stepz"),
        "{text}"
    );
}

#[test]
fn a_missing_task_and_a_missing_param() {
    let text = refused(
        "apiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata:\n  name: r\nspec:\n  taskRef:\n    name: gone\n",
    );
    assert!(
        text.contains("/in.yaml: TaskRun \"r\": spec.taskRef.name: Task \"gone\" is not in the files"),
        "{text}"
    );
    let text = refused(
        "apiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata:\n  name: r\nspec:\n  taskSpec:\n    params:\n    - name: who\n    steps:\n    - image: b\n      command: [echo, $(params.who)]\n",
    );
    assert!(
        text.contains("TaskRun \"r\": spec.params: required param \"who\" has no value"),
        "{text}"
    );
}
