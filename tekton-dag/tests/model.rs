//! The graph against a naive model, on random graphs.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tekton_dag::{Graph, GraphError};

type Tasks = BTreeMap<String, BTreeSet<String>>;

/// Tasks `t0…` that depend on some of the others; `acyclic` ones only on earlier tasks.
fn tasks(acyclic: bool) -> impl Strategy<Value = Tasks> {
    (1_usize..12).prop_flat_map(move |count| {
        let edges = prop::collection::vec((0..count, 0..count), 0..count * 2);
        edges.prop_map(move |edges| {
            let mut tasks: Tasks = (0..count)
                .map(|n| (format!("t{n:02}"), BTreeSet::new()))
                .collect();
            for (from, to) in edges {
                if !acyclic || from < to {
                    tasks
                        .get_mut(&format!("t{to:02}"))
                        .unwrap()
                        .insert(format!("t{from:02}"));
                }
            }
            tasks
        })
    })
}

fn ready(tasks: &Tasks, done: &BTreeSet<String>) -> Vec<String> {
    let open = tasks.iter().filter(|(name, _)| !done.contains(*name));
    open.filter(|(_, parents)| parents.iter().all(|p| done.contains(p)))
        .map(|(name, _)| name.clone())
        .collect()
}

proptest! {
    #[test]
    fn candidates_and_frontier_agree_with_the_model(tasks in tasks(true), picks in prop::collection::vec(any::<prop::sample::Index>(), 12)) {
        let graph = Graph::build(tasks.clone()).unwrap();
        let mut frontier = graph.frontier();
        let mut done = BTreeSet::new();
        for pick in picks {
            let expected = ready(&tasks, &done);
            prop_assert_eq!(graph.candidates(&done).unwrap(), expected.iter().map(String::as_str).collect::<Vec<_>>());
            prop_assert_eq!(frontier.ready(), expected.iter().map(String::as_str).collect::<Vec<_>>());
            if expected.is_empty() {
                break;
            }
            let next = expected[pick.index(expected.len())].clone();
            done.insert(next.clone());
            let freed: Vec<String> = ready(&tasks, &done).into_iter().filter(|task| !expected.contains(task)).collect();
            prop_assert_eq!(frontier.complete(&next), freed);
        }
        prop_assert_eq!(frontier.is_finished(), done.len() == tasks.len());
    }

    #[test]
    fn layers_hold_every_task_after_its_parents(tasks in tasks(true)) {
        let graph = Graph::build(tasks.clone()).unwrap();
        let mut seen = BTreeSet::new();
        for layer in graph.layers() {
            for task in &layer {
                prop_assert!(tasks[*task].iter().all(|parent| seen.contains(parent.as_str())));
            }
            seen.extend(layer);
        }
        prop_assert_eq!(seen.len(), tasks.len());
    }

    #[test]
    fn a_cycle_is_found_if_and_only_if_something_can_never_start(tasks in tasks(false)) {
        let mut done = BTreeSet::new();
        loop {
            let next = ready(&tasks, &done);
            if next.is_empty() { break; }
            done.extend(next);
        }
        let open: Vec<&String> = tasks.keys().filter(|task| !done.contains(*task)).collect();
        match Graph::build(tasks.clone()) {
            Ok(_) => prop_assert!(open.is_empty()),
            Err(GraphError::Cycle { task, dependencies }) => {
                prop_assert_eq!(&task, open[0]);
                let expected: Vec<String> = tasks[&task].iter().filter(|p| !done.contains(*p)).cloned().collect();
                prop_assert_eq!(dependencies, expected);
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

#[test]
fn the_impossible_is_refused() {
    let text = |error: GraphError| error.to_string();
    assert_eq!(
        text(Graph::build([("a", vec!["ghost"])]).unwrap_err()),
        "couldn't add link between a and ghost: task a depends on ghost but ghost wasn't present in Pipeline"
    );
    assert_eq!(
        text(Graph::build([("a", vec![""; 0]), ("a", vec![])]).unwrap_err()),
        "task a is already present in Graph, can't add it again: duplicate pipeline task"
    );
    let graph = Graph::build([("a", vec![]), ("b", vec!["a"])]).unwrap();
    assert_eq!(
        text(graph.candidates(["b", "x"]).unwrap_err()),
        "invalid list of done tasks; some tasks were indicated completed without ancestors being done: [b x]"
    );
}

#[test]
fn ten_thousand_tasks_in_a_chain_do_not_exhaust_the_stack() {
    let names: Vec<String> = (0..10_000).map(|n| format!("t{n}")).collect();
    let tasks = names
        .iter()
        .enumerate()
        .map(|(n, name)| (name.as_str(), n.checked_sub(1).map(|p| names[p].as_str())));
    let graph = Graph::build(tasks).unwrap();
    let mut frontier = graph.frontier();
    let mut ready = frontier.ready();
    let mut count = 0;
    while let Some(task) = ready.pop() {
        count += 1;
        ready.extend(frontier.complete(task));
    }
    assert_eq!(count, 10_000);
    assert!(frontier.is_finished());
    assert_eq!(graph.candidates(names.iter().take(5_000)).unwrap(), ["t5000"]);
}
