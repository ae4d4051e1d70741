//! The TaskRun reconciler copes with anything: golden traces with random damage to run, Task or pod never make
//! it panic, and a pass with the same answers gives the same result.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use tekton_controller::testing::taskrun::check;

fn cases() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/taskrun");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| serde_json::from_slice(&fs::read(file).unwrap()).unwrap())
        .collect()
}

/// Pointers to all members of a value, the value itself not included.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    let mut visit = |key: &str, member: &Value| {
        let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
        found.push(path.clone());
        places(member, &path, found);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, member)| visit(key, member)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| visit(&index.to_string(), item)),
        _ => {}
    }
}

fn damage() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!("")),
        Just(json!("$(params.x[9])")),
        Just(json!("$(steps.a.results.b)")),
        Just(json!(-1)),
        Just(json!([])),
        Just(json!({})),
        Just(json!("1970-01-01T00:00:00Z")),
        "\\PC{0,12}".prop_map(Value::String),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_traces_do_not_panic(
        case in prop::sample::select(cases()),
        damages in prop::collection::vec((any::<prop::sample::Index>(), damage()), 1..4),
    ) {
        let mut case = case;
        for (place, damage) in damages {
            let mut found = Vec::new();
            places(&case["input"], "/input", &mut found);
            let place = place.get(&found).clone();
            if let Some(member) = case.pointer_mut(&place) {
                *member = damage;
            }
        }
        // Differences to what the undamaged trace expects do not matter, only that there is an answer.
        let first = check(&case);
        prop_assert_eq!(first, check(&case));
    }
}
