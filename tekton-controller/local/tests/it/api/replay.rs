//! One transcript against the service: requests, watches, saved values.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use http::{HeaderMap, Request};
use serde_json::{Value, json};
use tekton_local::cluster::Cluster;

use super::matching::{differences, lookup, rising, unordered};

pub(super) struct Replay {
    cluster: Cluster,
    token: &'static str,
    names: BTreeMap<String, Value>,
}

impl Replay {
    pub(super) fn new(cluster: Cluster, token: &'static str, index: usize) -> Self {
        let names = [("ns", format!("gk-{index}")), ("run", format!("r{index}"))];
        Self {
            cluster,
            token,
            names: names.map(|(key, value)| (key.to_owned(), value.into())).into(),
        }
    }

    pub(super) async fn play(mut self, case: &Value) -> Result<(), String> {
        let space = json!({"method": "POST", "path": "/api/v1/namespaces", "body": {"metadata": {"name": self.names["ns"]}}});
        drop(self.send(&space).await);
        self.steps(case["steps"].as_array().unwrap(), "step ").await
    }

    fn steps<'a>(&'a mut self, steps: &'a [Value], prefix: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            for (index, step) in steps.iter().enumerate() {
                let label = format!("{prefix}{}", index + 1);
                if let Some(watch) = step.get("watch") {
                    self.watch(watch, step, &label).await?;
                } else if step.get("sleep_s").is_none() {
                    // Sleeps are for the caches of a real server; there are none here.
                    self.request(step, &label).await?;
                }
            }
            Ok(())
        })
    }

    async fn request(&mut self, step: &Value, label: &str) -> Result<(), String> {
        let request = self.fill(&step["request"]);
        let (status, headers, body) = self.send(&request).await;
        let body = whole(body).await;
        let expect = self.fill(&step["expect"]);
        let mut out = Vec::new();
        if expect.get("status").is_some_and(|want| *want != status) {
            out.push(format!(
                "status: got {status}, want {}; body {body}",
                expect["status"]
            ));
        } else {
            if let Some(want) = expect.get("body") {
                differences(want, Some(&body), "body", &mut out);
            }
            for path in expect["absent"].as_array().into_iter().flatten() {
                if lookup(&body, path).is_some() {
                    out.push(format!("body {path}: present"));
                }
            }
            for (name, want) in expect["headers"].as_object().into_iter().flatten() {
                let got = headers
                    .get(name)
                    .map(|value| Value::from(value.to_str().unwrap()));
                match (want, got) {
                    (Value::Null, None) => {}
                    (Value::Null, Some(got)) => out.push(format!("header {name}: got {got}")),
                    (want, got) => differences(want, got.as_ref(), name, &mut out),
                }
            }
        }
        if !out.is_empty() {
            return Err(format!(
                "{label} {} {}\n  {}",
                request["method"],
                request["path"],
                out.join("\n  ")
            ));
        }
        for (name, path) in step["save"].as_object().into_iter().flatten() {
            let value = lookup(&body, path).ok_or_else(|| format!("{label}: nothing at {path}"))?;
            self.names.insert(name.clone(), value.clone());
        }
        Ok(())
    }

    async fn watch(&mut self, watch: &Value, step: &Value, label: &str) -> Result<(), String> {
        let spec = self.fill(watch);
        let request = json!({"method": "GET", "path": spec["path"], "headers": spec["headers"]});
        let (status, _, body) = self.send(&request).await;
        let inner = format!("{label}.");
        self.steps(step["while"].as_array().map_or(&[][..], Vec::as_slice), &inner)
            .await?;
        let spec = self.fill(watch);
        let expect = spec["expect"].as_array().unwrap();
        let ends = spec["ends"].as_bool() == Some(true);
        let count = spec["until_events"]
            .as_u64()
            .map_or(expect.len(), |count| count.try_into().unwrap());
        let mut out = Vec::new();
        if status != spec["status"].as_u64().unwrap_or(200) {
            let body = whole(body).await;
            match spec
                .get("or")
                .filter(|other| other["status"] == status)
                .or((status != 200).then_some(&spec))
            {
                Some(other) if other["status"] == status => {
                    differences(&other["body"], Some(&body), "body", &mut out);
                }
                _ => out.push(format!("status {status}: {body}")),
            }
        } else if status == 200 {
            let limit = Duration::from_secs(spec["timeout_s"].as_u64().unwrap_or(10));
            let mut lines = Lines {
                stream: body.into_data_stream(),
                buffer: Vec::new(),
            };
            let mut events = Vec::new();
            let read = async {
                while ends || events.len() < count {
                    match lines.next().await {
                        Some(event) => events.push(event),
                        None => return,
                    }
                }
            };
            if tokio::time::timeout(limit, read).await.is_err() {
                out.push("the stream went on".to_owned());
            }
            compare(&spec, expect, &events, &mut out);
        }
        if out.is_empty() {
            Ok(())
        } else {
            Err(format!("{label} WATCH {}\n  {}", spec["path"], out.join("\n  ")))
        }
    }

    async fn send(&self, request: &Value) -> (u64, HeaderMap, Body) {
        let mut headers: BTreeMap<String, Option<String>> = [
            ("accept", "application/json".to_owned()),
            ("user-agent", "kubeapi-cases".to_owned()),
            ("authorization", format!("Bearer {}", self.token)),
        ]
        .map(|(name, value)| (name.to_owned(), Some(value)))
        .into();
        let text = |name: &str| request.get(name).and_then(Value::as_str);
        let payload = if let Some(raw) = text("raw") {
            Some(raw.as_bytes().to_vec())
        } else if let Some(raw) = text("raw_base64") {
            Some(STANDARD.decode(raw).unwrap())
        } else {
            request.get("body").map(|body| serde_json::to_vec(body).unwrap())
        };
        if payload.is_some() {
            headers.insert("content-type".to_owned(), Some("application/json".to_owned()));
        }
        for (name, value) in request["headers"].as_object().into_iter().flatten() {
            headers.insert(name.to_lowercase(), value.as_str().map(str::to_owned));
        }
        let mut builder = Request::builder()
            .method(text("method").unwrap())
            .uri(text("path").unwrap());
        for (name, value) in headers
            .iter()
            .filter_map(|(name, value)| Some((name, value.as_ref()?)))
        {
            builder = builder.header(name, value);
        }
        let response = self
            .cluster
            .answer(builder.body(Body::from(payload.unwrap_or_default())).unwrap())
            .await;
        let (head, body) = response.into_parts();
        (head.status.as_u16().into(), head.headers, body)
    }

    /// Puts saved values into a template.
    fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.fill_text(text),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(map) => {
                if let Some(parts) = map.get("$merge") {
                    let mut base = self.names[parts[0].as_str().unwrap()].clone();
                    merge(&mut base, &self.fill(&parts[1]));
                    return base;
                }
                if let Some(parts) = map.get("$repeat") {
                    let count = usize::try_from(parts[1].as_u64().unwrap()).unwrap();
                    return parts[0].as_str().unwrap().repeat(count).into();
                }
                map.iter()
                    .map(|(key, value)| (plain(&self.fill_text(key)), self.fill(value)))
                    .collect()
            }
            other => other.clone(),
        }
    }

    fn fill_text(&self, text: &str) -> Value {
        let mut filled = text.to_owned();
        for (name, value) in &self.names {
            let mark = format!("{{{{{name}}}}}");
            if text == mark {
                return value.clone();
            }
            filled = filled.replace(&mark, &plain(value));
        }
        filled.into()
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn merge(target: &mut Value, patch: &Value) {
    let Some(fields) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in fields {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut target[key], value);
        }
    }
}

fn compare(spec: &Value, expect: &[Value], events: &[Value], out: &mut Vec<String>) {
    let exact = spec["exact"].as_bool() != Some(false);
    if (exact && events.len() != expect.len()) || events.len() < expect.len() {
        out.push(format!(
            "events: got {} ({}), want {}",
            events.len(),
            json!(events),
            expect.len()
        ));
        return;
    }
    let first = spec["unordered_first"]
        .as_u64()
        .map_or(0, |count| count.try_into().unwrap());
    if !unordered(&expect[..first], &events[..first]) {
        out.push("the first events differ".to_owned());
    }
    for (index, (want, got)) in expect.iter().zip(events).enumerate().skip(first) {
        differences(want, Some(got), &format!("events[{index}]"), out);
    }
    if spec["rising"].as_bool() == Some(true) && !rising(events) {
        out.push("the versions do not rise".to_owned());
    }
}

struct Lines {
    stream: BodyDataStream,
    buffer: Vec<u8>,
}

impl Lines {
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            self.buffer.extend(self.stream.next().await?.unwrap());
        }
    }
}

async fn whole(body: Body) -> Value {
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    serde_json::from_slice(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into())
}
