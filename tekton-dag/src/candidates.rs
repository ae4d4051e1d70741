//! Which tasks can start: all at once from the set of finished tasks, or step by step.
//!
//! Upstream counterpart: `GetCandidateTasks` in `pkg/reconciler/pipeline/dag/dag.go`.

use std::collections::HashSet;

use petgraph::Direction;
use petgraph::graph::NodeIndex;

use crate::{Graph, GraphError};

impl Graph {
    /// The tasks that are not done and whose dependencies all are, by name.
    ///
    /// Looks at finished tasks and their successors only.
    ///
    /// # Errors
    /// A task is said to be done that cannot be reached over finished tasks, or does not exist.
    pub fn candidates<S: AsRef<str>>(
        &self,
        done: impl IntoIterator<Item = S>,
    ) -> Result<Vec<&str>, GraphError> {
        let names: Vec<S> = done.into_iter().collect();
        let done: HashSet<NodeIndex> = names
            .iter()
            .filter_map(|name| self.index.get(name.as_ref()).copied())
            .collect();
        let parents = |node| self.graph.neighbors_directed(node, Direction::Incoming);
        let mut waiting: Vec<NodeIndex> = self.graph.externals(Direction::Incoming).collect();
        let mut visited: HashSet<NodeIndex> = waiting.iter().copied().collect();
        let mut found = Vec::new();
        while let Some(node) = waiting.pop() {
            if done.contains(&node) {
                for next in self.graph.neighbors_directed(node, Direction::Outgoing) {
                    if visited.insert(next) {
                        waiting.push(next);
                    }
                }
            } else if parents(node).all(|parent| done.contains(&parent)) {
                found.push(self.name(node));
            }
        }
        let unreached = |name: &&S| {
            self.index
                .get(name.as_ref())
                .is_none_or(|node| !visited.contains(node))
        };
        let unreached: Vec<String> = names
            .iter()
            .filter(unreached)
            .map(|name| name.as_ref().to_owned())
            .collect();
        if !unreached.is_empty() {
            return Err(GraphError::AncestorsNotDone { tasks: unreached });
        }
        found.sort_unstable();
        Ok(found)
    }
}

/// Follows the execution of a graph; each completion costs as much as the task has dependents.
#[derive(Clone, Debug)]
pub struct Frontier<'g> {
    graph: &'g Graph,
    /// Open dependencies by node.
    open: Vec<usize>,
    done: Vec<bool>,
}

impl<'g> Frontier<'g> {
    pub(crate) fn new(graph: &'g Graph) -> Self {
        let count = |node| graph.graph.neighbors_directed(node, Direction::Incoming).count();
        let open: Vec<usize> = graph.graph.node_indices().map(count).collect();
        let done = vec![false; open.len()];
        Self { graph, open, done }
    }

    /// The tasks that can start now, by name. Looks at the whole graph; meant for the beginning.
    pub fn ready(&self) -> Vec<&'g str> {
        let is_ready = |node: &NodeIndex| {
            self.open.get(node.index()) == Some(&0) && self.done.get(node.index()) == Some(&false)
        };
        let mut names: Vec<&str> = self
            .graph
            .graph
            .node_indices()
            .filter(is_ready)
            .map(|node| self.graph.name(node))
            .collect();
        names.sort_unstable();
        names
    }

    /// Notes the end of a task; returns those that can start because of it, by name. A task that is unknown or
    /// has ended before changes nothing.
    pub fn complete(&mut self, task: &str) -> Vec<&'g str> {
        let mut freed = Vec::new();
        let Some(node) = self.graph.index.get(task) else {
            return freed;
        };
        match self.done.get_mut(node.index()) {
            Some(done) if !*done => *done = true,
            _ => return freed,
        }
        for next in self.graph.graph.neighbors_directed(*node, Direction::Outgoing) {
            if let Some(open) = self.open.get_mut(next.index()) {
                *open = open.saturating_sub(1);
                if *open == 0 {
                    freed.push(self.graph.name(next));
                }
            }
        }
        freed.sort_unstable();
        freed
    }

    /// Whether every task has ended.
    pub fn is_finished(&self) -> bool {
        self.done.iter().all(|done| *done)
    }
}
