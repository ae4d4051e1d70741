//! The expectations of transcripts: partial objects with operators.

use regex::Regex;
use serde_json::Value;

/// The steps of a path: `a.b.0`, or a list of keys.
fn steps(path: &Value) -> Vec<String> {
    match path {
        Value::Array(keys) => keys.iter().map(|key| key.as_str().unwrap().to_owned()).collect(),
        Value::String(path) if !path.is_empty() => path.split('.').map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The value at a path.
pub(super) fn lookup<'a>(value: &'a Value, path: &Value) -> Option<&'a Value> {
    steps(path).iter().try_fold(value, |here, step| match here {
        Value::Array(items) => {
            let index: i64 = step.parse().ok()?;
            let index = if index < 0 {
                items.len().checked_add_signed(isize::try_from(index).ok()?)?
            } else {
                usize::try_from(index).ok()?
            };
            items.get(index)
        }
        _ => here.get(step),
    })
}

fn number(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::String(text) => text.parse().ok(),
        other => other.as_i64(),
    }
}

/// Adds a line for each place where `got` does not match.
pub(super) fn differences(want: &Value, got: Option<&Value>, here: &str, out: &mut Vec<String>) {
    if let Some((operator, argument)) = operator(want) {
        if !holds(operator, argument, got) {
            out.push(format!(
                "{here}: got {}, want {want}",
                got.unwrap_or(&Value::Null)
            ));
        }
        return;
    }
    match (want, got) {
        (_, None) => out.push(format!("{here}: missing, want {want}")),
        (Value::Object(want), Some(Value::Object(got))) => {
            for (key, want) in want {
                differences(want, got.get(key), &format!("{here}.{key}"), out);
            }
        }
        (Value::Array(want), Some(Value::Array(got))) if want.len() == got.len() => {
            for (index, (want, got)) in want.iter().zip(got).enumerate() {
                differences(want, Some(got), &format!("{here}[{index}]"), out);
            }
        }
        (want, Some(got)) if want == got => {}
        (want, Some(got)) => out.push(format!("{here}: got {got}, want {want}")),
    }
}

fn operator(want: &Value) -> Option<(&str, &Value)> {
    let map = want.as_object().filter(|map| map.len() == 1)?;
    map.iter()
        .next()
        .filter(|(key, _)| key.starts_with('$'))
        .map(|(key, argument)| (key.as_str(), argument))
}

fn fits(want: &Value, got: &Value) -> bool {
    let mut out = Vec::new();
    differences(want, Some(got), "", &mut out);
    out.is_empty()
}

fn holds(operator: &str, argument: &Value, got: Option<&Value>) -> bool {
    let items = || got.and_then(Value::as_array);
    match operator {
        "$regex" => {
            let expression = Regex::new(&format!("^(?s:{})$", argument.as_str().unwrap())).unwrap();
            got.and_then(Value::as_str)
                .is_some_and(|text| expression.is_match(text))
        }
        "$any" => got.is_some(),
        "$gt" => matches!((number(Some(argument)), number(got)), (Some(low), Some(high)) if high > low),
        "$ne" => got.is_some_and(|got| !fits(argument, got)),
        "$len" => {
            let length = got.and_then(|got| match got {
                Value::Array(items) => Some(items.len()),
                Value::Object(map) => Some(map.len()),
                Value::String(text) => Some(text.chars().count()),
                _ => None,
            });
            length.and_then(|length| u64::try_from(length).ok()) == argument.as_u64()
        }
        "$contains" => items().is_some_and(|items| {
            argument
                .as_array()
                .unwrap()
                .iter()
                .all(|want| items.iter().any(|item| fits(want, item)))
        }),
        "$lacks" => items().is_some_and(|items| {
            argument
                .as_array()
                .unwrap()
                .iter()
                .all(|unwanted| !items.iter().any(|item| fits(unwanted, item)))
        }),
        "$unordered" => items().is_some_and(|items| unordered(argument.as_array().unwrap(), items)),
        "$empty" => got.is_none_or(|got| match got {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        }),
        other => panic!("operator {other}"),
    }
}

/// Whether each expectation finds an item of its own.
pub(super) fn unordered(want: &[Value], items: &[Value]) -> bool {
    let mut rest: Vec<&Value> = items.iter().collect();
    want.len() == items.len()
        && want
            .iter()
            .all(|want| match rest.iter().position(|item| fits(want, item)) {
                Some(place) => {
                    rest.remove(place);
                    true
                }
                None => false,
            })
}

/// Whether the versions of events grow.
pub(super) fn rising(events: &[Value]) -> bool {
    let path = Value::from("object.metadata.resourceVersion");
    let versions: Vec<Option<i64>> = events.iter().map(|event| number(lookup(event, &path))).collect();
    versions.iter().all(Option::is_some) && versions.windows(2).all(|pair| pair[0] < pair[1])
}
