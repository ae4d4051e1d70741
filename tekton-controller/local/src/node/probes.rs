//! Start-up, readiness and liveness probes of a running container.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Container, HTTPGetAction, Probe};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::run::{Execs, Happening};

/// What is probed and how often.
#[derive(Clone, Debug)]
struct Check {
    action: Action,
    delay: Duration,
    period: Duration,
    timeout: Duration,
    failures: u32,
    successes: u32,
}

#[derive(Clone, Debug)]
enum Action {
    /// A program in the container ends well.
    Exec(Vec<String>),
    /// A server answers with a good status.
    Http { address: String, request: String },
    /// A port can be connected to.
    Connect { address: String },
}

/// The probes of a container.
#[derive(Clone, Debug)]
pub(super) struct Probes {
    startup: Option<Check>,
    readiness: Option<Check>,
    liveness: Option<Check>,
}

impl Probes {
    /// Reads the probes of a container; `words` replaces paths in the commands.
    pub(super) fn of(container: &Container, address: &str, words: &dyn Fn(&[String]) -> Vec<String>) -> Self {
        let check = |probe: &Option<Probe>| {
            probe
                .as_ref()
                .and_then(|probe| check(probe, container, address, words))
        };
        Self {
            startup: check(&container.startup_probe),
            readiness: check(&container.readiness_probe),
            liveness: check(&container.liveness_probe),
        }
    }

    /// Whether nothing is probed.
    pub(super) fn is_empty(&self) -> bool {
        self.startup.is_none() && self.readiness.is_none() && self.liveness.is_none()
    }

    /// Probes until dropped.
    pub(super) async fn watch(self, execs: Execs, tell: impl Fn(Happening) + Send + Sync) {
        if let Some(startup) = &self.startup {
            sleep(startup.delay).await;
            let mut failed = 0;
            while !startup.passes(&execs).await {
                failed += 1;
                if failed >= startup.failures {
                    tell(Happening::Unhealthy);
                    return;
                }
                sleep(startup.period).await;
            }
        }
        tell(Happening::Up);
        let ready = async {
            match &self.readiness {
                None => tell(Happening::Ready(true)),
                Some(readiness) => {
                    readiness
                        .follow(&execs, |ready| tell(Happening::Ready(ready)))
                        .await;
                }
            }
        };
        let alive = async {
            if let Some(liveness) = &self.liveness {
                liveness
                    .follow(&execs, |alive| {
                        if !alive {
                            tell(Happening::Unhealthy);
                        }
                    })
                    .await;
            }
        };
        tokio::join!(ready, alive);
    }
}

fn check(
    probe: &Probe,
    container: &Container,
    address: &str,
    words: &dyn Fn(&[String]) -> Vec<String>,
) -> Option<Check> {
    let seconds = |value: Option<i32>, default: u64| {
        Duration::from_secs(
            value
                .and_then(|v| u64::try_from(v).ok())
                .filter(|v| *v > 0)
                .unwrap_or(default),
        )
    };
    let count = |value: Option<i32>, default: u32| {
        value
            .and_then(|v| u32::try_from(v).ok())
            .filter(|v| *v > 0)
            .unwrap_or(default)
    };
    let action = if let Some(exec) = &probe.exec {
        Action::Exec(words(exec.command.as_deref().unwrap_or_default()))
    } else if let Some(http) = &probe.http_get {
        http_action(http, container, address)?
    } else if let Some(tcp) = &probe.tcp_socket {
        let host = tcp
            .host
            .as_deref()
            .filter(|host| !host.is_empty())
            .unwrap_or(address);
        Action::Connect {
            address: format!("{host}:{}", port(&tcp.port, container)?),
        }
    } else {
        Action::Connect {
            address: format!("{address}:{}", probe.grpc.as_ref()?.port),
        }
    };
    Some(Check {
        action,
        delay: seconds(probe.initial_delay_seconds, 0),
        period: seconds(probe.period_seconds, 10),
        timeout: seconds(probe.timeout_seconds, 1),
        failures: count(probe.failure_threshold, 3),
        successes: count(probe.success_threshold, 1),
    })
}

