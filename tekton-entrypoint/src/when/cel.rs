//! CEL in when expressions: evaluated without any variables.
//!
//! The original checks an expression before it evaluates it, so an unknown name is an error even where it
//! would not be looked at.

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::{Context, ExecutionError, Program, Value};

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
    let program = Program::compile(expression).map_err(|error| format!("ERROR: <input>:{error}"))?;
    let context = Context::default();
    if let Some(name) = unknown_name(program.expression(), &mut Vec::new()) {
        return Err(undeclared(name));
    }
    match program.execute(&context) {
        Ok(Value::Bool(value)) => Ok(value),
        Ok(_) => Err(format!(
            "the CEL expression {expression} is not evaluated to a boolean"
        )),
        Err(ExecutionError::UndeclaredReference(name)) => Err(undeclared(&name)),
        Err(error) => Err(error.to_string()),
    }
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
