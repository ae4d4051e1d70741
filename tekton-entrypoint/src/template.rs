//! Fills in references to results and artifacts of earlier steps: `$(steps.NAME.results.RESULT)` and such.
//!
//! The order is environment, when expressions, command, and the first reference that cannot be filled in ends
//! the pass: what came before it stays filled in. Upstream counterparts: `pkg/entrypoint/entrypointer.go`
//! (`applyStepResultSubstitutions`), `pkg/internal/resultref`.

use std::collections::BTreeMap;
use std::path::Path;

use tekton_pod::contract::{files, json};

use crate::environment::Environment;
use crate::error::{StepError, path_words};
use crate::when::StepWhen;

const OPENING: &str = "$(steps.";
const RESULTS: &str = ".results.";

/// Why a reference is not filled in.
#[derive(Debug)]
pub(crate) enum Unresolved {
    /// It is logged, and the text stays as it is.
    Logged(String),
    /// The step fails.
    Fatal(StepError),
}

/// Fills in results of earlier steps everywhere.
pub(crate) fn fill_in_results(
    steps: &Path,
    environment: &mut Environment,
    when: &mut [StepWhen],
    command: &mut Vec<String>,
) -> Result<(), Unresolved> {
    for (value, text) in environment.texts_mut() {
        if let Some(filled) = in_text(steps, &text)? {
            *value = filled.into();
        }
    }
    for expression in when {
        let mut values = Vec::with_capacity(expression.values.len());
        for value in &expression.values {
            values.extend(in_word(steps, value, |_, cause| cause)?);
        }
        expression.values = values;
        for text in [&mut expression.input, &mut expression.cel] {
            if let Some(filled) = in_text(steps, text)? {
                *text = filled;
            }
        }
    }
    let mut filled = Vec::with_capacity(command.len());
    for word in &*command {
        let explain =
            |reference: &str, _| format!("failed to find replacement for {reference} to replace {word}");
        filled.extend(in_word(steps, word, explain)?);
    }
    *command = filled;
    Ok(())
}

/// The text with its references filled in; nothing if it has none. Lists become empty text.
fn in_text(steps: &Path, text: &str) -> Result<Option<String>, Unresolved> {
    let mut filled = None;
    for reference in references(text) {
        let with = match replacement(steps, reference)? {
            Replacement::Text(text) => text,
            Replacement::List(_) => String::new(),
        };
        filled = Some(filled.as_deref().unwrap_or(text).replace(reference, &with));
    }
    Ok(filled)
}

/// The words that a word becomes: more than one if it is a reference to a whole list.
fn in_word(
    steps: &Path,
    word: &str,
    explain: impl Fn(&str, String) -> String,
) -> Result<Vec<String>, Unresolved> {
    let mut filled = word.to_owned();
    for reference in references(word) {
        let replacement = replacement(steps, reference).map_err(|unresolved| match unresolved {
            Unresolved::Logged(cause) => Unresolved::Logged(explain(reference, cause)),
            fatal @ Unresolved::Fatal(_) => fatal,
        })?;
        match replacement {
            Replacement::List(list) if !list.is_empty() => {
                if word != reference {
                    return Err(Unresolved::Logged(
                        "value must be in \"$(steps.<step-name>.results.<result-name>[*])\" format, when using array \
                         results"
                            .to_owned(),
                    ));
                }
                return Ok(list);
            }
            Replacement::List(_) => filled = filled.replace(reference, ""),
            Replacement::Text(text) => filled = filled.replace(reference, &text),
        }
    }
    Ok(vec![filled])
}

/// Whatever looks like a reference to a step's result, in order, on one line each.
fn references(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = find(text, OPENING, from) {
        let body = start + OPENING.len();
        let line_end = find(text, "\n", body).unwrap_or(text.len());
        let close = find(text, RESULTS, body)
            .and_then(|results| find(text, ")", results + RESULTS.len()))
            .filter(|close| *close < line_end);
        match close.and_then(|close| text.get(start..=close)) {
            Some(reference) => {
                found.push(reference);
                from = start + reference.len();
            }
            None => from = body,
        }
    }
    found
}

fn find(text: &str, wanted: &str, from: usize) -> Option<usize> {
    text.get(from..)?.find(wanted).map(|offset| from + offset)
}

/// What a reference stands for.
#[derive(Debug)]
enum Replacement {
    Text(String),
    List(Vec<String>),
}

/// A value that a step left: the shape decides.
#[derive(Debug, Default)]
struct Loaded {
    text: String,
    list: Vec<String>,
    object: BTreeMap<String, String>,
}

