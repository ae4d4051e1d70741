//! What a pod can rely on.

use std::time::Duration;

use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::Api;
use kube::api::PostParams;
use serde_json::json;
use tekton_local::node::Isolation;

use crate::driver::{Case, World, end, is_running, phase, status, waiting};

macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        /// All cases.
        pub(crate) const ALL: &[(&str, Case)] = &[$((stringify!($name), |world| Box::pin($name(world)))),*];
    };
}

cases![
    runs_a_program,
    order_of_init_containers,
    environment,
    exit_codes,
    missing_programs,
    last_words,
    volumes,
    claims,
    ready_annotation,
    wait_file_chain,
    image_change_stops_a_sidecar,
    native_sidecars,
    deadline,
    graceful_deletion,
    forced_deletion,
    missing_config,
    scripts_see_their_paths,
    host_is_protected,
    nothing_survives_the_container,
    probes,
    restarts,
    unsupported_volume,
    identity,
    follow_log,
    startup_time,
    shutdown_kills,
    killed_node,
];

async fn runs_a_program(world: World) {
    let pod = world.complete("p", json!({"containers": [{"name": "main", "image": "x", "command": ["echo", "hello"], "args": ["you"]}]})).await;
    assert_eq!(phase(&pod), "Succeeded");
    let end = end(&pod, "main");
    assert_eq!((end.exit_code, end.reason.as_deref()), (0, Some("Completed")));
    assert!(end.started_at.unwrap() <= end.finished_at.unwrap());
    assert_eq!(world.log("p", "main").await, "hello you\n");
    let status = pod.status.unwrap();
    assert_eq!(status.pod_ip.as_deref(), Some("127.0.0.1"));
    assert_eq!(status.qos_class.as_deref(), Some("BestEffort"));
    assert_eq!(pod.spec.unwrap().node_name.as_deref(), Some("local"));
    world.finish().await;
}

async fn order_of_init_containers(world: World) {
    let step = |name: &str, text: &str| json!({"name": name, "image": "x", "command": ["sh", "-c", format!("echo {text} >> /data/log")], "volumeMounts": [{"name": "d", "mountPath": "/data"}]});
    let last = json!({"name": "main", "image": "x", "command": ["cat", "/data/log"], "volumeMounts": [{"name": "d", "mountPath": "/data", "readOnly": true}]});
    world.complete("p", json!({"volumes": [{"name": "d", "emptyDir": {}}], "initContainers": [step("a", "1"), step("b", "2"), step("c", "3")], "containers": [last]})).await;
    assert_eq!(world.log("p", "main").await, "1\n2\n3\n");
    let failing = json!({"initContainers": [{"name": "a", "image": "x", "command": ["false"]}, step("b", "2")], "volumes": [{"name": "d", "emptyDir": {}}], "containers": [step("main", "x")]});
    let pod = world.complete("q", failing).await;
    assert_eq!(phase(&pod), "Failed");
    assert_eq!(end(&pod, "a").exit_code, 1);
    assert_eq!(waiting(&pod, "main").unwrap().0, "PodInitializing");
    world.finish().await;
}

async fn environment(world: World) {
    world
        .config_map("m", json!({"K": "from-map", "OTHER": "o"}))
        .await;
    let container = json!({
        "args": ["$(GREETING)", "$(MISSING)", "$$(GREETING)"],
        "workingDir": "/workspace/deep/dir",
        "envFrom": [{"prefix": "M_", "configMapRef": {"name": "m"}}],
        "env": [{"name": "A", "value": "a"}, {"name": "GREETING", "value": "$(A)-$(M_K)"}, {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, {"name": "K", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "K"}}}],
    });
    let script = r#"echo "$GREETING $POD $K $M_OTHER $0 $1 $2 $HOSTNAME"; basename "$(pwd)"; test -n "$PATH" && test -n "$HOME" && test -w ."#;
    let (code, log) = world.shell("p", script, json!({"container": container})).await;
    assert_eq!(
        log,
        "a-from-map p from-map o a-from-map $(MISSING) $(GREETING) p\ndir\n"
    );
    assert_eq!(code, 0);
    world.finish().await;
}

