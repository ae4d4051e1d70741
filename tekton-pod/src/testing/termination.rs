//! Cases of the kind `termination`: writing, parsing and decoding of termination messages.

use serde_json::{Value, json};

use crate::contract::json as go;
use crate::contract::result::RunResult;
use crate::contract::termination::{self, COMPRESSED_PREFIX, Compression};

/// Runs one case; the error says what differs.
pub fn check(case: &Value) -> Result<(), String> {
    let (input, expected) = (&case["input"], &case["expected"]);
    let text = |field: &str| {
        input[field]
            .as_str()
            .ok_or_else(|| format!("input.{field} is no text"))
    };
    match text("op")? {
        "write" => write(input, expected),
        "parse" => {
            let message = text("message")?;
            let outcome = termination::parse(message).map_err(|error| error.to_string());
            let outcome = outcome.map(|results| {
                if message.is_empty() {
                    Value::Null
                } else {
                    json!(results)
                }
            });
            compare(outcome, expected, |results| json!({ "results": results }))
        }
        "decode-result" => {
            let outcome = RunResult::decode(text("json")?);
            compare(
                outcome,
                expected,
                |result| json!({ "encoded": go::to_string(&result).unwrap_or_default(), "type": result.result_type.number() }),
            )
        }
        op => Err(format!("unknown operation {op}")),
    }
}

fn write(input: &Value, expected: &Value) -> Result<(), String> {
    let results = entries(&input["results"])?;
    let compression = if input["compress"] == json!(true) {
        Compression::WhenShorter
    } else {
        Compression::Never
    };
    let existing = input["existing"].as_str().map(str::as_bytes);
    let outcome = termination::append(existing, &results, compression).map_err(|error| error.to_string());
    if expected["compressed"] == json!(true) {
        return written_compressed(outcome, expected);
    }
    let unchanged = outcome.is_err();
    let compressed = |text: &String| json!(text.starts_with(COMPRESSED_PREFIX));
    match outcome {
        Ok(text) => same(
            &json!({ "compressed": compressed(&text), "content": text, "length": text.len() }),
            expected,
        ),
        Err(error) => same(&json!({ "error": error, "fileUnchanged": unchanged }), expected),
    }
}

/// The deflated bytes may differ: what counts is what they say.
fn written_compressed(outcome: Result<String, String>, expected: &Value) -> Result<(), String> {
    let text = outcome?;
    if !text.starts_with(COMPRESSED_PREFIX) {
        return Err(format!("not compressed: {text}"));
    }
    let parsed = |text: &str| {
        termination::parse(text)
            .map(|results| json!(results))
            .map_err(|error| error.to_string())
    };
    same(&parsed(&text)?, &expected["parsed"])?;
    match expected["goContent"].as_str() {
        Some(content) => same(&parsed(content)?, &expected["parsed"]),
        None => Ok(()),
    }
}

fn entries(list: &Value) -> Result<Vec<RunResult>, String> {
    list.as_array()
        .into_iter()
        .flatten()
        .map(|entry| RunResult::decode(&entry.to_string()))
        .collect()
}

/// Words of Go's decoders need not be the same, but where they begin does.
fn compare<T>(
    outcome: Result<T, String>,
    expected: &Value,
    view: impl FnOnce(T) -> Value,
) -> Result<(), String> {
    match (outcome, expected["error"].as_str()) {
        (Ok(value), _) => same(&view(value), expected),
        (Err(found), Some(wanted)) => {
            let kind = |text: &str| text.split([':', ',']).next().unwrap_or_default().to_owned();
            if found == wanted || kind(&found) == kind(wanted) {
                Ok(())
            } else {
                Err(format!("error\n  found: {found}\n wanted: {wanted}"))
            }
        }
        (Err(found), None) => Err(format!("unexpected error: {found}")),
    }
}

fn same(found: &Value, wanted: &Value) -> Result<(), String> {
    if found == wanted {
        Ok(())
    } else {
        Err(format!("\n  found: {found}\n wanted: {wanted}"))
    }
}