fn http_action(http: &HTTPGetAction, container: &Container, address: &str) -> Option<Action> {
    let host = http
        .host
        .as_deref()
        .filter(|host| !host.is_empty())
        .unwrap_or(address);
    let address = format!("{host}:{}", port(&http.port, container)?);
    if http.scheme.as_deref() == Some("HTTPS") {
        // The kubelet does not verify the certificate either; whether somebody listens is what remains.
        return Some(Action::Connect { address });
    }
    let path = http
        .path
        .as_deref()
        .filter(|path| !path.is_empty())
        .unwrap_or("/");
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut request = format!(
        "GET {slash}{path} HTTP/1.1\r\nConnection: close\r\nUser-Agent: kube-probe/1.34\r\nAccept: */*\r\n"
    );
    let headers = http.http_headers.as_deref().unwrap_or_default();
    if !headers
        .iter()
        .any(|header| header.name.eq_ignore_ascii_case("host"))
    {
        request.push_str(&format!("Host: {address}\r\n"));
    }
    for header in headers {
        request.push_str(&format!("{}: {}\r\n", header.name, header.value));
    }
    request.push_str("\r\n");
    Some(Action::Http { address, request })
}

fn port(wanted: &IntOrString, container: &Container) -> Option<i32> {
    match wanted {
        IntOrString::Int(number) => Some(*number),
        IntOrString::String(name) => {
            let named = container
                .ports
                .iter()
                .flatten()
                .find(|port| port.name.as_deref() == Some(name))
                .map(|port| port.container_port);
            named.or_else(|| name.parse().ok())
        }
    }
}

impl Check {
    async fn passes(&self, execs: &Execs) -> bool {
        timeout(self.timeout, self.action.passes(execs))
            .await
            .unwrap_or(false)
    }

    /// Probes for ever, and tells each time the answer has changed for good.
    async fn follow(&self, execs: &Execs, tell: impl Fn(bool)) {
        sleep(self.delay).await;
        let (mut last, mut count, mut told) = (false, 0, None);
        loop {
            let passes = self.passes(execs).await;
            count = if passes == last { count + 1 } else { 1 };
            last = passes;
            let enough = if passes { self.successes } else { self.failures };
            if count >= enough && told != Some(passes) {
                told = Some(passes);
                tell(passes);
            }
            sleep(self.period).await;
        }
    }
}

impl Action {
    async fn passes(&self, execs: &Execs) -> bool {
        match self {
            Self::Exec(argv) => execs.run(argv.clone()).await == Some(0),
            Self::Connect { address } => TcpStream::connect(address).await.is_ok(),
            Self::Http { address, request } => http_status(address, request)
                .await
                .is_some_and(|status| (200..400).contains(&status)),
        }
    }
}

async fn http_status(address: &str, request: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    // Only the first line matters: `HTTP/1.1 200 OK`.
    while !answer.contains(&b'\n') && answer.len() < 4096 {
        if stream.read_buf(&mut answer).await.ok()? == 0 {
            break;
        }
    }
    std::str::from_utf8(answer.split(|byte| *byte == b'\r').next()?)
        .ok()?
        .split(' ')
        .nth(1)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn http_probes() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = vec![0; 1024];
                let count = stream.read(&mut request).await.unwrap();
                let good = request[..count].starts_with(b"GET /good HTTP/1.1\r\n");
                let answer: &[u8] = if good {
                    b"HTTP/1.1 204 No Content\r\n\r\n"
                } else {
                    b"HTTP/1.1 500 No\r\n\r\n"
                };
                stream.write_all(answer).await.unwrap();
            }
        });
        let status = async |path: &str| {
            let container: Container = serde_json::from_value(
                json!({"name": "c", "ports": [{"name": "web", "containerPort": port}]}),
            )
            .unwrap();
            let http = serde_json::from_value(json!({"port": "web", "path": path})).unwrap();
            match http_action(&http, &container, "127.0.0.1").unwrap() {
                Action::Http { address, request } => http_status(&address, &request).await,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(status("good").await, Some(204));
        assert_eq!(status("/bad").await, Some(500));
        assert_eq!(http_status("127.0.0.1:1", "GET / HTTP/1.1\r\n\r\n").await, None);
    }
}
