//! Properties of conversion.

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};
use tekton_api::convert::{convert, convert_with_defaults};

/// All objects of the golden cases of conversion.
static OBJECTS: LazyLock<Vec<Value>> = LazyLock::new(objects);

fn objects() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/convert");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| std::fs::read_to_string(path).unwrap();
    let objects = paths
        .iter()
        .map(|path| serde_json::from_str::<Value>(&read(path)).unwrap()["input"]["object"].clone());
    objects.collect()
}

/// The versions of a kind, the hub first.
fn versions(kind: &str) -> [&'static str; 2] {
    match kind {
        "StepAction" => ["tekton.dev/v1alpha1", "tekton.dev/v1beta1"],
        "ResolutionRequest" => ["resolution.tekton.dev/v1alpha1", "resolution.tekton.dev/v1beta1"],
        _ => ["tekton.dev/v1beta1", "tekton.dev/v1"],
    }
}

#[test]
fn what_was_converted_once_survives() {
    let mut seen = 0;
    for object in OBJECTS.iter() {
        let [hub, other] = versions(object["kind"].as_str().unwrap());
        let again = |object: &Value| convert(&convert(object, hub).unwrap(), other).unwrap();
        let Ok(once) = convert(object, other) else {
            continue;
        };
        // The first way down replaces annotations of taskRunSpecs by labels, as upstream does.
        let twice = again(&once);
        assert_eq!(again(&twice), twice, "{object}");
        if once.pointer("/spec/taskRunSpecs").is_none() {
            assert_eq!(twice, once, "{object}");
        }
        seen += 1;
    }
    assert!(seen > 40, "{seen} objects");
}

#[test]
fn kinds_without_a_second_version_are_refused() {
    let run = json!({"apiVersion": "tekton.dev/v1beta1", "kind": "CustomRun"});
    assert!(convert(&run, "tekton.dev/v1").is_err());
    let task = json!({"apiVersion": "tekton.dev/v1", "kind": "Task"});
    assert!(convert(&task, "tekton.dev/v2").is_err());
    assert!(convert(&Value::Null, "tekton.dev/v1").is_err());
}

/// Any JSON of a few levels.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z$(){}\\[\\]\"<é]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..3).prop_map(|members| json!(members)),
        ]
    })
}

/// The places in a value, in a fixed order.
fn places(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                places(
                    member,
                    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")),
                    found,
                );
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
    found.push(path);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_object_makes_conversion_panic(object in any::<prop::sample::Index>(), place in any::<prop::sample::Index>(), other in any_json()) {
        let mut object = object.get(&OBJECTS).clone();
        let kind = object["kind"].as_str().unwrap().to_owned();
        let mut found = Vec::new();
        places(&object, String::new(), &mut found);
        let path = place.get(&found).as_str();
        *object.pointer_mut(path).unwrap() = other;
        for version in versions(&kind) {
            let _ = convert_with_defaults(&object, version, &tekton_api::config::Config::default());
        }
    }
}
