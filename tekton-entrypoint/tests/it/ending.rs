//! How commands end, and what that means for the step.

use std::time::{Duration, Instant};

use crate::place::{PATIENCE, Place, finish, once_in_a_moment, signal};

fn check(flags: &[&str], script: &str, code: i32, marks: &str, message: &[&str]) {
    let place = Place::new();
    let left = place.shell(flags, script);
    assert_eq!(
        (left.code, place.marks().as_str()),
        (Some(code), marks),
        "{script}: {}",
        left.stderr
    );
    assert_eq!(place.message(), message, "{script}");
}

#[test]
fn codes_and_marks() {
    check(&[], "exit 0", 0, "out 0", &["StartedAt=time:3"]);
    check(&[], "exit 3", 3, "err -", &["StartedAt=time:3"]);
    check(&[], "kill -9 $$", 255, "err -", &["StartedAt=time:3"]);
    check(
        &["-on_error", "continue"],
        "exit 3",
        0,
        "out 3",
        &["StartedAt=time:3", "ExitCode=3:3"],
    );
    check(
        &["-on_error", "continue"],
        "kill -9 $$",
        0,
        "out -1",
        &["StartedAt=time:3", "ExitCode=-1:3"],
    );
    check(
        &["-on_error", "stopAndFail"],
        "exit 4",
        4,
        "err -",
        &["StartedAt=time:3"],
    );
    check(&["-timeout", "-1s"], "exit 0", 1, "err -", &["StartedAt=time:3"]);
    check(&["-timeout", "0"], "exit 0", 0, "out 0", &["StartedAt=time:3"]);
}

#[test]
fn commands_that_cannot_start() {
    for (command, words) in [
        ("no-such-tool", "executable file not found in $PATH"),
        ("./no-such-tool", "no such file or directory"),
        ("/", "permission denied"),
    ] {
        let place = Place::new();
        let left = place.run(&["-on_error", "continue"], &[command]);
        assert_eq!((left.code, place.marks().as_str()), (Some(1), "err -"));
        assert!(
            left.stderr.contains("Error executing command") && left.stderr.contains(words),
            "{}",
            left.stderr
        );
    }
    // Only a result of an earlier step can make an argument too long that was not when the step began.
    let place = Place::new().with("tekton/steps/step-a/results/long", &"x".repeat(150_000));
    let left = place.run(&[], &["echo", "$(steps.a.results.long)"]);
    assert_eq!(left.code, Some(1));
    assert!(
        left.stderr
            .contains("argument 1 has 150001 bytes, the limit for one is 131072"),
        "{}",
        left.stderr
    );
}

#[test]
fn a_timeout_kills() {
    let place = Place::new();
    let begin = Instant::now();
    let left = place.run(&["-timeout", "150ms", "-on_error", "continue"], &["sleep", "60"]);
    assert!(begin.elapsed() >= Duration::from_millis(150) && begin.elapsed() < PATIENCE);
    assert_eq!((left.code, place.marks().as_str()), (Some(1), "err -"));
    assert_eq!(place.message(), ["StartedAt=time:3", "Reason=TimeoutExceeded:3"]);
}

#[test]
fn cancellation_kills_at_once() {
    once_in_a_moment(|| {
        let place = Place::new();
        let child = place
            .step(&[], &["sh", "-c", ": > begun; exec sleep 60"])
            .spawn()
            .unwrap();
        place.until("work/begun");
        std::thread::sleep(Duration::from_millis(300));
        let begin = Instant::now();
        place.put("tekton/downward/cancel", "CANCEL");
        let left = finish(child);
        let taken = begin.elapsed();
        assert_eq!((left.code, place.marks().as_str()), (Some(9), "err killed"));
        assert_eq!(place.message(), ["StartedAt=time:3", "Reason=Cancelled:3"]);
        taken
    });
    let place = Place::new().with("tekton/downward/cancel", "CANCEL");
    assert_eq!(place.shell(&[], "echo never").stdout, "");
}

#[test]
fn signals_reach_the_whole_group() {
    let place = Place::new();
    let script = "(trap 'echo child; exit' TERM; : > up1; while :; do sleep 0.02; done) & \
                  trap 'wait; echo parent; exit 7' TERM; : > up2; while :; do sleep 0.02; done";
    let child = place.step(&[], &["sh", "-c", script]).spawn().unwrap();
    place.until("work/up1");
    place.until("work/up2");
    signal(&child, "TERM");
    let left = finish(child);
    assert_eq!((left.code, left.stdout.as_str()), (Some(7), "child\nparent\n"));
}

#[test]
fn output_is_copied_and_input_is_empty() {
    let place = Place::new();
    let (out, err) = (place.at("logs/a/out"), place.at("logs/err"));
    let script = "cat; echo to-out; echo to-err >&2; (sleep 0.2; echo late) &";
    for _ in 0..2 {
        let left = place.shell(&["-stdout_path", &out, "-stderr_path", &err], script);
        assert_eq!((left.code, left.stdout.as_str()), (Some(0), "to-out\nlate\n"));
        assert!(left.stderr.contains("to-err"));
    }
    assert_eq!(place.read("logs/a/out").unwrap(), "to-out\nlate\n".repeat(2));
    assert_eq!(place.read("logs/err").unwrap(), "to-err\n".repeat(2));
    let large = place.shell(&["-stdout_path", &out], "head -c 3000000 /dev/zero | tr '\\0' x");
    assert_eq!(large.stdout.len(), 3_000_000);
}

#[test]
fn the_prefix_is_not_inherited() {
    let left = Place::new()
        .variable("KEPT", "yes")
        .shell(&[], "echo $KEPT $TEKTON_PATH_PREFIX.");
    assert_eq!(left.stdout, "yes .\n");
}
