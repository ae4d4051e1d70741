//! Types of CEL expressions without variables.
//!
//! The evaluator compares values of any two types; upstream refuses such expressions beforehand. This is
//! the part of upstream's checker that matters without declarations: names, overloads of the standard
//! functions, and element types of lists and maps.

use std::fmt;

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, SelectExpr, operators};

/// What is wrong, and with which node.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) id: u64,
    pub(super) text: String,
}

/// Types as far as they are known before evaluation.
#[derive(Clone, Debug, PartialEq)]
enum Type {
    /// Not decided yet: the items of an empty list.
    Open,
    /// Known at evaluation only.
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    /// The type of types.
    Meta,
    List(Box<Type>),
    Map(Box<Type>, Box<Type>),
}

use Type::{
    Bool, Bytes, Double, Duration, Dyn, Int, List, Map, Meta, Null, Open, String as Text, Timestamp, Uint,
};

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Open | Dyn => f.write_str("dyn"),
            Null => f.write_str("null"),
            Bool => f.write_str("bool"),
            Int => f.write_str("int"),
            Uint => f.write_str("uint"),
            Double => f.write_str("double"),
            Text => f.write_str("string"),
            Bytes => f.write_str("bytes"),
            Duration => f.write_str("google.protobuf.Duration"),
            Timestamp => f.write_str("google.protobuf.Timestamp"),
            Meta => f.write_str("type"),
            List(item) => write!(f, "list({item})"),
            Map(key, value) => write!(f, "map({key}, {value})"),
        }
    }
}

/// Checks an expression.
pub(super) fn check(expression: &IdedExpr) -> Result<(), Problem> {
    type_of(expression, &mut Vec::new()).map(drop)
}

/// Variables of comprehensions, the innermost last.
type Scope = Vec<(String, Type)>;

fn type_of(node: &IdedExpr, scope: &mut Scope) -> Result<Type, Problem> {
    match &node.expr {
        Expr::Literal(literal) => Ok(literal_type(literal)),
        Expr::Ident(name) => ident(node.id, name, scope),
        Expr::List(list) => {
            let mut item = Open;
            for element in &list.elements {
                item = joined(item, type_of(element, scope)?);
            }
            Ok(List(Box::new(item)))
        }
        Expr::Map(map) => {
            let (mut key, mut value) = (Open, Open);
            for entry in &map.entries {
                if let EntryExpr::MapEntry(entry) = &entry.expr {
                    key = joined(key, type_of(&entry.key, scope)?);
                    value = joined(value, type_of(&entry.value, scope)?);
                }
            }
            Ok(Map(Box::new(key), Box::new(value)))
        }
        Expr::Select(select) => selected(node.id, select, scope),
        Expr::Call(call) => called(node.id, call, scope),
        Expr::Comprehension(comprehension) => comprehended(node.id, comprehension, scope),
        Expr::Struct(message) if message.type_name.starts_with("google.protobuf.") => Ok(Dyn),
        Expr::Struct(message) => Err(undeclared(node.id, &message.type_name)),
        Expr::Unspecified => Ok(Dyn),
    }
}

fn literal_type(literal: &LiteralValue) -> Type {
    match literal {
        LiteralValue::Boolean(_) => Bool,
        LiteralValue::Bytes(_) => Bytes,
        LiteralValue::Double(_) => Double,
        LiteralValue::Int(_) => Int,
        LiteralValue::Null => Null,
        LiteralValue::String(_) => Text,
        LiteralValue::UInt(_) => Uint,
    }
}

fn ident(id: u64, name: &str, scope: &Scope) -> Result<Type, Problem> {
    if let Some((_, found)) = scope.iter().rev().find(|(known, _)| known == name) {
        return Ok(found.clone());
    }
    match name {
        "bool" | "bytes" | "double" | "int" | "list" | "map" | "null_type" | "string" | "type" | "uint" => {
            Ok(Meta)
        }
        _ => Err(undeclared(id, name)),
    }
}