fn replacement(steps: &Path, reference: &str) -> Result<Replacement, Unresolved> {
    let inner = reference.strip_prefix("$(").unwrap_or(reference);
    let inner = inner.strip_suffix(')').unwrap_or(inner);
    let parts: Vec<&str> = inner.split('.').collect();
    match parts.as_slice() {
        ["steps", step, "results", result] => {
            let (name, index) = split_index(result);
            let loaded = load(steps, step, &name)?;
            match index.as_deref() {
                None | Some("") => Ok(Replacement::Text(loaded.text)),
                Some("*") => Ok(Replacement::List(loaded.list)),
                Some(index) => {
                    let index: usize = index.parse().unwrap_or_default();
                    let length = loaded.list.len();
                    loaded
                        .list
                        .into_iter()
                        .nth(index)
                        .map(Replacement::Text)
                        .ok_or_else(|| {
                            let reference = reference.to_owned();
                            Unresolved::Fatal(StepError::IndexOutOfRange {
                                reference,
                                index,
                                length,
                            })
                        })
                }
            }
        }
        ["steps", step, "results", result, key] => {
            let mut loaded = load(steps, step, result)?;
            Ok(Replacement::Text(loaded.object.remove(*key).unwrap_or_default()))
        }
        _ => Err(Unresolved::Logged(
            "must be one of the form 1). \"steps.<stepName>.results.<resultName>\"; 2). \
             \"steps.<stepName>.results.<objectResultName>.<individualAttribute>\""
                .to_owned(),
        )),
    }
}

/// Takes `[3]` or `[*]` out of a name.
fn split_index(name: &str) -> (String, Option<String>) {
    let mut rest = name;
    let (mut kept, mut index) = (String::new(), None);
    while let Some((before, after)) = rest.split_once('[') {
        let digits = after.trim_start_matches(|c: char| c.is_ascii_digit());
        let tail = digits.strip_prefix('*').unwrap_or(digits);
        kept.push_str(before);
        if let Some(tail) = tail.strip_prefix(']') {
            let inner = after.get(..after.len() - tail.len() - 1).unwrap_or_default();
            index.get_or_insert_with(|| inner.to_owned());
            rest = tail;
        } else {
            kept.push('[');
            rest = after;
        }
    }
    kept.push_str(rest);
    (kept, index)
}

fn load(steps: &Path, step: &str, result: &str) -> Result<Loaded, Unresolved> {
    let path = steps
        .join(format!("{}{step}", files::STEP_PREFIX))
        .join(files::RESULTS)
        .join(result);
    let bytes =
        std::fs::read(&path).map_err(|error| Unresolved::Logged(path_words("open", &path, &error)))?;
    let text = json::text(bytes);
    let mut loaded = Loaded::default();
    let list = || serde_json::from_str::<Vec<Option<String>>>(&text).ok();
    let object = || serde_json::from_str::<BTreeMap<String, Option<String>>>(&text).ok();
    if let Some(list) = text.starts_with('[').then(list).flatten() {
        loaded.list = list.into_iter().map(Option::unwrap_or_default).collect();
    } else if let Some(object) = text.starts_with('{').then(object).flatten() {
        loaded.object = object
            .into_iter()
            .map(|(key, value)| (key, value.unwrap_or_default()))
            .collect();
    } else {
        loaded.text = match serde_json::from_str::<Option<String>>(&text) {
            Ok(text) => text.unwrap_or_default(),
            Err(_) => text,
        };
    }
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_like_the_pattern_does() {
        let find = |text| references(text).join("|");
        assert_eq!(
            find("a $(steps.a.results.b) $(steps.c.results.d[*])"),
            "$(steps.a.results.b)|$(steps.c.results.d[*])"
        );
        assert_eq!(
            find("$(steps.a.outputs.x) $(steps.b.results.c)"),
            "$(steps.a.outputs.x) $(steps.b.results.c)"
        );
        assert_eq!(find("$(steps.a\n.results.b) $(steps.a.results.b"), "");
        assert_eq!(find("$(steps.results.b)"), "");
    }

    #[test]
    fn indices_are_taken_out_of_names() {
        for (name, kept, index) in [
            ("a", "a", None),
            ("a[3]", "a", Some("3")),
            ("a[12]", "a", Some("12")),
            ("a[*]", "a", Some("*")),
            ("a[]", "a", Some("")),
            ("a[x]", "a[x]", None),
        ] {
            assert_eq!(
                split_index(name),
                (kept.to_owned(), index.map(str::to_owned)),
                "{name}"
            );
        }
    }
}
