//! Building graphs of tasks, and finding the next tasks to run.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tekton_dag::Graph;

type Tasks = Vec<(String, Vec<String>)>;

/// Each task waits for the one before.
fn chain(count: usize) -> Tasks {
    (0..count)
        .map(|n| (name(n), n.checked_sub(1).map(name).into_iter().collect()))
        .collect()
}

/// All tasks wait for the first.
fn fan_out(count: usize) -> Tasks {
    (0..count)
        .map(|n| (name(n), (n > 0).then(|| name(0)).into_iter().collect()))
        .collect()
}

/// Layers of ten, each task waiting for the whole layer before.
fn layered(count: usize) -> Tasks {
    let parents = |n: usize| {
        let layer = n / 10 * 10;
        (layer.saturating_sub(10)..layer).map(name).collect()
    };
    (0..count).map(|n| (name(n), parents(n))).collect()
}

fn name(number: usize) -> String {
    format!("task-{number:05}")
}

fn graphs(criterion: &mut Criterion) {
    for (shape, make) in [
        ("chain", chain as fn(usize) -> Tasks),
        ("fan-out", fan_out),
        ("layered", layered),
    ] {
        for count in [10, 100, 1_000, 10_000] {
            let tasks = make(count);
            criterion.bench_with_input(
                BenchmarkId::new(format!("build/{shape}"), count),
                &tasks,
                |bench, tasks| {
                    let borrowed: Vec<(&str, &[String])> =
                        tasks.iter().map(|(n, p)| (n.as_str(), p.as_slice())).collect();
                    bench.iter(|| Graph::build(black_box(borrowed.iter().copied())));
                },
            );
            let graph = Graph::build(tasks.iter().map(|(n, p)| (n.as_str(), p))).expect("a graph");
            let done: Vec<String> = graph
                .layers()
                .concat()
                .into_iter()
                .take(count / 2)
                .map(str::to_owned)
                .collect();
            criterion.bench_with_input(
                BenchmarkId::new(format!("candidates/{shape}"), count),
                &done,
                |bench, done| {
                    bench.iter(|| graph.candidates(black_box(done)).map(|found| found.len()));
                },
            );
            criterion.bench_with_input(
                BenchmarkId::new(format!("step-by-step/{shape}"), count),
                &graph,
                |bench, graph| {
                    bench.iter(|| {
                        let mut frontier = graph.frontier();
                        let mut ready = frontier.ready();
                        while let Some(task) = ready.pop() {
                            ready.extend(frontier.complete(task));
                        }
                        frontier.is_finished()
                    });
                },
            );
        }
    }
}

criterion_group!(benches, graphs);
criterion_main!(benches);
