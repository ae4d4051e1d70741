//! Worked pipelines and small programs that embed the Tekton crates.
