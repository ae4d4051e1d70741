//! Evaluation of CEL expressions.
//!
//! As upstream, an expression is checked for types before it is evaluated, and there are no variables.
//! Without the feature `cel` every expression is refused.

/// Why a CEL expression has no truth value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CelError {
    /// It is not written in CEL.
    #[error("ERROR: <input>:1:1: Syntax error: {0}")]
    Syntax(String),
    /// It uses a name or types that do not exist or do not fit.
    #[error("ERROR: <input>:{line}:{column}: {problem}\n | {source_line}\n | {marker}")]
    Type {
        /// Line of the problem, from 1.
        line: usize,
        /// Column of the problem, from 1.
        column: usize,
        /// What is wrong.
        problem: String,
        /// The line's text.
        source_line: String,
        /// Dots up to the column, and a caret there.
        marker: String,
    },
    /// It fails when evaluated.
    #[error("{0}")]
    Evaluation(String),
    /// Its value is neither true nor false.
    #[error("The CEL expression {0} is not evaluated to a boolean")]
    NotBoolean(String),
    /// CEL was left out when this crate was built.
    #[error("CEL is not supported by this build")]
    Unsupported,
}

/// Checks that an expression can be evaluated as far as its syntax and types go. Any type is accepted.
///
/// ```
/// assert!(tekton_api::when::compile("'$(params.branch)' == 'main'").is_ok());
/// assert!(tekton_api::when::compile("branch == 'main'").is_err());
/// ```
///
/// # Errors
/// The first problem found.
#[cfg(feature = "cel")]
pub fn compile(text: &str) -> Result<(), CelError> {
    program(text).map(drop)
}

/// The truth value of an expression.
///
/// ```
/// assert_eq!(tekton_api::when::evaluate("'main' in ['main', 'release']"), Ok(true));
/// ```
///
/// # Errors
/// If it cannot be evaluated or is neither true nor false.
#[cfg(feature = "cel")]
pub fn evaluate(text: &str) -> Result<bool, CelError> {
    match program(text)?.execute(&cel::Context::default()) {
        Ok(cel::Value::Bool(value)) => Ok(value),
        Ok(_) => Err(CelError::NotBoolean(text.to_owned())),
        Err(error) => Err(CelError::Evaluation(worded(&error))),
    }
}

/// Longest expression that is looked at, in bytes; upstream's limit is the same in characters.
#[cfg(feature = "cel")]
const LONGEST: usize = 100_000;

#[cfg(feature = "cel")]
fn program(text: &str) -> Result<cel::Program, CelError> {
    if text.len() > LONGEST {
        return Err(CelError::Syntax(format!(
            "expression code point size exceeds limit: size: {}, limit {LONGEST}",
            text.len()
        )));
    }
    let program = cel::Program::compile(text).map_err(|errors| CelError::Syntax(errors.to_string()))?;
    super::check::check(program.expression()).map_err(|problem| {
        let start = program
            .source_info()
            .offset_for(problem.id)
            .map_or(0, |(start, _)| start as usize);
        located(text, start, problem.text)
    })?;
    Ok(program)
}

/// The problem with its place in the text.
#[cfg(feature = "cel")]
fn located(text: &str, start: usize, problem: String) -> CelError {
    let before = text.get(..start).unwrap_or_default();
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    CelError::Type {
        line: line + 1,
        column: column + 1,
        problem,
        source_line: text.lines().nth(line).unwrap_or_default().to_owned(),
        marker: format!("{}^", ".".repeat(column)),
    }
}

/// Upstream's words for the failures that occur most.
#[cfg(feature = "cel")]
fn worded(error: &cel::ExecutionError) -> String {
    use cel::ExecutionError as Error;
    match error {
        Error::DivisionByZero(_) => "division by zero".to_owned(),
        Error::RemainderByZero(_) => "modulus by zero".to_owned(),
        Error::Overflow(..) => "integer overflow".to_owned(),
        Error::NoSuchKey(key) => format!("no such key: {key}"),
        other => other.to_string(),
    }
}

/// Refuses every expression.
///
/// # Errors
/// Always.
#[cfg(not(feature = "cel"))]
pub fn compile(_: &str) -> Result<(), CelError> {
    Err(CelError::Unsupported)
}

/// Refuses every expression.
///
/// # Errors
/// Always.
#[cfg(not(feature = "cel"))]
pub fn evaluate(_: &str) -> Result<bool, CelError> {
    Err(CelError::Unsupported)
}
