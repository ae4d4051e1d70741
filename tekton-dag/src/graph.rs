//! Builds the graph of tasks and answers questions on its shape.
//!
//! Upstream counterpart: `pkg/reconciler/pipeline/dag/dag.go`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::{Frontier, GraphError};

/// An acyclic graph of named tasks. Edges lead from a task to those that wait for it.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub(crate) graph: DiGraph<String, ()>,
    pub(crate) index: HashMap<String, NodeIndex>,
}

impl Graph {
    /// Builds the graph from tasks with the names of the tasks that must end before them.
    ///
    /// # Errors
    /// A name occurs twice, tasks form a cycle (or a task waits for itself), or a dependency does not exist.
    /// They are looked for in this order.
    pub fn build<N, D>(tasks: impl IntoIterator<Item = (N, D)>) -> Result<Self, GraphError>
    where
        N: Into<String>,
        D: IntoIterator,
        D::Item: AsRef<str>,
    {
        let mut built = Self::default();
        let mut dependencies = Vec::new();
        for (name, parents) in tasks {
            let name = name.into();
            if built.index.contains_key(&name) {
                return Err(GraphError::Duplicate { task: name });
            }
            let node = built.graph.add_node(name.clone());
            built.index.insert(name, node);
            let parents: BTreeSet<String> = parents
                .into_iter()
                .map(|parent| parent.as_ref().to_owned())
                .collect();
            dependencies.push((node, parents));
        }
        let mut missing = None;
        for (node, parents) in dependencies {
            for parent in parents {
                match built.index.get(&parent) {
                    Some(from) => {
                        built.graph.add_edge(*from, node, ());
                    }
                    None if missing.is_none() => missing = Some((node, parent)),
                    None => {}
                }
            }
        }
        if let Some(cycle) = built.cycle() {
            return Err(cycle);
        }
        match missing {
            Some((node, parent)) => Err(GraphError::MissingParent {
                task: built.name(node).to_owned(),
                parent,
            }),
            None => Ok(built),
        }
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }

    /// True if there is no task.
    pub fn is_empty(&self) -> bool {
        self.graph.node_count() == 0
    }

    /// Names of all tasks, in the order given.
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        self.graph.node_weights().map(String::as_str)
    }

    /// Whether a task exists.
    pub fn contains(&self, task: &str) -> bool {
        self.index.contains_key(task)
    }

    /// The tasks that a task waits for, by name; empty for an unknown task.
    pub fn dependencies(&self, task: &str) -> Vec<&str> {
        self.neighbors(task, Direction::Incoming)
    }

    /// The tasks that wait for a task, by name; empty for an unknown task.
    pub fn dependents(&self, task: &str) -> Vec<&str> {
        self.neighbors(task, Direction::Outgoing)
    }

    /// Pairs of a task and one that waits for it, by name.
    pub fn edges(&self) -> Vec<(&str, &str)> {
        let ends = self
            .graph
            .edge_indices()
            .filter_map(|edge| self.graph.edge_endpoints(edge));
        let mut edges: Vec<_> = ends.map(|(from, to)| (self.name(from), self.name(to))).collect();
        edges.sort_unstable();
        edges
    }

    /// Tasks by the length of the longest way to them: those of a layer can run side by side. Names are sorted
    /// within a layer.
    pub fn layers(&self) -> Vec<Vec<&str>> {
        let mut layers = Vec::new();
        let mut frontier = self.frontier();
        let mut layer = frontier.ready();
        while !layer.is_empty() {
            let mut next: Vec<&str> = layer.iter().flat_map(|task| frontier.complete(task)).collect();
            next.sort_unstable();
            layers.push(std::mem::replace(&mut layer, next));
        }
        layers
    }

    /// Follows the execution one completion at a time.
    pub fn frontier(&self) -> Frontier<'_> {
        Frontier::new(self)
    }

    pub(crate) fn name(&self, node: NodeIndex) -> &str {
        self.graph
            .node_weight(node)
            .map(String::as_str)
            .unwrap_or_default()
    }

    fn neighbors(&self, task: &str, direction: Direction) -> Vec<&str> {
        let Some(node) = self.index.get(task) else {
            return Vec::new();
        };
        let mut names: Vec<&str> = self
            .graph
            .neighbors_directed(*node, direction)
            .map(|n| self.name(n))
            .collect();
        names.sort_unstable();
        names
    }

    /// Takes away tasks without open dependencies until none is left; what remains is a cycle or behind one.
    fn cycle(&self) -> Option<GraphError> {
        let mut frontier = self.frontier();
        let mut waiting = frontier.ready();
        let mut done: BTreeSet<&str> = BTreeSet::new();
        while let Some(task) = waiting.pop() {
            done.insert(task);
            waiting.extend(frontier.complete(task));
        }
        if done.len() == self.len() {
            return None;
        }
        let open: BTreeMap<&str, Vec<String>> = self
            .tasks()
            .filter(|task| !done.contains(task))
            .map(|task| {
                let parents = self
                    .dependencies(task)
                    .into_iter()
                    .filter(|parent| !done.contains(parent));
                (task, parents.map(str::to_owned).collect())
            })
            .collect();
        let (task, dependencies) = open.into_iter().next()?;
        Some(GraphError::Cycle {
            task: task.to_owned(),
            dependencies,
        })
    }
}
