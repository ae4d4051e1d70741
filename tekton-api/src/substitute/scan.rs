//! Finds variables in texts without replacing them.
//!
//! The rules (dot and bracket notation, two dot-separated parts at most) are those of admission.
//! Upstream counterpart: `pkg/substitution/substitution.go`.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use regex::Regex;

/// Any `$(a.b.c)`, `$(a.b[0])` or `$(a.b[*])` in a text.
static VARIABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\([_a-zA-Z0-9.-]+(\.[_a-zA-Z0-9.-]+)*(\[([0-9]+|\*)\])?\)").ok());
/// `[0]`, `[*]`, and the odd `[1*]` and `[]` that upstream's pattern lets through.
static INDEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[([0-9])*\*?\]").ok());
static INT_INDEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[[0-9]+\]").ok());
static PARAM_INDEX: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"\$\(params(\.[_a-zA-Z0-9.-]+|\['[_a-zA-Z0-9./-]+'\]|\["[_a-zA-Z0-9./-]+"\])\[[0-9]+\]\)"#)
        .ok()
});

/// Compiled patterns by prefix; a prefix is one of a dozen texts of this crate.
static BY_PREFIX: Mutex<BTreeMap<String, Option<Arc<Regex>>>> = Mutex::new(BTreeMap::new());

/// `$(name)` → `name`: one leading `$(` and one trailing `)` are dropped where they stand.
pub fn strip_expression(expression: &str) -> &str {
    let inner = expression.strip_prefix("$(").unwrap_or(expression);
    inner.strip_suffix(')').unwrap_or(inner)
}

/// `$(name[*])` → `name`.
pub fn strip_reference(text: &str) -> &str {
    let inner = strip_expression(text);
    inner.strip_suffix("[*]").unwrap_or(inner)
}

/// The names of all plain variables in a text (`tasks.a.results.b`), in order, with repeats.
pub fn expressions(text: &str) -> Vec<String> {
    if !text.contains("$(") {
        return Vec::new();
    }
    let Some(pattern) = VARIABLE.as_ref() else {
        return Vec::new();
    };
    pattern
        .find_iter(text)
        .map(|found| strip_expression(found.as_str()).to_owned())
        .collect()
}

/// Variables below a prefix, as [`variables`] finds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Names after the prefix; of `object.key` only `object`. Complete unless `error` is set.
    pub names: Vec<String>,
    /// Whether anything was found.
    pub present: bool,
    /// Why the references are not allowed; empty if they are.
    pub error: String,
}

/// Finds `$(PREFIX.name)`, `$(PREFIX["name"])` and `$(PREFIX['name'])`.
///
/// `prefix` is a fragment of a regular expression: `params`, `context\.taskRun`.
pub fn variables(text: &str, prefix: &str) -> Found {
    let mut found = Found::default();
    for name in raw_variables(text, prefix) {
        found.present = true;
        let (name, dotted) = name;
        if dotted && name.contains('.') {
            if name.split('.').count() > 2 {
                found.names.push(String::new());
                found.error = format!(
                    "Invalid referencing of parameters in \"{text}\"! Only two dot-separated components after \
                     the prefix \"{prefix}\" are allowed."
                );
                return found;
            }
            found
                .names
                .push(name.split('.').next().unwrap_or_default().to_owned());
        } else {
            found.names.push(name);
        }
    }
    found
}