fn undeclared(id: u64, name: &str) -> Problem {
    Problem {
        id,
        text: format!("undeclared reference to '{name}' (in container '')"),
    }
}

fn selected(id: u64, select: &SelectExpr, scope: &mut Scope) -> Result<Type, Problem> {
    if !select.test
        && matches!(
            qualified(select).as_deref(),
            Some("google.protobuf.Duration" | "google.protobuf.Timestamp")
        )
    {
        return Ok(Meta);
    }
    let found = match type_of(&select.operand, scope)? {
        Open | Dyn => Dyn,
        Map(_, value) => *value,
        other => {
            return Err(Problem {
                id,
                text: format!("type '{other}' does not support field selection"),
            });
        }
    };
    Ok(if select.test { Bool } else { found })
}

/// The dotted name a selection spells.
fn qualified(select: &SelectExpr) -> Option<String> {
    let head = match &select.operand.expr {
        Expr::Ident(name) => name.clone(),
        Expr::Select(inner) => qualified(inner)?,
        _ => return None,
    };
    Some(format!("{head}.{}", select.field))
}

fn comprehended(id: u64, comprehension: &ComprehensionExpr, scope: &mut Scope) -> Result<Type, Problem> {
    let range = type_of(&comprehension.iter_range, scope)?;
    let (first, second) = match (range, &comprehension.iter_var2) {
        (Open | Dyn, _) => (Dyn, Dyn),
        (List(item), None) => (*item, Dyn),
        (List(item), Some(_)) => (Int, *item),
        (Map(key, value), _) => (*key, *value),
        (other, _) => {
            let text = format!(
                "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
            );
            return Err(Problem { id, text });
        }
    };
    let start = type_of(&comprehension.accu_init, scope)?;
    let depth = scope.len();
    scope.push((comprehension.accu_var.clone(), start.clone()));
    scope.push((comprehension.iter_var.clone(), first));
    if let Some(name) = &comprehension.iter_var2 {
        scope.push((name.clone(), second));
    }
    let step =
        type_of(&comprehension.loop_cond, scope).and_then(|_| type_of(&comprehension.loop_step, scope));
    scope.truncate(depth);
    scope.push((comprehension.accu_var.clone(), joined(start, step?)));
    let result = type_of(&comprehension.result, scope);
    scope.truncate(depth);
    result
}

fn called(id: u64, call: &CallExpr, scope: &mut Scope) -> Result<Type, Problem> {
    let mut types = Vec::with_capacity(call.args.len() + 1);
    for argument in call.target.as_deref().into_iter().chain(&call.args) {
        types.push(type_of(argument, scope)?);
    }
    let method = call.target.is_some();
    if !is_function(&call.func_name) {
        return Err(undeclared(id, &call.func_name));
    }
    overload(&call.func_name, method, &types).ok_or_else(|| {
        let list = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
        let arguments = match types.split_first() {
            Some((target, rest)) if method => format!("{target}.({})", list(rest)),
            _ => format!("({})", list(&types)),
        };
        let name = &call.func_name;
        Problem {
            id,
            text: format!("found no matching overload for '{name}' applied to '{arguments}'"),
        }
    })
}

/// Names of the standard functions besides the operators.
const FUNCTIONS: &[&str] = &[
    "bool",
    "bytes",
    "contains",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
    "int",
    "matches",
    "size",
    "startsWith",
    "string",
    "timestamp",
    "type",
    "uint",
];

fn is_function(name: &str) -> bool {
    name.starts_with('@') || name.contains('_') || FUNCTIONS.contains(&name)
}

/// The type a function gives for arguments of these types, if it takes them.
fn overload(name: &str, method: bool, types: &[Type]) -> Option<Type> {
    match types {
        [only] if !method => unary(name, only),
        [target] => on_target(name, target),
        [a, b] if !method => binary(name, a, b),
        [target, argument] => with_argument(name, target, argument),
        [condition, a, b] if name == operators::CONDITIONAL && fits(condition, &Bool) && fits(a, b) => {
            Some(joined(a.clone(), b.clone()))
        }
        _ => None,
    }
}

