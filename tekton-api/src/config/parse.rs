//! Reads booleans, numbers and embedded YAML out of ConfigMap entries.
//!
//! The error texts are those of Go's `strconv`.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use crate::quote::quote;

/// The entries of a ConfigMap.
pub type Data = BTreeMap<String, String>;

/// Why a text is no boolean or number; the text is Go's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("strconv.{function}: parsing {}: {reason}", quote(.text))]
pub struct ParseScalarError {
    function: &'static str,
    text: String,
    reason: &'static str,
}

const SYNTAX: &str = "invalid syntax";
const RANGE: &str = "value out of range";

/// Reads a boolean: `1`, `t`, `true` and so on.
pub(crate) fn boolean(text: &str) -> Result<bool, ParseScalarError> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(ParseScalarError {
            function: "ParseBool",
            text: text.to_owned(),
            reason: SYNTAX,
        }),
    }
}

/// Reads a decimal number; `function` is Go's name for what reads it.
pub(crate) fn integer(function: &'static str, text: &str) -> Result<i64, ParseScalarError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let reason = if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        SYNTAX
    } else {
        match text.parse() {
            Ok(number) => return Ok(number),
            Err(_) => RANGE,
        }
    };
    Err(ParseScalarError {
        function,
        text: text.to_owned(),
        reason,
    })
}

/// Reads an unsigned number of 32 bits.
pub(crate) fn unsigned(text: &str) -> Result<u32, ParseScalarError> {
    let reason = if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        SYNTAX
    } else {
        match text.parse() {
            Ok(number) => return Ok(number),
            Err(_) => RANGE,
        }
    };
    Err(ParseScalarError {
        function: "ParseUint",
        text: text.to_owned(),
        reason,
    })
}

/// Reads a number with a fraction.
pub(crate) fn float(text: &str) -> Result<f64, ParseScalarError> {
    let error = |reason| ParseScalarError {
        function: "ParseFloat",
        text: text.to_owned(),
        reason,
    };
    let number: f64 = text.parse().map_err(|_| error(SYNTAX))?;
    let spelled_out = text.bytes().any(|byte| byte.is_ascii_digit());
    if number.is_infinite() && spelled_out {
        return Err(error(RANGE));
    }
    Ok(number)
}

/// Reads a YAML text as a value of the API. Texts may be written without quotes wherever the type
/// wants one; unknown fields are ignored. Nothing if the text does not fit.
pub(crate) fn yaml<T: DeserializeOwned + Default>(text: &str) -> Option<T> {
    match crate::yaml::documents(text).ok()?.first() {
        Some(value) => crate::decode::lenient(value).ok(),
        None => Some(T::default()),
    }
}
