//! Waiting for earlier steps, for people, and for nothing.

use std::time::{Duration, Instant};

use crate::place::{Place, finish, once_in_a_moment, signal};

#[test]
fn a_step_starts_milliseconds_after_the_one_before() {
    once_in_a_moment(|| {
        let place = Place::new();
        let awaited = place.at("tekton/run/7/out");
        let child = place
            .step(&["-wait_file", &awaited], &["sh", "-c", "echo went"])
            .spawn()
            .unwrap();
        place.until("tekton/run/0/status/artifacts");
        // By then it is the kernel that tells.
        std::thread::sleep(Duration::from_millis(300));
        // The directory of the awaited file does not exist yet either.
        let begin = Instant::now();
        place.put("tekton/run/7/out", "");
        let left = finish(child);
        let taken = begin.elapsed();
        assert_eq!((left.code, left.stdout.as_str()), (Some(0), "went\n"));
        taken
    });
}

#[test]
fn content_may_be_asked_for() {
    let place = Place::new().with("tekton/downward/ready", "");
    let awaited = place.at("tekton/downward/ready");
    let child = place
        .step(
            &["-wait_file", &awaited, "-wait_file_content"],
            &["sh", "-c", ": > ran"],
        )
        .spawn()
        .unwrap();
    place.until("tekton/run/0/status/results");
    std::thread::sleep(Duration::from_millis(100));
    assert!(!crate::place::exists(&place.path("work/ran")));
    place.put("tekton/downward/ready", "READY");
    assert_eq!(finish(child).code, Some(0));
}

#[test]
fn a_failed_step_stops_the_next() {
    let place = Place::new().with("tekton/run/7/out.err", "");
    let awaited = place.at("tekton/run/7/out");
    let left = place.shell(&["-wait_file", &awaited], "echo never");
    assert_eq!(
        (left.code, left.stdout.as_str(), place.marks().as_str()),
        (Some(1), "", "err -")
    );
    assert_eq!(place.message(), ["StartedAt=time:3", "Reason=Skipped:3"]);
    // At a breakpoint it goes on.
    let place = Place::new().with("tekton/run/7/out.err", "");
    let awaited = place.at("tekton/run/7/out");
    assert_eq!(
        place
            .shell(&["-wait_file", &awaited, "-breakpoint_on_failure"], "echo on")
            .stdout,
        "on\n"
    );
}

#[test]
fn waiting_can_be_ended() {
    let place = Place::new();
    let awaited = place.at("never");
    let child = place.step(&["-wait_file", &awaited], &["true"]).spawn().unwrap();
    place.until("tekton/run/0/status/artifacts");
    std::thread::sleep(Duration::from_millis(50));
    signal(&child, "TERM");
    assert_eq!((finish(child).code, place.marks().as_str()), (None, " -"));
}

#[test]
fn breakpoints_hold_and_release() {
    let place = Place::new();
    let child = place
        .step(&["-breakpoint_on_failure"], &["sh", "-c", "exit 6"])
        .spawn()
        .unwrap();
    place.until("tekton/termination");
    assert_eq!(place.marks(), " -");
    place.put("tekton/run/0/out.breakpointexit", "4\n");
    assert_eq!(finish(child).code, Some(4));

    let place = Place::new().with("tekton/run/0/out.beforestepexit.err", "1\n");
    let left = place.shell(&["-debug_before_step"], "echo never");
    assert_eq!(
        (left.code, left.stdout.as_str(), place.marks().as_str()),
        (Some(1), "", "err -")
    );
    let place = Place::new().with("tekton/run/0/out.beforestepexit", "0\n");
    assert_eq!(place.shell(&["-debug_before_step"], "echo go").stdout, "go\n");
}
