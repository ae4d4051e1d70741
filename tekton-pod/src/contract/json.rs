//! JSON as Go writes it, and Go's words for JSON that it cannot read.
//!
//! Termination messages are compared and measured as text, so the escapes have to be the same. Users meet
//! the words in statuses; positions and offsets that Go does not print are left out as well.

use serde::Serialize;
use serde_json::Value;
use serde_json::error::Category;

/// The value as JSON, with the characters escaped that Go escapes for the sake of HTML.
pub fn to_string(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(value)?;
    if !json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        return Ok(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match c {
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            other => escaped.push(other),
        }
    }
    Ok(escaped)
}

/// Text from bytes: each byte that is no UTF-8 becomes one replacement character.
pub fn text(bytes: Vec<u8>) -> String {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}

/// Reads any JSON value; the error is Go's sentence.
pub fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| syntax_error(text, &error))
}

fn syntax_error(text: &str, error: &serde_json::Error) -> String {
    if text.trim().is_empty() || error.classify() == Category::Eof {
        return "unexpected end of JSON input".to_owned();
    }
    let line = text
        .split('\n')
        .nth(error.line().saturating_sub(1))
        .unwrap_or_default();
    let column = error.column().saturating_sub(1);
    let found = line
        .get(column..)
        .and_then(|rest| rest.chars().next())
        .map(|c| format!("{c:?}"))
        .unwrap_or_default();
    let words = error.to_string();
    let place = if words.starts_with("expected value") || words.starts_with("expected ident") {
        "looking for beginning of value"
    } else if words.starts_with("key must be a string") {
        "looking for beginning of object key string"
    } else if words.starts_with("expected `:`") {
        "after object key"
    } else if words.starts_with("expected `,` or `}`") {
        "after object key:value pair"
    } else if words.starts_with("expected `,` or `]`") {
        "after array element"
    } else if words.starts_with("trailing characters") {
        "after top-level value"
    } else if words.starts_with("control character") {
        "in string literal"
    } else {
        return words;
    };
    // The position of a broken literal is behind its first letter; Go names the letter it began with.
    let found = if words.starts_with("expected ident") {
        line.get(..=column)
            .and_then(|start| start.rsplit([' ', ',', ':', '[', '{']).next())
            .map_or(found, |word| {
                word.chars().next().map(|c| format!("{c:?}")).unwrap_or_default()
            })
    } else {
        found
    };
    format!("invalid character {found} {place}")
}

/// Go's name for the kind of a value.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_go() {
        for (json, words) in [
            (
                "OOMKilled",
                "invalid character 'O' looking for beginning of value",
            ),
            ("[ junk ]", "invalid character 'j' looking for beginning of value"),
            ("", "unexpected end of JSON input"),
            ("[1", "unexpected end of JSON input"),
            (
                "{a:1}",
                "invalid character 'a' looking for beginning of object key string",
            ),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("[1 2]", "invalid character '2' after array element"),
            ("{} x", "invalid character 'x' after top-level value"),
        ] {
            assert_eq!(parse(json).unwrap_err(), words, "{json}");
        }
    }

    #[test]
    fn escapes_are_those_of_go() {
        assert_eq!(
            to_string(&"<&>\u{2028}\n\u{1}é").unwrap(),
            "\"\\u003c\\u0026\\u003e\\u2028\\n\\u0001é\""
        );
    }

    #[test]
    fn invalid_bytes_are_replaced_one_by_one() {
        assert_eq!(text(b"a\xe2\x82z\xff".to_vec()), "a\u{fffd}\u{fffd}z\u{fffd}");
    }
}
