//! Why tasks form no graph, or a set of finished tasks does not fit one. The texts are upstream's.
//!
//! `Display` is written by hand: a derive would triple the number of crates that this small one needs.
//! Upstream counterpart: `pkg/reconciler/pipeline/dag/dag.go`.

use std::fmt;

/// A graph that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphError {
    /// Two tasks have the same name.
    Duplicate {
        /// The name.
        task: String,
    },
    /// Tasks wait for each other, or for themselves.
    Cycle {
        /// The first task, by name, that is on a cycle or behind one.
        task: String,
        /// Those of its dependencies that can never end, by name.
        dependencies: Vec<String>,
    },
    /// A dependency is not among the tasks.
    MissingParent {
        /// The dependent task.
        task: String,
        /// The missing one.
        parent: String,
    },
    /// Tasks are said to be done whose ancestors are not.
    AncestorsNotDone {
        /// These tasks, in the order given.
        tasks: Vec<String>,
    },
}

impl std::error::Error for GraphError {}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { task } => {
                write!(
                    f,
                    "task {task} is already present in Graph, can't add it again: duplicate pipeline task"
                )
            }
            Self::Cycle { task, dependencies } => {
                write!(
                    f,
                    "cycle detected; task \"{task}\" depends on {}",
                    quoted(dependencies)
                )
            }
            Self::MissingParent { task, parent } => write!(
                f,
                "couldn't add link between {task} and {parent}: task {task} depends on {parent} but {parent} \
                 wasn't present in Pipeline"
            ),
            Self::AncestorsNotDone { tasks } => write!(
                f,
                "invalid list of done tasks; some tasks were indicated completed without ancestors being done: [{}]",
                tasks.join(" ")
            ),
        }
    }
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    quoted.join(", ")
}
