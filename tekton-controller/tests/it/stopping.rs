//! Ends that nobody planned: Ctrl-C and kill -9 leave no process, mount or folder behind.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Child;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::machine::{Place, isolation_levels, said};

const ENDLESS: &str = "apiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata:\n  name: r\nspec:\n  taskSpec:\n    steps:\n    - name: s\n      image: busybox\n      script: |\n        #!/bin/sh\n        echo started\n        sleep 98765\n";

/// Starts an endless run and waits until its step has spoken.
fn started(place: &Place, level: &str) -> Child {
    let file = place.file("endless.yaml", ENDLESS);
    let mut child = place.spawn(&["run", file.to_str().unwrap(), "-o", "json", "--isolation", level]);
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let spoke = lines.any(|line| line.is_ok_and(|line| line.contains("\"line\":\"started\"")));
    assert!(
        spoke,
        "the step never spoke: {}",
        said(child.wait_with_output().unwrap()).err
    );
    // The rest of the output must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).expect("a signal");
}

/// Commands of processes that run below a folder or belong to one of its pods.
fn left_behind(state: &Path) -> Vec<String> {
    let needle = state.display().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(environ) = std::fs::read(entry.path().join("environ")) else {
            continue;
        };
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        if String::from_utf8_lossy(&environ).contains(&needle) && !command.is_empty() {
            found.push(command);
        }
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    found.extend(
        mounts
            .lines()
            .filter(|line| line.contains(&needle))
            .map(str::to_owned),
    );
    found
}

fn folders(state: &Path) -> usize {
    let tops = std::fs::read_dir(state).unwrap().flatten();
    tops.flat_map(|top| std::fs::read_dir(top.path()))
        .flatten()
        .count()
}

#[test]
fn an_interrupt_cancels_the_run_and_cleans_up() {
    for level in isolation_levels() {
        let place = Place::new();
        let child = started(&place, level);
        send(&child, Signal::SIGINT);
        let said = said(child.wait_with_output().unwrap());
        assert_eq!(said.code, Some(130), "{level}: {}", said.err);
        assert_eq!(left_behind(&place.state()), Vec::<String>::new(), "{level}");
        assert_eq!(folders(&place.state()), 0, "{level}");
    }
}

#[test]
fn the_next_start_cleans_up_after_a_kill() {
    for level in isolation_levels() {
        let place = Place::new();
        let mut child = started(&place, level);
        send(&child, Signal::SIGKILL);
        child.wait().unwrap();
        let file = place.file(
            "short.yaml",
            "apiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata:\n  name: r\nspec:\n  taskSpec:\n    steps:\n    - image: busybox\n      command: ['true']\n",
        );
        let said = place.run(&["run", file.to_str().unwrap(), "--isolation", level]);
        assert_eq!(said.code, Some(0), "{level}: {}", said.err);
        assert_eq!(left_behind(&place.state()), Vec::<String>::new(), "{level}");
        assert_eq!(folders(&place.state()), 0, "{level}");
    }
}
