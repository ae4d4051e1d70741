//! Which combinations of parameters a matrix stands for.
//!
//! Upstream counterpart: `pkg/apis/pipeline/v1/matrix_types.go`.

mod fan_out;
