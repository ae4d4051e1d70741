//! Properties of the contract over arbitrary input. `TEKTON_PROPTEST_CASES` sets the number of inputs for each.

use proptest::prelude::*;
use proptest::test_runner::Config;
use tekton_pod::contract::args::{CredentialFlag, EntrypointArgs};
use tekton_pod::contract::duration::GoDuration;
use tekton_pod::contract::frames::{self, Frame};
use tekton_pod::contract::result::{ResultType, RunResult};
use tekton_pod::contract::termination::{self, Compression};

fn config() -> Config {
    let cases = std::env::var("TEKTON_PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(512);
    Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    }
}

fn entry() -> impl Strategy<Value = RunResult> {
    (".{0,12}", ".{0,40}", 0_i64..12)
        .prop_map(|(key, value, number)| RunResult::new(key, value, ResultType::from(number)))
}

fn word() -> impl Strategy<Value = String> {
    "[a-z0-9][a-z0-9./_:-]{0,11}"
}

fn arguments() -> impl Strategy<Value = EntrypointArgs> {
    let first = (
        prop::collection::vec(word(), 0..3),
        any::<bool>(),
        word(),
        prop::option::of(word()),
        word(),
        prop::option::of(any::<i64>().prop_filter("has no positive counterpart", |nanos| *nanos != i64::MIN)),
        prop::option::of(prop::collection::vec(word(), 1..3)),
    );
    let second = (
        prop::option::of(".*"),
        prop::option::of(prop::collection::vec(word(), 1..3)),
        any::<bool>(),
        any::<bool>(),
        prop::option::of(".*"),
        prop::collection::vec(".*", 0..4),
        prop::collection::vec((word(), word()), 0..3),
    );
    (first, second).prop_map(|(first, second)| EntrypointArgs {
        wait_files: first.0,
        wait_file_content: first.1,
        post_file: first.2,
        termination_path: first.3,
        step_metadata_dir: first.4,
        timeout: first.5.map(GoDuration),
        step_results: first.6,
        when_expressions: second.0,
        results: second.1,
        breakpoint_on_failure: second.2,
        compress_termination_message: second.3,
        entrypoint: second.4,
        command_args: second.5,
        credentials: second
            .6
            .into_iter()
            .map(|(secret, url)| CredentialFlag::SshGit { secret, url })
            .collect(),
        ..EntrypointArgs::default()
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn messages_come_back(entries in prop::collection::vec(entry(), 0..6), compress: bool) {
        let compression = if compress { Compression::WhenShorter } else { Compression::Never };
        let message = termination::encode(&entries, compression).unwrap();
        prop_assert!(message.len() <= termination::MAX_LENGTH);
        prop_assert_eq!(termination::existing(message.as_bytes()).unwrap(), entries.clone());
        let parsed = termination::parse(&message).unwrap();
        prop_assert!(parsed.windows(2).all(|pair| pair[0].key < pair[1].key));
        for entry in parsed {
            prop_assert_eq!(entries.iter().rfind(|other| other.key == entry.key && **other != RunResult::default()), Some(&entry));
        }
    }

    #[test]
    fn any_message_is_read_or_refused(message in prop_oneof![".*", "tknz:.*", "tknz:[A-Za-z0-9+/]*", "[\\[\\]{}\",:a-z0-9]*"]) {
        let parsed = termination::parse(&message);
        if let (Ok(entries), Ok(written)) = (&parsed, termination::append(Some(message.as_bytes()), &[], Compression::Never)) {
            prop_assert_eq!(&termination::parse(&written).unwrap(), entries);
        }
    }

    #[test]
    fn messages_never_exceed_the_limit(part in "[a-z]{1,30}", times in 0_usize..400, compress: bool) {
        let value = part.repeat(times);
        let compression = if compress { Compression::WhenShorter } else { Compression::Never };
        match termination::append(None, &[RunResult::new("k", value, ResultType::TaskRun)], compression) {
            Ok(message) => prop_assert!(message.len() <= 4096),
            Err(error) => prop_assert_eq!(error, termination::TerminationError::TooLong),
        }
    }

    #[test]
    fn frames_come_back(step in "[a-z-]{1,8}", name in "[a-z.]{1,8}", value in ".*") {
        let line = Frame::step_result(&step, &name, value.clone()).encode().unwrap();
        prop_assert_eq!(line.matches('\n').count(), 1);
        let (entries, error) = frames::parse_log(line.as_bytes(), usize::MAX);
        prop_assert_eq!(error, None);
        prop_assert_eq!(&entries, &[RunResult::new(format!("{step}.{name}"), value, ResultType::Step)]);
        prop_assert_eq!(frames::split_step_result(&entries[0].key), Ok((step.as_str(), name.as_str())));
    }

    #[test]
    fn any_log_is_read_or_refused(log in prop::collection::vec(any::<u8>(), 0..300), limit in 0_usize..400) {
        let (entries, error) = frames::parse_log(&log, limit);
        prop_assert!(error.is_some() || entries.len() <= log.len());
    }

    #[test]
    fn command_lines_come_back(args in arguments()) {
        let parsed = EntrypointArgs::parse(&args.to_argv()).unwrap();
        prop_assert!(parsed.words.is_empty());
        prop_assert_eq!(parsed.args, args);
    }

    #[test]
    fn any_command_line_is_parsed_or_refused(argv in prop::collection::vec(prop_oneof![".{0,6}", "-{0,3}[a-z_-]{0,10}(=.{0,5})?", "-(timeout|basic-git|wait_file|results)=?.{0,8}"], 0..6)) {
        if let Ok(parsed) = EntrypointArgs::parse(&argv) {
            let again = EntrypointArgs::parse(&parsed.args.to_argv()).unwrap();
            prop_assert_eq!(again.args.credentials, parsed.args.credentials);
        }
    }

    #[test]
    fn durations_come_back(nanos in any::<i64>()) {
        let duration = GoDuration(nanos);
        prop_assert_eq!(duration.to_string().parse::<GoDuration>(), Ok(duration));
    }
}
