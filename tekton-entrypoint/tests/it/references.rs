//! References to earlier steps, and conditions.

use crate::place::Place;

fn place() -> Place {
    Place::new()
        .with("tekton/steps/step-build/results/tag", "v1")
        .with("tekton/steps/step-build/results/list", "[\"a\",\"b\"]")
        .with("tekton/steps/step-build/results/object", "{\"k\":\"v\"}")
        .with(
            "tekton/steps/step-build/artifacts/provenance.json",
            "{\"outputs\":[{\"name\":\"img\",\"values\":[{\"uri\":\"u\",\"digest\":{\"sha512\":\"2\",\"sha256\":\"1\"}}]}]}",
        )
}

#[test]
fn arguments_are_filled_in() {
    let left = place().run(
        &[],
        &[
            "printf",
            "[%s]",
            "t=$(steps.build.results.tag)",
            "$(steps.build.results.list[*])",
            "$(steps.build.results.list[1])",
            "$(steps.build.results.object.k)",
            "$(steps.build.outputs.img)",
        ],
    );
    assert_eq!(
        left.stdout,
        "[t=v1][a][b][b][v][[{\"digest\":{\"sha256\":\"1\",\"sha512\":\"2\"},\"uri\":\"u\"}]]"
    );
}

#[test]
fn the_environment_is_filled_in() {
    let left = place()
        .variable("TAG", "$(steps.build.results.tag)!")
        .shell(&[], "echo $TAG");
    assert_eq!(left.stdout, "v1!\n");
}

#[test]
fn scripts_are_copied_for_artifacts() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = place().with(
        "tekton/scripts/script-0",
        "#!/bin/sh\necho '$(steps.build.outputs.img)'\n",
    );
    let script = place.path("tekton/scripts/script-0");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir_all(place.path("tmp")).unwrap();
    let tmp = place.at("tmp");
    let place = place.variable("TMPDIR", &tmp);
    let left = place.run(&[], &[&script.display().to_string()]);
    assert_eq!(
        left.stdout, "[{\"digest\":{\"sha256\":\"1\",\"sha512\":\"2\"},\"uri\":\"u\"}]\n",
        "{}",
        left.stderr
    );
}

#[test]
fn unknown_references_stay() {
    let left = place().run(
        &[],
        &["echo", "$(steps.build.results.tag) $(steps.build.results.nope)"],
    );
    assert_eq!(
        left.stdout,
        "$(steps.build.results.tag) $(steps.build.results.nope)\n"
    );
    assert!(
        left.stderr
            .contains("failed to find replacement for $(steps.build.results.nope)"),
        "{}",
        left.stderr
    );
}

#[test]
fn an_index_beyond_the_end_fails_the_step() {
    let place = place();
    let left = place.run(&[], &["echo", "$(steps.build.results.list[5])"]);
    assert_eq!(
        (left.code, left.stdout.as_str(), place.marks().as_str()),
        (Some(1), "", "err -")
    );
}

#[test]
fn conditions_decide() {
    for (when, output, message) in [
        (
            r#"[{"input":"$(steps.build.results.tag)","operator":"in","values":["v1"]}]"#,
            "ran\n",
            1,
        ),
        (
            r#"[{"input":"x","operator":"in","values":["$(steps.build.results.list[*])"]}]"#,
            "",
            2,
        ),
        (
            r#"[{"cel":"'$(steps.build.results.tag)'.matches('^v[0-9]$')"}]"#,
            "ran\n",
            1,
        ),
        (r#"[{"cel":"duration('90m') < duration('1h')"}]"#, "", 2),
    ] {
        let place = place();
        let left = place.shell(&["-when_expressions", when], "echo ran");
        assert_eq!(
            (left.code, left.stdout.as_str(), place.marks().as_str()),
            (Some(0), output, "out 0"),
            "{when}"
        );
        assert_eq!(place.message().len(), message, "{when}");
    }
    let place = place();
    let left = place.shell(&["-when_expressions", r#"[{"cel":"nobody"}]"#], "echo ran");
    assert_eq!(
        (left.code, left.stdout.as_str(), place.marks().as_str()),
        (Some(1), "", "err -")
    );
}

#[test]
fn the_command_may_depend_on_the_platform() {
    let arch = if cfg!(target_arch = "x86_64") {
        "amd64"
    } else {
        "arm64"
    };
    let commands = format!("{{\"linux/{arch}\":[\"echo\",\"this\"]}}");
    let place = Place::new().variable("TEKTON_PLATFORM_COMMANDS", &commands);
    let (post, metadata) = (place.at("tekton/run/0/out"), place.at("tekton/run/0/status"));
    let mut program = place.program(
        "entrypoint",
        &["-post_file", &post, "-step_metadata_dir", &metadata, "--", "one"],
    );
    let output = program.output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "this one\n");
}
