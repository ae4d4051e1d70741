//! Differences between JSON values, one line each.

use serde_json::Value;

/// Longest list of differences shown.
const SHOWN: usize = 40;

/// Compares as data: the order of members does not matter, that of items does.
///
/// # Errors
/// The differences, each with its path, if there are any.
pub fn compare(expected: &Value, actual: &Value) -> Result<(), String> {
    let mut lines = Vec::new();
    walk("", expected, actual, &mut lines);
    if lines.is_empty() {
        return Ok(());
    }
    let more = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    Err(lines.join("\n"))
}

fn walk(path: &str, expected: &Value, actual: &Value, lines: &mut Vec<String>) {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            for (key, value) in expected {
                let path = format!("{path}.{key}");
                match actual.get(key) {
                    Some(other) => walk(&path, value, other, lines),
                    None => lines.push(format!("{path}: missing {}", short(value))),
                }
            }
            for (key, value) in actual {
                if !expected.contains_key(key) {
                    lines.push(format!("{path}.{key}: unexpected {}", short(value)));
                }
            }
        }
        (Value::Array(expected), Value::Array(actual)) => {
            for (index, value) in expected.iter().enumerate() {
                let path = format!("{path}[{index}]");
                match actual.get(index) {
                    Some(other) => walk(&path, value, other, lines),
                    None => lines.push(format!("{path}: missing {}", short(value))),
                }
            }
            for (index, value) in actual.iter().enumerate().skip(expected.len()) {
                lines.push(format!("{path}[{index}]: unexpected {}", short(value)));
            }
        }
        (expected, actual) if equal(expected, actual) => {}
        (expected, actual) => lines.push(format!(
            "{path}: expected {}, got {}",
            short(expected),
            short(actual)
        )),
    }
}

/// Numbers are equal if their values are.
fn equal(a: &Value, b: &Value) -> bool {
    a == b || matches!((a, b), (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64())
}

/// The value's JSON, cut to a readable length.
fn short(value: &Value) -> String {
    const LONGEST: usize = 300;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_difference_has_its_path() {
        let error = compare(
            &json!({"a": [1, {"b": 2}], "c": 1}),
            &json!({"a": [1.0, {"b": 3}, 4], "d": null}),
        )
        .unwrap_err();
        assert_eq!(
            error,
            ".a[1].b: expected 2, got 3\n.a[2]: unexpected 4\n.c: missing 1\n.d: unexpected null"
        );
        assert_eq!(
            compare(&json!({"a": 1, "b": [2]}), &json!({"b": [2], "a": 1})),
            Ok(())
        );
    }
}