async fn exit_codes(world: World) {
    for (name, script, want) in [("a", "exit 7", 7), ("b", "", 137), ("c", "exit 255", 255)] {
        // The first process of a namespace cannot kill itself: a child does it. (`$$` stands for `$`.)
        let script = if name == "b" {
            "sh -c 'kill -9 $$$$'; exit $?"
        } else {
            script
        };
        let (code, _) = world.shell(name, script, json!({})).await;
        assert_eq!(code, want, "{script}");
    }
    let pod = world.pods().get("a").await.unwrap();
    assert_eq!(
        (phase(&pod), end(&pod, "main").reason.as_deref()),
        ("Failed", Some("Error"))
    );
    world.finish().await;
}

async fn missing_programs(world: World) {
    let one = |container: serde_json::Value| json!({"containers": [container]});
    let message = async |name: &str, container| {
        let pod = world.complete(name, one(container)).await;
        let end = end(&pod, "main");
        assert_eq!(
            (phase(&pod), end.exit_code, end.reason.as_deref()),
            ("Failed", 128, Some("StartError"))
        );
        end.message.unwrap()
    };
    let head = "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: ";
    assert_eq!(
        message(
            "a",
            json!({"name": "main", "image": "x", "command": ["no-such-program"]})
        )
        .await,
        format!("{head}exec: \"no-such-program\": executable file not found in $PATH: unknown")
    );
    assert_eq!(
        message(
            "b",
            json!({"name": "main", "image": "x", "command": ["/no/such"]})
        )
        .await,
        format!("{head}exec: \"/no/such\": stat /no/such: no such file or directory: unknown")
    );
    assert_eq!(
        message(
            "c",
            json!({"name": "main", "image": "tekton.local/nop", "command": ["sh", "-c", "true"]})
        )
        .await,
        format!("{head}exec: \"sh\": executable file not found in $PATH: unknown")
    );
    assert!(
        message(
            "d",
            json!({"name": "main", "image": "x", "command": ["/etc/passwd"]})
        )
        .await
        .contains("permission denied")
    );
    let pod = world
        .complete("e", one(json!({"name": "main", "image": "tekton.local/nop"})))
        .await;
    assert_eq!(phase(&pod), "Succeeded");
    world.finish().await;
}

async fn last_words(world: World) {
    let message = async |name: &str, script: &str, container| {
        world.shell(name, script, json!({"container": container})).await;
        end(&world.pods().get(name).await.unwrap(), "main").message
    };
    assert_eq!(
        message(
            "a",
            "printf 'some words' > /tekton/termination",
            json!({"terminationMessagePath": "/tekton/termination"})
        )
        .await
        .as_deref(),
        Some("some words")
    );
    let long = message(
        "b",
        "head -c 5000 /dev/zero | tr '\\0' x > /tekton/termination",
        json!({"terminationMessagePath": "/tekton/termination"}),
    )
    .await;
    assert_eq!(long.map(|text| text.len()), Some(4096));
    if world.isolation != Isolation::None {
        assert_eq!(
            message("c", "echo default > /dev/termination-log", json!({}))
                .await
                .as_deref(),
            Some("default\n")
        );
    }
    assert_eq!(
        message(
            "d",
            "echo from-log; exit 1",
            json!({"terminationMessagePolicy": "FallbackToLogsOnError"})
        )
        .await
        .as_deref(),
        Some("from-log\n")
    );
    assert_eq!(
        message(
            "e",
            "echo from-log",
            json!({"terminationMessagePolicy": "FallbackToLogsOnError"})
        )
        .await,
        None
    );
    world.finish().await;
}

