#[path = "it/golden.rs"]
mod golden;