fn unary(name: &str, only: &Type) -> Option<Type> {
    let (accepted, result): (&[Type], Type) = match name {
        operators::LOGICAL_NOT | operators::NOT_STRICTLY_FALSE => (&[Bool], Bool),
        operators::NEGATE if fits(only, &Int) => (&[Int], Int),
        operators::NEGATE => (&[Double], Double),
        "size" => return is_sized(only).then_some(Int),
        "bool" => (&[Bool, Text], Bool),
        "bytes" => (&[Bytes, Text], Bytes),
        "double" => (&[Double, Int, Text, Uint], Double),
        "duration" => (&[Duration, Int, Text], Duration),
        "int" => (&[Double, Duration, Int, Text, Timestamp, Uint], Int),
        "string" => (&[Bool, Bytes, Double, Duration, Int, Text, Timestamp, Uint], Text),
        "timestamp" => (&[Int, Text, Timestamp], Timestamp),
        "uint" => (&[Double, Int, Text, Uint], Uint),
        "dyn" => return Some(Dyn),
        "type" => return Some(Meta),
        _ => return None,
    };
    accepted.iter().any(|type_| fits(only, type_)).then_some(result)
}

fn on_target(name: &str, target: &Type) -> Option<Type> {
    match name {
        "size" => is_sized(target).then_some(Int),
        "getHours" | "getMilliseconds" | "getMinutes" | "getSeconds" => {
            (fits(target, &Timestamp) || fits(target, &Duration)).then_some(Int)
        }
        _ if name.starts_with("get") => fits(target, &Timestamp).then_some(Int),
        _ => None,
    }
}

fn with_argument(name: &str, target: &Type, argument: &Type) -> Option<Type> {
    match name {
        "contains" | "endsWith" | "matches" | "startsWith" => {
            (fits(target, &Text) && fits(argument, &Text)).then_some(Bool)
        }
        _ if name.starts_with("get") => (fits(target, &Timestamp) && fits(argument, &Text)).then_some(Int),
        _ => None,
    }
}

fn binary(name: &str, a: &Type, b: &Type) -> Option<Type> {
    match name {
        operators::LOGICAL_AND | operators::LOGICAL_OR => (fits(a, &Bool) && fits(b, &Bool)).then_some(Bool),
        operators::EQUALS | operators::NOT_EQUALS => fits(a, b).then_some(Bool),
        operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS => {
            let ordered = [Bool, Int, Uint, Double, Text, Bytes, Timestamp, Duration];
            ordered
                .iter()
                .any(|type_| fits(a, type_) && fits(b, type_))
                .then_some(Bool)
        }
        operators::IN => match b {
            Open | Dyn => Some(Bool),
            List(item) => fits(a, item).then_some(Bool),
            Map(key, _) => fits(a, key).then_some(Bool),
            _ => None,
        },
        operators::INDEX => match a {
            Open | Dyn => Some(Dyn),
            List(item) => fits(b, &Int).then(|| (**item).clone()),
            Map(key, value) => fits(b, key).then(|| (**value).clone()),
            _ => None,
        },
        "matches" => (fits(a, &Text) && fits(b, &Text)).then_some(Bool),
        _ => arithmetic(name, a, b),
    }
}