async fn volumes(world: World) {
    world.config_map("m", json!({"k": "text", "z": "other"})).await;
    let host = tempfile::tempdir().unwrap();
    std::fs::write(host.path().join("h"), "from host").unwrap();
    let volumes = json!([
        {"name": "e", "emptyDir": {}}, {"name": "m", "configMap": {"name": "m", "items": [{"key": "k", "path": "dir/file", "mode": 0o555}]}},
        {"name": "h", "hostPath": {"path": host.path(), "type": "Directory"}},
        {"name": "p", "projected": {"sources": [{"serviceAccountToken": {"path": "token", "audience": "me"}}, {"configMap": {"name": "m"}}, {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}}]}},
    ]);
    let mounts = json!([
        {"name": "e", "mountPath": "/workspace/e"}, {"name": "e", "mountPath": "/workspace/sub", "subPath": "below/it"}, {"name": "m", "mountPath": "/etc/tekton-test"},
        {"name": "h", "mountPath": "/mnt/from-host"}, {"name": "p", "mountPath": "/var/run/projected"}, {"name": "e", "mountPath": "/workspace/e/nested", "subPath": "nested"},
    ]);
    let script = "cat /etc/tekton-test/dir/file /mnt/from-host/h /var/run/projected/name /var/run/projected/z; echo; \
        test -s /var/run/projected/token && test -x /etc/tekton-test/dir/file && echo x > /workspace/sub/f && cat /workspace/e/below/it/f && echo y > /workspace/e/nested/g && cat /workspace/e/nested/g && \
        echo z > /mnt/from-host/written && ls /workspace";
    let (code, log) = world
        .shell(
            "p",
            script,
            json!({"volumes": volumes, "container": {"volumeMounts": mounts}}),
        )
        .await;
    if world.isolation == Isolation::None {
        assert!(log.starts_with("textfrom hostpother\nx\ny\n"), "{log}");
    } else {
        assert_eq!(log, "textfrom hostpother\nx\ny\ne\nsub\n");
    }
    assert_eq!(code, 0);
    assert_eq!(
        std::fs::read_to_string(host.path().join("written")).unwrap(),
        "z\n"
    );
    let read_only = json!({"volumes": [{"name": "e", "emptyDir": {}}], "container": {"volumeMounts": [{"name": "e", "mountPath": "/data", "readOnly": true}]}});
    let (code, _) = world.shell("q", "echo x > /data/f", read_only).await;
    assert_eq!(code != 0, world.isolation != Isolation::None);
    world.finish().await;
}

async fn claims(world: World) {
    let claim: PersistentVolumeClaim = serde_json::from_value(json!({"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})).unwrap();
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(world.client.clone(), "default");
    claims.create(&PostParams::default(), &claim).await.unwrap();
    let pod = json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}], "container": {"volumeMounts": [{"name": "v", "mountPath": "/workspace/shared"}]}});
    assert_eq!(
        world
            .shell("a", "echo kept > /workspace/shared/f", pod.clone())
            .await
            .0,
        0
    );
    assert_eq!(
        world.shell("b", "cat /workspace/shared/f", pod).await,
        (0, "kept\n".to_owned())
    );
    world.finish().await;
}

async fn ready_annotation(world: World) {
    let spec = json!({
        "volumes": [{"name": "d", "downwardAPI": {"items": [{"path": "ready", "fieldRef": {"fieldPath": "metadata.annotations['tekton.dev/ready']"}}]}}],
        "containers": [{"name": "main", "image": "x", "command": ["sh", "-c", "while ! test -s /tekton/downward/ready; do sleep 0.01; done; cat /tekton/downward/ready"], "volumeMounts": [{"name": "d", "mountPath": "/tekton/downward"}]}],
    });
    world.create("p", spec).await;
    world.until("p", |pod| is_running(pod, "main")).await;
    world
        .patch(
            "p",
            json!({"metadata": {"annotations": {"tekton.dev/ready": "READY"}}}),
        )
        .await;
    world.until("p", |pod| phase(pod) == "Succeeded").await;
    assert_eq!(world.log("p", "main").await, "READY");
    world.finish().await;
}

