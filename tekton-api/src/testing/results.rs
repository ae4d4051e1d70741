//! Cases of values, references to results, and substitution in texts.

use serde_json::{Map, Value, json};

use super::{diff, expected, input, set, text, typed};
use crate::params::{pipeline_array_indices, task_array_indices};
use crate::result_ref::{self, ResultRef};
use crate::substitute::{Replacements, scan};
use crate::v1::{ParamValue, PipelineSpec, PipelineTask, TaskSpec};

/// Calls the function named by `op` and compares.
///
/// # Errors
/// The difference.
pub fn check(case: &Value) -> Result<(), String> {
    let mut expected = expected(case).clone();
    for list in ["refs", "expressions"] {
        if expected.get(list).is_some_and(Value::is_null) {
            set(&mut expected, list, json!([]));
        }
    }
    diff::compare(&expected, &actual(case, &expected)?)
}

fn actual(case: &Value, expected: &Value) -> Result<Value, String> {
    let known = || replacements(input(case, "replacements"));
    Ok(match text(case, "op") {
        "param-value" => param_value(text(case, "json"))?,
        "result-refs" => result_refs(&ParamValue::from_json(input(case, "value").clone())),
        "expression-refs" => {
            let expressions: Vec<String> = typed(case, "expressions")?;
            let looks = result_ref::any_looks_like_task_result(&expressions);
            json!({"looksLikeResultRefs": looks, "refs": refs(&result_ref::result_refs(&expressions))})
        }
        "task-refs" => {
            let task: PipelineTask = typed(case, "pipelineTask")?;
            let found = refs(&result_ref::pipeline_task_refs(&task));
            json!({"refs": found, "deps": result_ref::dependencies(&task)})
        }
        "step-result-name" => match result_ref::step_result_name(text(case, "text")) {
            Ok((step, result)) => json!({"step": step, "result": result}),
            Err(error) => json!({"error": error.to_string()}),
        },
        "parse-result-name" => {
            let (name, index) = result_ref::parse_result_name(text(case, "text"));
            json!({"name": name, "index": index})
        }
        "replace" => described(
            &known()?.param_value(&ParamValue::from_json(input(case, "value").clone())),
            expected,
        ),
        "replace-string" => json!({"text": known()?.string(text(case, "text"))}),
        "replace-array" => json!({"texts": known()?.array(text(case, "text"))}),
        "variables" => {
            let found = scan::variables(text(case, "text"), text(case, "prefix"));
            json!({"variables": found.names, "present": found.present, "error": found.error})
        }
        "array-index-refs" => {
            let task: TaskSpec = typed(case, "taskSpec")?;
            let pipeline: PipelineSpec = typed(case, "pipelineSpec")?;
            let mut found = task_array_indices(&task);
            found.extend(pipeline_array_indices(&pipeline));
            json!({"refs": found})
        }
        other => return Err(format!("unknown operation {other}")),
    })
}

/// Replacements as the cases give them.
pub(super) fn replacements(value: &Value) -> Result<Replacements, String> {
    fn part<T: serde::de::DeserializeOwned + Default>(value: &Value, name: &str) -> Result<T, String> {
        let part = value.get(name).filter(|part| !part.is_null());
        part.map_or_else(|| Ok(T::default()), |part| serde_json::from_value(part.clone()))
            .map_err(|error| format!("replacements.{name}: {error}"))
    }
    Ok(Replacements {
        strings: part(value, "strings")?,
        arrays: part(value, "arrays")?,
        objects: part(value, "objects")?,
    })
}

fn param_value(json: &str) -> Result<Value, String> {
    let value = ParamValue::from_json_text(json).map_err(|error| error.to_string())?;
    let mut described = described(&value, &Value::Null);
    set(&mut described, "encoded", crate::names::go_json(&value).into());
    Ok(described)
}

/// Type and content of a value. A list that is expected to be `null` is Go's nil, which is an empty one here.
fn described(value: &ParamValue, expected: &Value) -> Value {
    let mut members = Map::from_iter([("type".to_owned(), value.param_type().as_str().into())]);
    let (name, content) = match value {
        ParamValue::String(text) => ("stringVal", json!(text)),
        ParamValue::Array(items) => ("arrayVal", json!(items)),
        ParamValue::Object(entries) => ("objectVal", json!(entries)),
    };
    let nil = matches!(value, ParamValue::Array(items) if items.is_empty())
        && expected.get(name) == Some(&Value::Null);
    members.insert(name.to_owned(), if nil { Value::Null } else { content });
    members.into()
}

fn result_refs(value: &ParamValue) -> Value {
    let mut expressions = result_ref::value_expressions(value);
    if value.as_object().is_some() {
        expressions.sort();
    }
    json!({
        "found": !expressions.is_empty(),
        "looksLikeResultRefs": result_ref::any_looks_like_task_result(&expressions),
        "refs": refs(&result_ref::result_refs(&expressions)),
        "expressions": expressions,
    })
}

fn refs(refs: &[ResultRef]) -> Value {
    let shown = |found: &ResultRef| {
        json!({
            "pipelineTask": found.pipeline_task,
            "result": found.result,
            "resultsIndex": found.results_index,
            "property": found.property,
        })
    };
    refs.iter().map(shown).collect()
}