/// The same with the whole name after the prefix, whatever its number of parts.
pub fn entire_variables(text: &str, prefix: &str) -> Vec<String> {
    raw_variables(text, prefix)
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

/// The whole expressions below a prefix, `$(` and `)` included.
pub fn variable_expressions(text: &str, prefix: &str) -> Vec<String> {
    let Some(pattern) = pattern(text, prefix) else {
        return Vec::new();
    };
    pattern
        .find_iter(text)
        .map(|found| found.as_str().to_owned())
        .collect()
}

/// Drops every `[i]` and `[*]`.
pub fn trim_array_index(text: &str) -> String {
    match INDEX.as_ref() {
        Some(pattern) => pattern.replace_all(text, "").into_owned(),
        None => text.to_owned(),
    }
}

/// The first `[i]` or `[*]` of a text, brackets included.
pub fn first_index(text: &str) -> Option<&str> {
    INDEX.as_ref()?.find(text).map(|found| found.as_str())
}

/// The number in the leftmost `[i]` of a text; `None` if there is none or it does not fit.
pub fn int_index(text: &str) -> Option<usize> {
    let found = INT_INDEX.as_ref()?.find(text)?;
    found
        .as_str()
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

/// Every `$(params.name[i])` of a text.
pub fn indexed_params(text: &str) -> Vec<String> {
    if !text.contains("$(params") {
        return Vec::new();
    }
    let Some(pattern) = PARAM_INDEX.as_ref() else {
        return Vec::new();
    };
    pattern
        .find_iter(text)
        .map(|found| found.as_str().to_owned())
        .collect()
}

/// A text of the form `$(PREFIX.name[*])` alone.
pub fn is_isolated_whole_reference(text: &str, prefix: &str) -> bool {
    let name = r"[_a-zA-Z0-9.-]+\[\*\]";
    let pattern = format!(r#"^(\$(\({prefix}(\.(?:{name})|\["(?:{name})"\]|\['(?:{name})'\])\)))$"#);
    text.contains("[*]") && compiled(&pattern).is_some_and(|pattern| pattern.is_match(text))
}

/// Names after the prefix, and whether they were written with a dot.
fn raw_variables(text: &str, prefix: &str) -> Vec<(String, bool)> {
    let Some(pattern) = pattern(text, prefix) else {
        return Vec::new();
    };
    let name = |captures: &regex::Captures<'_>| {
        let group = |index: usize| {
            captures
                .get(index)
                .map(|group| group.as_str())
                .filter(|name| !name.is_empty())
        };
        match group(1) {
            Some(name) => (name.to_owned(), true),
            None => (
                group(2).or_else(|| group(3)).unwrap_or_default().to_owned(),
                false,
            ),
        }
    };
    pattern
        .captures_iter(text)
        .map(|captures| name(&captures))
        .collect()
}

fn pattern(text: &str, prefix: &str) -> Option<Arc<Regex>> {
    if !text.contains("$(") {
        return None;
    }
    let name = r".*?(?:\[\*\])?";
    compiled(&format!(
        r#"\$\({prefix}(?:\.({name})|\["({name})"\]|\['({name})'\])\)"#
    ))
}

fn compiled(pattern: &str) -> Option<Arc<Regex>> {
    let mut cache = BY_PREFIX.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = cache.get(pattern) {
        return known.clone();
    }
    let regex = Regex::new(pattern).ok().map(Arc::new);
    cache.insert(pattern.to_owned(), regex.clone());
    regex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_dots_and_brackets() {
        let found = variables(
            r#"$(params.a) $(params.o.k) $(params['x.y']) $(params["z.w"])"#,
            "params",
        );
        assert_eq!(found.names, ["a", "o", "x.y", "z.w"]);
        assert!(found.present && found.error.is_empty());
        assert!(!variables("plain", "params").present);
    }

    #[test]
    fn three_parts_are_refused() {
        let found = variables("$(params.a.b.c)", "params");
        assert!(
            found
                .error
                .starts_with("Invalid referencing of parameters in \"$(params.a.b.c)\"!")
        );
    }

    #[test]
    fn indices() {
        assert_eq!(trim_array_index("a[0][*]b"), "ab");
        assert_eq!(int_index("$(params.a[12])"), Some(12));
        assert_eq!(
            indexed_params("$(params.a[1]) $(params['b'][0]) $(params.c[*])"),
            ["$(params.a[1])", "$(params['b'][0])"]
        );
        assert!(is_isolated_whole_reference("$(params.a[*])", "params"));
        assert!(!is_isolated_whole_reference("x$(params.a[*])", "params"));
    }
}