async fn wait_file_chain(world: World) {
    let step = |name: &str, wait: &str, post: &str| json!({"name": name, "image": "x", "command": ["sh", "-c", format!("while ! test -e {wait}; do sleep 0.01; done; echo {name} >> /tekton/run/log; touch {post}")], "volumeMounts": [{"name": "r", "mountPath": "/tekton/run"}]});
    let spec = json!({"volumes": [{"name": "r", "emptyDir": {}}], "initContainers": [{"name": "i", "image": "x", "command": ["touch", "/tekton/run/0"], "volumeMounts": [{"name": "r", "mountPath": "/tekton/run"}]}],
        "containers": [step("c", "/tekton/run/2", "/tekton/run/3"), step("b", "/tekton/run/1", "/tekton/run/2"), step("a", "/tekton/run/0", "/tekton/run/1"),
            {"name": "last", "image": "x", "command": ["sh", "-c", "while ! test -e /tekton/run/3; do sleep 0.01; done; cat /tekton/run/log"], "volumeMounts": [{"name": "r", "mountPath": "/tekton/run"}]}]});
    world.complete("p", spec).await;
    assert_eq!(world.log("p", "last").await, "a\nb\nc\n");
    world.finish().await;
}

async fn image_change_stops_a_sidecar(world: World) {
    let spec = json!({"containers": [{"name": "main", "image": "x", "command": ["true"]}, {"name": "sidecar", "image": "y", "command": ["sleep", "1000"]}]});
    world.create("p", spec).await;
    world
        .until("p", |pod| {
            is_running(pod, "sidecar")
                && status(pod, "main").is_some_and(|s| s.state.as_ref().unwrap().terminated.is_some())
        })
        .await;
    world
        .patch(
            "p",
            json!({"spec": {"containers": [{"name": "sidecar", "image": "tekton.local/nop"}]}}),
        )
        .await;
    let pod = world
        .until("p", |pod| matches!(phase(pod), "Succeeded" | "Failed"))
        .await;
    let sidecar = status(&pod, "sidecar").unwrap();
    assert_eq!(
        (sidecar.restart_count, sidecar.image.as_str()),
        (1, "tekton.local/nop")
    );
    assert_eq!(end(&pod, "sidecar").reason.as_deref(), Some("StartError"));
    assert_eq!(
        sidecar
            .last_state
            .as_ref()
            .unwrap()
            .terminated
            .as_ref()
            .unwrap()
            .exit_code,
        137
    );
    assert_eq!(end(&pod, "main").exit_code, 0);
    world.finish().await;
}

async fn native_sidecars(world: World) {
    let mount = json!([{"name": "d", "mountPath": "/data"}]);
    let spec = json!({"volumes": [{"name": "d", "emptyDir": {}}],
        "initContainers": [
            {"name": "side", "image": "x", "restartPolicy": "Always", "command": ["sh", "-c", "trap 'echo end > /data/end; exit 0' TERM; touch /data/up; while true; do sleep 0.01; done"], "volumeMounts": mount,
             "startupProbe": {"exec": {"command": ["test", "-e", "/data/up"]}, "periodSeconds": 1}},
            {"name": "after", "image": "x", "command": ["test", "-e", "/data/up"], "volumeMounts": mount}],
        "containers": [{"name": "main", "image": "x", "command": ["test", "-e", "/data/up"], "volumeMounts": mount}]});
    let pod = world.complete("p", spec).await;
    assert_eq!(phase(&pod), "Succeeded");
    assert_eq!(
        (
            end(&pod, "after").exit_code,
            end(&pod, "main").exit_code,
            end(&pod, "side").exit_code
        ),
        (0, 0, 0)
    );
    world.finish().await;
}

async fn deadline(world: World) {
    let pod = world.complete("p", json!({"activeDeadlineSeconds": 1, "containers": [{"name": "main", "image": "x", "command": ["sleep", "1000"]}]})).await;
    assert_eq!(phase(&pod), "Failed");
    assert_eq!(end(&pod, "main").exit_code, 137);
    let status = pod.status.unwrap();
    assert_eq!(status.reason.as_deref(), Some("DeadlineExceeded"));
    assert_eq!(
        status.message.as_deref(),
        Some("Pod was active on the node longer than the specified deadline")
    );
    world.finish().await;
}

