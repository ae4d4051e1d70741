//! Cases of matrices.

use serde_json::{Value, json};

use super::{diff, expected, typed};
use crate::v1::Matrix;

/// Fans the matrix out and compares the number and the combinations.
///
/// # Errors
/// The difference.
pub fn check(case: &Value) -> Result<(), String> {
    let matrix: Matrix = typed(case, "matrix")?;
    diff::compare(
        expected(case),
        &json!({"count": matrix.count_combinations(), "combinations": matrix.fan_out()}),
    )
}