fn arithmetic(name: &str, a: &Type, b: &Type) -> Option<Type> {
    if name == operators::ADD
        && let (List(one), List(other)) = (a, b)
    {
        return fits(one, other).then(|| List(Box::new(joined((**one).clone(), (**other).clone()))));
    }
    let overloads: &[(Type, Type, Type)] = match name {
        operators::ADD => &[
            (Int, Int, Int),
            (Uint, Uint, Uint),
            (Double, Double, Double),
            (Text, Text, Text),
            (Bytes, Bytes, Bytes),
            (Duration, Duration, Duration),
            (Timestamp, Duration, Timestamp),
            (Duration, Timestamp, Timestamp),
        ],
        operators::SUBSTRACT => &[
            (Int, Int, Int),
            (Uint, Uint, Uint),
            (Double, Double, Double),
            (Timestamp, Timestamp, Duration),
            (Timestamp, Duration, Timestamp),
            (Duration, Duration, Duration),
        ],
        operators::MULTIPLY | operators::DIVIDE => {
            &[(Int, Int, Int), (Uint, Uint, Uint), (Double, Double, Double)]
        }
        operators::MODULO => &[(Int, Int, Int), (Uint, Uint, Uint)],
        _ => return None,
    };
    let mut matching = overloads
        .iter()
        .filter(|(one, other, _)| fits(a, one) && fits(b, other));
    let result = &matching.next()?.2;
    let list = is_unknown(a) && matches!(b, List(_)) || is_unknown(b) && matches!(a, List(_));
    // Several overloads match only if a type is not known yet.
    Some(if list || matching.next().is_some() {
        Dyn
    } else {
        result.clone()
    })
}

fn is_unknown(type_: &Type) -> bool {
    matches!(type_, Open | Dyn)
}

fn is_sized(type_: &Type) -> bool {
    matches!(type_, Open | Dyn | Text | Bytes | List(_) | Map(..))
}

/// Whether two types can be the same; null stands for an absent duration or time as well.
fn fits(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Open | Dyn, _) | (_, Open | Dyn) | (Null, Duration | Timestamp) | (Duration | Timestamp, Null) => {
            true
        }
        (List(a), List(b)) => fits(a, b),
        (Map(a, b), Map(c, d)) => fits(a, c) && fits(b, d),
        (a, b) => a == b,
    }
}

/// The type of something that is one or the other.
fn joined(a: Type, b: Type) -> Type {
    match (a, b) {
        (Open, other) | (other, Open) => other,
        (List(a), List(b)) => List(Box::new(joined(*a, *b))),
        (Map(a, b), Map(c, d)) => Map(Box::new(joined(*a, *c)), Box::new(joined(*b, *d))),
        (a, b) if a == b => a,
        _ => Dyn,
    }
}

#[cfg(test)]
mod tests {
    use crate::when::compile;

    #[test]
    fn accepts_what_fits() {
        for text in [
            "1 + 2",
            "[1, 'a'] == [2]",
            "[] == ['a']",
            "[1, 2].map(x, x * 2).exists(x, x == 4)",
            "{'a': 1}.a == 1 && has({'a': 1}.b) == false",
            "dyn(1) == 'a'",
            "timestamp('2026-01-02T03:04:05Z') + duration('1h') > timestamp(0)",
            "type(1) == int",
            "[1, 2].filter(x, x > 1).size() == 1",
            "'a' in {'a': [1]} ? 'x' == 'y' : false",
            "null == null",
            "size('a') == 'a'.size()",
        ] {
            assert_eq!(compile(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn refuses_what_does_not_fit() {
        for text in [
            "'1' == 1",
            "1 < 2.0",
            "1 && true",
            "branch == 'a'",
            "'a'.size(1) == 1",
            "foo('a')",
            "true ? 1 : 'a'",
            "[1].map(x, x) == ['a']",
            "1 in ['a']",
            "'a' - 'b' == ''",
            "null == 1",
            "'a'.b == 'c'",
            "1.exists(x, true)",
            "duration('1s') == timestamp(0)",
            "!'a'",
        ] {
            assert!(compile(text).is_err(), "{text}");
        }
    }

    #[test]
    fn problems_are_located() {
        assert_eq!(
            compile("'1' == 1").unwrap_err().to_string(),
            "ERROR: <input>:1:5: found no matching overload for '_==_' applied to '(string, int)'\n | '1' == 1\n | ....^"
        );
    }
}
