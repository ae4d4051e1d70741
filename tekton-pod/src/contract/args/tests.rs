use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_order_is_that_of_the_builder() {
    let args = EntrypointArgs {
        wait_files: vec!["/tekton/downward/ready".into()],
        wait_file_content: true,
        post_file: "/tekton/run/0/out".into(),
        termination_path: Some("/tekton/termination".into()),
        step_metadata_dir: "/tekton/run/0/status".into(),
        credentials: vec![
            CredentialFlag::BasicGit {
                secret: "s".into(),
                url: "https://git".into(),
            },
            CredentialFlag::DockerConfig("d".into()),
        ],
        compress_termination_message: true,
        on_error: Some("continue".into()),
        timeout: Some(GoDuration(90_000_000_000)),
        step_results: Some(vec!["a".into(), "b".into()]),
        when_expressions: Some("[]".into()),
        results: Some(Vec::new()),
        breakpoint_on_failure: true,
        entrypoint: Some("sh".into()),
        command_args: vec!["-c".into(), "true".into()],
        ..EntrypointArgs::default()
    };
    let expected = "-wait_file /tekton/downward/ready -wait_file_content -post_file /tekton/run/0/out \
        -termination_path /tekton/termination -step_metadata_dir /tekton/run/0/status -basic-git=s=https://git \
        -docker-config=d -compress_termination_message=true -on_error continue -timeout 1m30s -step_results a,b \
        --when_expressions [] -results EMPTY -breakpoint_on_failure -entrypoint sh -- -c true";
    let expected: Vec<String> = words(expected)
        .into_iter()
        .map(|word| if word == "EMPTY" { String::new() } else { word })
        .collect();
    assert_eq!(args.to_argv(), expected);
}

#[test]
fn what_is_written_is_read_back() {
    let argv = words(
        "-wait_file /a,/b -post_file /p -step_metadata_dir /m -enable_spire -spire_socket_path unix:x \
         -basic-docker=s=u -docker-cfg=c -ssh-git=k=host:22/x -result_from sidecar-logs -on_error stopAndFail \
         -timeout 2h0m0s -stdout_path /o -stderr_path /e -results r,s -debug_before_step -entrypoint /bin/x -- a -- b",
    );
    let parsed = EntrypointArgs::parse(&argv).unwrap();
    assert!(parsed.words.is_empty());
    assert_eq!(parsed.args.to_argv(), argv);
    assert!(!parsed.args.reports_results());
    assert_eq!(parsed.args.termination_path(), "/tekton/termination");
}

#[test]
fn subcommands_are_words_before_the_separator() {
    let parsed = EntrypointArgs::parse(&words("-post_file /p cp a b -- c")).unwrap();
    assert_eq!(parsed.words, ["cp", "a", "b"]);
    assert_eq!(parsed.args.command_args, ["c"]);
    // A leading separator does not separate.
    let parsed = EntrypointArgs::parse(&words("-- cp a -- b")).unwrap();
    assert_eq!(parsed.words, ["cp", "a", "--", "b"]);
    assert!(parsed.args.command_args.is_empty());
}

#[test]
fn mistakes_are_told_like_go_tells_them() {
    for (line, text) in [
        (
            "-timeout soon",
            "invalid value \"soon\" for flag -timeout: parse error",
        ),
        (
            "-basic-git=a",
            "invalid value \"a\" for flag -basic-git: expect entries of the form secret=url, got: a",
        ),
        (
            "-basic-git=a=u -basic-git=b=u",
            "invalid value \"b=u\" for flag -basic-git: multiple entries for url: u",
        ),
        (
            "-wait_file_content=x",
            "invalid boolean value \"x\" for -wait_file_content: parse error",
        ),
    ] {
        assert_eq!(EntrypointArgs::parse(&words(line)).unwrap_err().to_string(), text);
    }
    assert!(
        EntrypointArgs::parse(&words(
            "-basic-git=a=u -basic-docker=a=u -ssh-git=a=u -ssh-git=b=u"
        ))
        .is_ok()
    );
}