async fn graceful_deletion(world: World) {
    let script = "trap 'echo bye > /mnt/out/f; exit 0' TERM; echo up; while true; do sleep 0.01; done";
    let out = tempfile::tempdir().unwrap();
    let spec = json!({"volumes": [{"name": "o", "hostPath": {"path": out.path()}}],
        "containers": [{"name": "main", "image": "x", "command": ["sh", "-c", script], "volumeMounts": [{"name": "o", "mountPath": "/mnt/out"}]}]});
    world.create("p", spec).await;
    world.until("p", |pod| is_running(pod, "main")).await;
    wait_for_output(&world, "p").await;
    world.delete("p", 20).await;
    world.until_gone("p").await;
    assert_eq!(std::fs::read_to_string(out.path().join("f")).unwrap(), "bye\n");
    world.finish().await;
}

/// Waits until the container has written something.
async fn wait_for_output(world: &World, pod: &str) {
    use futures::StreamExt as _;
    let query = tekton_local::node::LogQuery {
        follow: true,
        ..Default::default()
    };
    let mut log = Box::pin(world.node.logs().read("default", pod, "main", query).unwrap());
    log.next().await.unwrap().unwrap();
}

async fn forced_deletion(world: World) {
    world
        .create(
            "p",
            json!({"containers": [{"name": "main", "image": "x", "command": ["sleep", "1000"]}]}),
        )
        .await;
    world.until("p", |pod| is_running(pod, "main")).await;
    world.delete("p", 0).await;
    world.until_gone("p").await;
    world.finish().await;
}

async fn missing_config(world: World) {
    let spec = json!({"containers": [{"name": "main", "image": "x", "command": ["sh", "-c", "echo $V"], "env": [{"name": "V", "valueFrom": {"configMapKeyRef": {"name": "later", "key": "k"}}}]}]});
    world.create("p", spec).await;
    let pod = world
        .until("p", |pod| {
            waiting(pod, "main").is_some_and(|(reason, _)| reason == "CreateContainerConfigError")
        })
        .await;
    assert_eq!(
        (waiting(&pod, "main").unwrap().1.as_str(), phase(&pod)),
        ("configmap \"later\" not found", "Pending")
    );
    let volume = json!({"volumes": [{"name": "v", "configMap": {"name": "later"}}], "containers": [{"name": "main", "image": "x", "command": ["cat", "/v/k"], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]});
    world.create("q", volume).await;
    world
        .until("q", |pod| {
            waiting(pod, "main").is_some_and(|(reason, _)| reason == "ContainerCreating")
        })
        .await;
    world.config_map("later", json!({"k": "here"})).await;
    for pod in ["p", "q"] {
        world.until(pod, |pod| phase(pod) == "Succeeded").await;
        assert_eq!(world.log(pod, "main").await.trim(), "here");
    }
    world.finish().await;
}

async fn scripts_see_their_paths(world: World) {
    let mounts = json!([{"name": "s", "mountPath": "/tekton/scripts"}, {"name": "w", "mountPath": "/workspace/source"}, {"name": "t", "mountPath": "/tekton/results"}]);
    let script = "#!/bin/sh\nset -e\necho data > /workspace/source/file\ncat \"/workspace/source/file\" > /tekton/results/r\ncd /workspace/source && ls\ncat /tekton/results/r\nls /workspace\n";
    let encoded = script.replace('\n', "\\n");
    let place = format!("f=/tekton/scripts/script-0; printf '{encoded}' > $f; chmod +x $f");
    let spec = json!({"volumes": [{"name": "s", "emptyDir": {}}, {"name": "w", "emptyDir": {}}, {"name": "t", "emptyDir": {}}],
        "initContainers": [{"name": "place-scripts", "image": "x", "command": ["sh"], "args": ["-c", place], "volumeMounts": mounts}],
        "containers": [{"name": "main", "image": "x", "command": ["/tekton/scripts/script-0"], "volumeMounts": mounts}]});
    let pod = world.complete("p", spec).await;
    assert_eq!(
        (end(&pod, "main").exit_code, world.log("p", "main").await.as_str()),
        (0, "file\ndata\nsource\n")
    );
    world.finish().await;
}

async fn host_is_protected(world: World) {
    if world.isolation == Isolation::None {
        return world.finish().await;
    }
    let script = "echo x > /tmp/tekton-node-test; echo x > /var/tekton-node-test || true; echo x > /tekton-node-test; test -e /dev/null && ! test -e /dev/kmsg && test $$$$ = 1 && ls / > /dev/null && test -e /proc/1/exe && cat /tekton-node-test";
    assert_eq!(world.shell("p", script, json!({})).await, (0, "x\n".to_owned()));
    for path in [
        "/tmp/tekton-node-test",
        "/var/tekton-node-test",
        "/tekton-node-test",
    ] {
        assert!(!std::path::Path::new(path).exists(), "{path}");
    }
    world.finish().await;
}

async fn nothing_survives_the_container(world: World) {
    let tag = format!("survivor-{}-{}", world.isolation, std::process::id());
    let script = format!("(setsid sh -c 'sleep 1000; : {tag}' &) ; sh -c 'sleep 1000; : {tag}' & exit 3");
    let (code, _) = world.shell("p", &script, json!({})).await;
    assert_eq!(code, 3);
    assert_eq!(crate::driver::mentions(&tag), 0);
    world.finish().await;
}

async fn probes(world: World) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let spec = json!({"containers": [{"name": "main", "image": "x", "command": ["sleep", "1000"], "readinessProbe": {"tcpSocket": {"port": port}, "periodSeconds": 1}},
        {"name": "never", "image": "x", "command": ["sleep", "1000"], "readinessProbe": {"exec": {"command": ["false"]}, "periodSeconds": 1}},
        {"name": "sick", "image": "x", "command": ["sleep", "1000"], "livenessProbe": {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 2}}]});
    world.create("p", spec).await;
    let pod = world
        .until("p", |pod| {
            status(pod, "main").is_some_and(|s| s.ready)
                && status(pod, "sick").is_some_and(|s| s.state.as_ref().unwrap().terminated.is_some())
        })
        .await;
    assert!(!status(&pod, "never").unwrap().ready && status(&pod, "never").unwrap().started.unwrap());
    assert_eq!(end(&pod, "sick").exit_code, 137);
    world.finish().await;
}

