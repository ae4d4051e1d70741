//! CEL in when expressions: evaluated without any variables.
//!
//! The parser is the library's hand-written one: the other, generated one is larger than the rest of the
//! program. The original checks an expression before it evaluates it, so an unknown name is an error even where it
//! would not be looked at.

use std::sync::Arc;

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::extractors::This;
use cel::parser::PrattParser;
use cel::{Context, ExecutionError, Value};

/// How deep an expression may nest, as in the original.
const DEPTH: u16 = 250;

/// Types may be named like variables.
const TYPES: [&str; 11] = [
    "bool",
    "bytes",
    "double",
    "dyn",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "type",
    "uint",
];

/// The truth value of an expression.
pub(crate) fn evaluate(expression: &str) -> Result<bool, String> {
    let parser = PrattParser::new().max_recursion_depth(DEPTH);
    let parsed = parser
        .parse(expression)
        .map_err(|error| format!("ERROR: <input>:{error}"))?;
    if let Some(name) = unknown_name(&parsed, &mut Vec::new()) {
        return Err(undeclared(name));
    }
    let mut context = Context::default();
    // Where another crate of the build brings the library's own function along, that one stays.
    let _ = context.add_function("matches", matches);
    match Value::resolve(&parsed, &context) {
        Ok(Value::Bool(value)) => Ok(value),
        Ok(_) => Err(format!(
            "the CEL expression {expression} is not evaluated to a boolean"
        )),
        Err(ExecutionError::UndeclaredReference(name)) => Err(undeclared(&name)),
        Err(error) => Err(error.to_string()),
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "functions of CEL get their arguments by value"
)]
fn matches(This(text): This<Arc<String>>, pattern: Arc<String>) -> Result<bool, ExecutionError> {
    regex_lite::Regex::new(&pattern)
        .map(|pattern| pattern.is_match(&text))
        .map_err(|error| ExecutionError::function_error("matches", error))
}

fn undeclared(name: &str) -> String {
    format!("ERROR: <input>: undeclared reference to '{name}' (in container '')")
}

/// The first name that is neither a type nor made up by the expression itself.
fn unknown_name<'a>(expression: &'a IdedExpr, known: &mut Vec<&'a str>) -> Option<&'a str> {
    match &expression.expr {
        Expr::Ident(name) => {
            let name = name.as_str();
            let declared = name.starts_with('@') || TYPES.contains(&name) || known.contains(&name);
            (!declared).then_some(name)
        }
        Expr::Select(select) => unknown_name(&select.operand, known),
        Expr::Call(call) => call
            .target
            .iter()
            .map(AsRef::as_ref)
            .chain(&call.args)
            .find_map(|part| unknown_name(part, known)),
        Expr::List(list) => list
            .elements
            .iter()
            .find_map(|element| unknown_name(element, known)),
        Expr::Map(map) => map
            .entries
            .iter()
            .find_map(|entry| unknown_in_entry(&entry.expr, known)),
        Expr::Struct(built) => built
            .entries
            .iter()
            .find_map(|entry| unknown_in_entry(&entry.expr, known)),
        Expr::Comprehension(loops) => {
            let outside =
                unknown_name(&loops.iter_range, known).or_else(|| unknown_name(&loops.accu_init, known));
            let depth = known.len();
            known.extend([loops.iter_var.as_str(), loops.accu_var.as_str()]);
            known.extend(loops.iter_var2.as_deref());
            let inside = [&loops.loop_cond, &loops.loop_step, &loops.result];
            let found = outside.or_else(|| inside.into_iter().find_map(|part| unknown_name(part, known)));
            known.truncate(depth);
            found
        }
        Expr::Unspecified | Expr::Literal(_) => None,
    }
}

fn unknown_in_entry<'a>(entry: &'a EntryExpr, known: &mut Vec<&'a str>) -> Option<&'a str> {
    match entry {
        EntryExpr::StructField(field) => unknown_name(&field.value, known),
        EntryExpr::MapEntry(entry) => {
            unknown_name(&entry.key, known).or_else(|| unknown_name(&entry.value, known))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_to_be_declared() {
        for (expression, expected) in [
            ("'a' == 'a'", Ok(true)),
            ("type(1) == int", Ok(true)),
            ("[1, 2].exists(x, x > 1)", Ok(true)),
            ("'v1.2'.matches('^v[0-9]+') && !matches('x', 'y')", Ok(true)),
            ("'x'.matches('(')", Err("matches")),
            (
                "timestamp('2024-02-29T10:00:00Z').getHours('UTC') == 10",
                Ok(true),
            ),
            ("[1].all(x, y > x)", Err("undeclared reference to 'y'")),
            ("true || flavour", Err("undeclared reference to 'flavour'")),
            ("1", Err("is not evaluated to a boolean")),
            ("'a' ==", Err("ERROR: <input>")),
        ] {
            let found = evaluate(expression);
            match expected {
                Ok(value) => assert_eq!(found, Ok(value), "{expression}"),
                Err(part) => assert!(
                    found.as_ref().is_err_and(|error| error.contains(part)),
                    "{expression}: {found:?}"
                ),
            }
        }
    }
}
