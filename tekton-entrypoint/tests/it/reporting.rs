//! Results, artifacts and the termination message.

use crate::place::Place;

#[test]
fn results_come_first_and_in_order() {
    let place = Place::new()
        .with("tekton/results/b", "2")
        .with("tekton/results/a", "<1>\n");
    place.put("tekton/artifacts/provenance.json", "{}");
    let script = "printf s > ../tekton/run/0/status/results/s; printf raw > ../tekton/run/0/status/artifacts/provenance.json; exit 5";
    let left = place.shell(&["-results", "a,none,b", "-step_results", "s"], script);
    assert_eq!(left.code, Some(5));
    assert_eq!(
        place.message(),
        [
            "a=<1>\n:1",
            "b=2:1",
            "s=s:4",
            "StartedAt=time:3",
            "/tekton/run/0/status/artifacts/provenance.json=raw:5",
            "/tekton/artifacts/provenance.json={}:6",
        ]
    );
}

#[test]
fn a_result_that_is_too_large_fails_a_finished_step() {
    let place = Place::new().with("tekton/results/big", &"x".repeat(5000));
    let left = place.shell(&["-results", "big"], "exit 0");
    assert_eq!((left.code, place.marks().as_str()), (Some(1), "out 0"));
    assert!(
        left.stderr.contains("above max allowed size 4096"),
        "{}",
        left.stderr
    );
    assert_eq!(place.message(), ["StartedAt=time:3"]);
    // Compressed it fits.
    let place = Place::new().with("tekton/results/big", &"x".repeat(5000));
    let left = place.shell(&["-results", "big", "-compress_termination_message"], "exit 0");
    assert_eq!(left.code, Some(0));
    assert!(place.read("tekton/termination").unwrap().starts_with("tknz:"));
    assert_eq!(place.message().len(), 2);
}

#[test]
fn other_extraction_leaves_results_alone() {
    let place = Place::new().with("tekton/results/a", "1");
    place.shell(&["-results", "a", "-result_from", "sidecar-logs"], "exit 0");
    assert_eq!(place.message(), ["StartedAt=time:3"]);
}

#[test]
fn results_that_would_need_a_signature_fail() {
    let place = Place::new().with("tekton/results/a", "1");
    let left = place.shell(&["-results", "a", "-enable_spire"], "exit 0");
    assert_eq!(left.code, Some(1));
    assert!(left.stderr.contains("cannot be signed"), "{}", left.stderr);
    assert_eq!(place.message(), ["StartedAt=time:3"]);
}
