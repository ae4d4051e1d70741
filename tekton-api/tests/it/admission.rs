//! Admission as a whole: upstream's examples pass, and nothing that is thrown at it makes it panic.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use tekton_api::admission::{KINDS, Request, admit_new, default_object, validate_object};
use tekton_api::config::{ApiFields, Config};

/// Names the folder of upstream's examples, if there is one.
const EXAMPLES: &str = "TEKTON_EXAMPLES";
/// Examples that upstream's own webhook refuses: a result's name is put together by the shell.
const REFUSED: [&str; 1] = ["compressed-results-pipeline.yaml"];

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The flags under which upstream runs the examples of a folder.
fn config_of(path: &Path) -> Config {
    let in_folder = |name: &str| path.iter().any(|part| part == name);
    let mut config = Config::default();
    let features = &mut config.features;
    if !in_folder("beta") && !in_folder("no-ci") {
        features.enable_api_fields = ApiFields::Stable;
    }
    if in_folder("alpha") {
        features.enable_api_fields = ApiFields::Alpha;
        features.enable_artifacts = true;
        features.enable_cel_in_when_expression = true;
        features.enable_concise_resolver_syntax = true;
        features.enable_param_enum = true;
    }
    config
}

#[test]
fn examples_of_upstream_pass() {
    let Some(folder) = std::env::var_os(EXAMPLES) else {
        return;
    };
    let mut admitted = 0;
    let mut refused = Vec::new();
    let is_refused = |path: &PathBuf| REFUSED.iter().any(|name| path.ends_with(name));
    for path in files(Path::new(&folder), "yaml")
        .into_iter()
        .filter(|path| !is_refused(path))
    {
        let text = std::fs::read_to_string(&path).unwrap();
        for mut object in tekton_api::yaml::documents(&text).unwrap() {
            let kind = (object["apiVersion"].as_str(), object["kind"].as_str());
            if !KINDS.iter().any(|known| (Some(known.0), Some(known.1)) == kind) {
                continue;
            }
            if object["metadata"]["name"].is_null() {
                // The API server makes a name before it asks.
                object["metadata"]["name"] = json!("generated");
            }
            match admit_new(&object, &config_of(&path)) {
                Ok(_) => admitted += 1,
                Err(error) => refused.push(format!("{}: {error}", path.display())),
            }
        }
    }
    assert!(admitted > 0, "no examples");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// The objects of the golden cases.
fn objects() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/validate");
    let read =
        |path: PathBuf| -> Value { serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap() };
    let cases = files(&folder, "json").into_iter().map(read);
    cases
        .map(|case| case["input"]["object"].clone())
        .filter(Value::is_object)
        .collect()
}

/// All places in a value.
fn places(value: &Value, place: &str, found: &mut Vec<String>) {
    found.push(place.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{place}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(member, &format!("{place}/{key}"), found);
            }
        }
        _ => {}
    }
}

fn odd_values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!("$(params.a.b.c)"),
        json!("$(params[\"a\"][*])$(tasks.a.results.b[0])"),
        json!("$("),
        json!("$(tasks.a.results.b.c.d.e)"),
        json!("$(steps.a.results.b)$(context.taskRun.x)"),
        json!("\u{0}é\u{202e}\n"),
        json!("-9999999999h"),
        json!("1e999999"),
        json!("git://x"),
        json!("a/b/c"),
        json!([]),
        json!({}),
        json!([null]),
        json!(["a", "a"]),
        json!([{"name": "a"}, {"name": "a"}]),
        json!({"name": "a", "value": {"k": "v"}}),
        json!({"a": {"type": "zz"}}),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, fork: false, ..ProptestConfig::default() })]

    #[test]
    fn mutated_objects_do_no_harm(
        base in 0_usize..1_000,
        donor in 0_usize..1_000,
        changes in prop::collection::vec((any::<usize>(), any::<usize>(), any::<bool>()), 1..5),
        alpha in any::<bool>(),
    ) {
        thread_local! {
            static OBJECTS: Vec<Value> = objects();
        }
        OBJECTS.with(|objects| {
            let mut object = objects[base % objects.len()].clone();
            let donor = &objects[donor % objects.len()];
            let odd = odd_values();
            for (place, value, from_donor) in changes {
                let mut found = Vec::new();
                places(&object, "", &mut found);
                let target = found[place % found.len()].clone();
                let value = if from_donor {
                    let mut found = Vec::new();
                    places(donor, "", &mut found);
                    donor.pointer(&found[value % found.len()]).cloned().unwrap()
                } else {
                    odd[value % odd.len()].clone()
                };
                *object.pointer_mut(&target).unwrap() = value;
            }
            let config = config_of(Path::new(if alpha { "alpha" } else { "beta" }));
            let old = &objects[base % objects.len()];
            for request in [Request::create(&object), Request::update(&object, old)] {
                if let Ok(object) = default_object(&request, &config) {
                    let request = request.with_object(&object);
                    let _ = validate_object(&request, &config);
                    // What has been completed once stays as it is.
                    let again = default_object(&request, &config).unwrap();
                    prop_assert_eq!(&again, &object);
                }
            }
            Ok(())
        })?;
    }
}

#[test]
fn errors_stay_bounded() {
    // As upstream does, misuse of arrays nests the errors of all earlier steps.
    let steps: Vec<Value> = (0..1_000)
        .map(|_| json!({"image": "i", "script": "$(params.l[*])"}))
        .collect();
    let task = json!({"apiVersion": "tekton.dev/v1", "kind": "Task", "metadata": {"name": "big"},
        "spec": {"params": [{"name": "l", "type": "array"}], "steps": steps}});
    let error = admit_new(&task, &Config::default()).unwrap_err();
    assert!(error.to_string().len() < 5_000_000);
}
