//! What `tekton run` does with runs that are as they should be, and with steps that fail.

use crate::machine::{Place, finished, isolation_levels, log_lines};

fn task_run(steps: &str) -> String {
    format!(
        "apiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata:\n  name: r\nspec:\n  taskSpec:\n    results:\n    - name: out\n    steps:\n{steps}"
    )
}

#[test]
fn steps_run_in_order_and_results_come_back_at_every_isolation_level() {
    for level in isolation_levels() {
        let place = Place::new();
        let yaml = task_run(
            "    - name: one\n      image: busybox\n      script: |\n        #!/bin/sh\n        echo first > /workspace/f\n        echo one\n    - name: two\n      image: busybox\n      command: [sh, -c]\n      args: ['cat /workspace/f; printf 42 > $(results.out.path)']\n",
        );
        let (said, events) = place.events(&yaml, &["--isolation", level]);
        assert_eq!(said.code, Some(0), "{level}: {}\n{}", said.out, said.err);
        // The logs of the steps are followed side by side.
        let mut lines = log_lines(&events);
        lines.sort();
        assert_eq!(lines, ["r/one: one", "r/two: first"], "{level}");
        assert_eq!(finished(&events)["results"][0]["value"], "42", "{level}");
    }
}

#[test]
fn a_failing_step_stops_the_chain() {
    let place = Place::new();
    let yaml = task_run(
        "    - name: bad\n      image: busybox\n      command: [sh, -c, 'echo before; exit 7']\n    - name: never\n      image: busybox\n      command: [sh, -c, 'echo never']\n",
    );
    let (said, events) = place.events(&yaml, &[]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    let lines = log_lines(&events);
    assert!(lines.contains(&"r/bad: before".to_owned()), "{lines:?}");
    assert!(!lines.contains(&"r/never: never".to_owned()), "{lines:?}");
    let end = finished(&events);
    assert_eq!(end["reason"], "StepFailed");
    assert!(
        end["message"]
            .as_str()
            .unwrap()
            .contains("\"step-bad\" exited with code 7"),
        "{end}"
    );
}

#[test]
fn a_program_that_does_not_exist_fails_its_step() {
    let place = Place::new();
    let yaml = task_run("    - name: x\n      image: busybox\n      command: [/no/such/program]\n");
    let (said, events) = place.events(&yaml, &[]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert_eq!(finished(&events)["succeeded"], false);
}

#[test]
fn a_task_run_that_takes_too_long_times_out() {
    let place = Place::new();
    let yaml = task_run("    - name: x\n      image: busybox\n      command: [sleep, '600']\n");
    let (said, events) = place.events(&yaml, &["--timeout", "1s"]);
    assert_eq!(said.code, Some(3), "{}", said.err);
    let end = finished(&events);
    assert_eq!(end["reason"], "TaskRunTimeout");
    assert_eq!(end["message"], "TaskRun \"r\" failed to finish within \"1s\"");
}

#[test]
fn a_step_that_takes_too_long_fails() {
    let place = Place::new();
    let yaml =
        task_run("    - name: x\n      image: busybox\n      timeout: 1s\n      command: [sleep, '600']\n");
    let (said, events) = place.events(&yaml, &[]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert_eq!(
        finished(&events)["reason"],
        "StepFailed",
        "{:?}",
        finished(&events)
    );
}

#[test]
fn a_task_is_started_with_params_and_a_workspace_of_the_host() {
    let place = Place::new();
    let folder = place.path().join("src");
    std::fs::create_dir(&folder).unwrap();
    let file = place.file(
        "task.yaml",
        "apiVersion: tekton.dev/v1\nkind: Task\nmetadata:\n  name: t\nspec:\n  params:\n  - name: who\n  workspaces:\n  - name: src\n  steps:\n  - name: s\n    image: busybox\n    command: [sh, -c]\n    args: ['echo hello $(params.who) | tee $(workspaces.src.path)/made']\n",
    );
    let workspace = format!("src={}", folder.display());
    let said = place.run(&[
        "run",
        file.to_str().unwrap(),
        "--start",
        "t",
        "-p",
        "who=you",
        "-w",
        &workspace,
    ]);
    assert_eq!(said.code, Some(0), "{}\n{}", said.out, said.err);
    assert!(said.out.contains(": s] hello you"), "{}", said.out);
    assert_eq!(
        std::fs::read_to_string(folder.join("made")).unwrap(),
        "hello you\n"
    );
}

#[test]
fn the_worked_pipeline_succeeds_at_every_isolation_level() {
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/pipelines/build-and-deploy.yaml"
    );
    for level in isolation_levels() {
        let place = Place::new();
        let said = place.run(&["run", example, "--isolation", level]);
        assert_eq!(said.code, Some(0), "{level}: {}\n{}", said.out, said.err);
        assert!(
            said.out.contains("result image-digest = sha256:"),
            "{level}: {}",
            said.out
        );
        assert!(
            said.out
                .contains("[deploy-to-cluster : apply] ConfigMap hello-release applied"),
            "{level}: {}",
            said.out
        );
    }
}