async fn restarts(world: World) {
    let spec = json!({"restartPolicy": "OnFailure", "containers": [{"name": "main", "image": "x", "command": ["false"]}]});
    world.create("p", spec).await;
    let pod = world
        .until("p", |pod| {
            waiting(pod, "main").is_some_and(|(reason, _)| reason == "CrashLoopBackOff")
        })
        .await;
    assert_eq!(
        (status(&pod, "main").unwrap().restart_count, phase(&pod)),
        (1, "Running")
    );
    world.finish().await;
}

async fn unsupported_volume(world: World) {
    world.create("p", json!({"volumes": [{"name": "v", "csi": {"driver": "x.y.z"}}], "containers": [{"name": "main", "image": "x", "command": ["true"]}]})).await;
    let events: Api<k8s_openapi::api::core::v1::Event> = Api::namespaced(world.client.clone(), "default");
    let found = tokio::time::timeout(Duration::from_secs(20), async {
        use futures::TryStreamExt as _;
        let mut stream = Box::pin(
            events
                .watch(&kube::api::WatchParams::default(), "0")
                .await
                .unwrap(),
        );
        while let Some(event) = stream.try_next().await.unwrap() {
            if let kube::api::WatchEvent::Added(event) = event {
                return event.message.unwrap();
            }
        }
        String::new()
    });
    assert_eq!(
        found.await.unwrap(),
        "MountVolume.SetUp failed for volume \"v\" : CSI driver x.y.z is not available on this node: volumes of kind csi are not supported"
    );
    world.finish().await;
}

async fn identity(world: World) {
    let (code, log) = world
        .shell(
            "p",
            "id -u; id -g",
            json!({"container": {"securityContext": {"runAsUser": 1234, "runAsGroup": 567}}}),
        )
        .await;
    assert_eq!(code, 0);
    if nix::unistd::Uid::effective().is_root() && world.isolation != Isolation::Userns {
        assert_eq!(log, "1234\n567\n");
    }
    world.finish().await;
}

