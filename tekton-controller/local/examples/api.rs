//! Serves the API alone on a loopback address, for tests with outside clients.

use std::error::Error;

use tekton_local::cluster::{Cluster, ClusterOptions, Tls};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut options = ClusterOptions::default();
    let (mut listen, mut tls) = ("127.0.0.1:0".to_owned(), false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--listen" => listen = value()?,
            "--token" => options.token = Some(value()?),
            "--tls" => tls = true,
            "--crds" => {
                options.definitions.clear();
                for entry in std::fs::read_dir(value()?)? {
                    let text = std::fs::read_to_string(entry?.path())?;
                    options.definitions.extend(tekton_api::yaml::documents(&text)?);
                }
            }
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    let cluster = Cluster::new(options);
    let certificate = if tls {
        Some(Tls::generate(&["localhost".into(), "127.0.0.1".into()])?)
    } else {
        None
    };
    let mut server = cluster.serve(TcpListener::bind(&listen).await?, certificate)?;
    #[expect(clippy::print_stdout, reason = "the ready line that callers wait for")]
    {
        println!("ready {}", server.address);
    }
    server.join().await;
    Ok(())
}
