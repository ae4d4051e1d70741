//! Subcommands and the other programs.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::place::{Left, Place, finish, signal};

fn run(place: &Place, program: &str, args: &[&str]) -> Left {
    place.program(program, args).output().unwrap().into()
}

#[test]
fn init_places_the_program_and_links_steps() {
    let place = Place::new()
        .with("source", "program")
        .with("tekton/bin/.keep", "");
    let (source, target) = (place.at("source"), place.at("tekton/bin/entrypoint"));
    for _ in 0..2 {
        let left = run(
            &place,
            "entrypoint",
            &["init", &source, &target, "step-a", "step-b"],
        );
        assert_eq!(left.code, Some(0), "{}", left.stderr);
        assert!(left.stderr.contains("Entrypoint initialization"));
    }
    let mode = std::fs::metadata(&target).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o311);
    for (link, index) in [("step-a", 0), ("0", 0), ("step-b", 1), ("1", 1)] {
        let found = std::fs::read_link(place.path(&format!("tekton/steps/{link}"))).unwrap();
        assert_eq!(found, place.path(&format!("tekton/run/{index}/status")));
    }
}

#[test]
fn scripts_are_decoded() {
    let place = Place::new().with("script", "ZWNobyBoaQo=\n").with("broken", "!!");
    assert_eq!(
        run(&place, "entrypoint", &["decode-script", &place.at("script")]).code,
        Some(0)
    );
    assert_eq!(place.read("script").unwrap(), "echo hi\n");
    assert_eq!(
        run(&place, "entrypoint", &["decode-script", &place.at("broken")]).code,
        Some(1)
    );
    assert_eq!(place.read("broken").unwrap(), "!!");
}

#[test]
fn nop_ends_or_waits() {
    let place = Place::new();
    assert_eq!(
        run(&place, "nop", &["x", "tekton_run_indefinitely"]).code,
        Some(0)
    );
    let mut child = place
        .program("nop", &["tekton_run_indefinitely"])
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "TERM");
    assert_eq!(finish(child).code, Some(0));
}

#[test]
fn the_sidecar_reports_in_order() {
    let place = Place::new()
        .with("tekton/results/b", "<2>")
        .with("tekton/results/a", "1");
    place.put("tekton/steps/s/results/r", "x\n");
    place.put(
        "tekton/steps/step-s/artifacts/provenance.json",
        "{\"outputs\":[{\"name\":\"o\",\"extra\":1}]}",
    );
    std::fs::create_dir_all(place.path("tekton/run/0")).unwrap();
    std::fs::create_dir_all(place.path("tekton/run/1")).unwrap();
    let args = [
        "-result-names",
        "b,none,a",
        "-step-results",
        "{\"s\":[\"r\"]}",
        "-step-names",
        "step-s",
    ];
    let child = place.program("sidecarlogresults", &args).spawn().unwrap();
    place.put("tekton/run/1/out", "");
    place.put("tekton/run/0/out", "");
    let left = finish(child);
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert_eq!(
        left.stdout,
        "{\"name\":\"b\",\"value\":\"\\u003c2\\u003e\",\"type\":\"task\"}\n\
         {\"name\":\"a\",\"value\":\"1\",\"type\":\"task\"}\n\
         {\"name\":\"s.r\",\"value\":\"x\\n\",\"type\":\"step\"}\n\
         {\"name\":\"step-s\",\"value\":\"{\\\"outputs\\\":[{\\\"name\\\":\\\"o\\\"}]}\",\"type\":\"stepArtifact\"}\n"
    );
}

#[test]
fn working_directories_are_made() {
    let place = Place::new().with("workspace/file", "");
    let left = run(
        &place,
        "workingdirinit",
        &["/workspace/a/./b", "rel", "/etc/nothing-of-ours"],
    );
    assert_eq!(left.code, Some(0));
    assert!(place.path("workspace/a/b").is_dir() && place.path("work/rel").is_dir());
    let left = run(&place, "workingdirinit", &["/workspace/file/x"]);
    assert_eq!(left.code, Some(1));
    assert!(left.stderr.contains("Failed to mkdir"));
}