async fn follow_log(world: World) {
    use futures::AsyncReadExt as _;
    world.create("p", json!({"containers": [{"name": "main", "image": "x", "command": ["sh", "-c", "echo one; echo two >&2; printf three"]}]})).await;
    world.until("p", |pod| phase(pod) == "Succeeded").await;
    let params = kube::api::LogParams {
        follow: true,
        container: Some("main".into()),
        ..Default::default()
    };
    let mut stream = Box::pin(world.pods().log_stream("p", &params).await.unwrap());
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert!(
        text.contains("one\n") && text.contains("two\n") && text.contains("three"),
        "{text}"
    );
    world.finish().await;
}

async fn startup_time(world: World) {
    world
        .complete(
            "warm",
            json!({"containers": [{"name": "main", "image": "x", "command": ["true"]}]}),
        )
        .await;
    let begin = std::time::Instant::now();
    world.complete("p", json!({"initContainers": [{"name": "i", "image": "x", "command": ["true"]}], "containers": [{"name": "main", "image": "x", "command": ["true"]}]})).await;
    eprintln!(
        "{}: a pod with two containers took {:?}",
        world.isolation,
        begin.elapsed()
    );
    assert!(begin.elapsed() < Duration::from_secs(10));
    world.finish().await;
}

async fn shutdown_kills(world: World) {
    world.create("p", json!({"containers": [{"name": "main", "image": "x", "command": ["sh", "-c", "trap '' TERM; while true; do sleep 1; done"]}]})).await;
    world.until("p", |pod| is_running(pod, "main")).await;
    world.finish().await;
}

/// Variable that makes the test program run a node in the directory it names, until it is killed.
pub(crate) const VICTIM: &str = "TEKTON_NODE_TEST_VICTIM";
const VICTIM_ISOLATION: &str = "TEKTON_NODE_TEST_ISOLATION";

/// Runs a pod and says so.
pub(crate) fn be_a_victim(base: &std::path::Path) -> ! {
    let isolation = std::env::var(VICTIM_ISOLATION).unwrap().parse().unwrap();
    let base = base.to_owned();
    crate::driver::run_in(isolation, &base, |world| {
        Box::pin(async move {
            let tag = world.base.file_name().unwrap().to_string_lossy().into_owned();
            let script = format!("(setsid sh -c 'sleep 1000; : {tag}' &) ; echo up; sleep 1000; : {tag}");
            world
                .create(
                    "p",
                    json!({"containers": [{"name": "main", "image": "x", "command": ["sh", "-c", script]}]}),
                )
                .await;
            world.until("p", |pod| is_running(pod, "main")).await;
            wait_for_output(&world, "p").await;
            println!("up");
            std::future::pending::<()>().await;
        })
    });
    unreachable!("a victim waits to be killed")
}

async fn killed_node(world: World) {
    use std::io::BufRead as _;
    let base = tempfile::Builder::new()
        .prefix("victim-")
        .tempdir_in(&world.base)
        .unwrap();
    let tag = base.path().file_name().unwrap().to_string_lossy().into_owned();
    let mut victim = std::process::Command::new(std::env::current_exe().unwrap())
        .env(VICTIM, base.path())
        .env(VICTIM_ISOLATION, world.isolation.as_str())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(victim.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "up");
    assert!(crate::driver::mentions(&tag) >= 2);
    victim.kill().unwrap();
    victim.wait().unwrap();
    let top = || {
        std::fs::read_dir(base.path())
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path()
    };
    assert_eq!(
        std::fs::read_dir(top()).unwrap().count(),
        1,
        "a killed node leaves its directory"
    );
    let next = tekton_local::node::StateDir::create(Some(base.path())).unwrap();
    assert_eq!(
        std::fs::read_dir(top()).unwrap().count(),
        1,
        "only the new directory is there"
    );
    // Processes end a moment after they were killed.
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while crate::driver::mentions(&tag) > 0 {
        assert!(std::time::Instant::now() < deadline, "processes are left");
        tokio::task::yield_now().await;
    }
    drop(next);
    base.close().unwrap();
    world.finish().await;
}
