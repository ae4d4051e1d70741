//! The API over HTTP or HTTPS on a listener.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use super::Cluster;

/// Why the API cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No certificate could be made or read.
    #[error("certificate: {0}")]
    Certificate(String),
    /// The listener is unusable.
    #[error("listener: {0}")]
    Listener(#[from] io::Error),
}

/// A server certificate with the authority that signed it.
#[derive(Clone)]
pub struct Tls {
    /// The authority's certificate, as PEM, for clients.
    pub authority: String,
    acceptor: TlsAcceptor,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl Tls {
    /// A fresh authority and a certificate for the given names and addresses.
    pub fn generate(names: &[String]) -> Result<Self, ServeError> {
        let wrong = |why: String| ServeError::Certificate(why);
        let authority_key = rcgen::KeyPair::generate().map_err(|why| wrong(why.to_string()))?;
        let mut authority =
            rcgen::CertificateParams::new(Vec::new()).map_err(|why| wrong(why.to_string()))?;
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        authority
            .distinguished_name
            .push(rcgen::DnType::CommonName, "tekton-local");
        let authority_cert = authority
            .self_signed(&authority_key)
            .map_err(|why| wrong(why.to_string()))?;
        let issuer = rcgen::Issuer::new(authority, authority_key);
        let key = rcgen::KeyPair::generate().map_err(|why| wrong(why.to_string()))?;
        let mut server =
            rcgen::CertificateParams::new(names.to_vec()).map_err(|why| wrong(why.to_string()))?;
        server
            .distinguished_name
            .push(rcgen::DnType::CommonName, "kube-apiserver");
        let certificate = server
            .signed_by(&key, &issuer)
            .map_err(|why| wrong(why.to_string()))?;
        let private = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes())
            .map_err(|why| wrong(why.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|why| wrong(why.to_string()))?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .map_err(|why| wrong(why.to_string()))?;
        Ok(Self {
            authority: authority_cert.pem(),
            acceptor: TlsAcceptor::from(Arc::new(config)),
        })
    }
}

/// A running server; it stops when this is dropped.
#[derive(Debug)]
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Server {
    /// Waits for as long as the server runs.
    pub async fn join(&mut self) {
        // An error means that the task was aborted, which is an end, too.
        let _ended = (&mut self.task).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Cluster {
    /// Serves the API on a listener, over TLS when a certificate is given.
    pub fn serve(&self, listener: TcpListener, tls: Option<Tls>) -> Result<Server, ServeError> {
        let address = listener.local_addr()?;
        let task = tokio::spawn(accept(self.clone(), listener, tls));
        Ok(Server { address, task })
    }
}

async fn accept(cluster: Cluster, listener: TcpListener, tls: Option<Tls>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(cluster.clone(), stream, tls.clone()));
                }
                // Out of file descriptors, for example: give others time to close theirs.
                Err(why) => {
                    tracing::warn!(%why, "a connection was not accepted");
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(cluster: Cluster, stream: TcpStream, tls: Option<Tls>) {
    // Events of a watch are small and should leave at once.
    let _unsupported = stream.set_nodelay(true);
    match tls {
        None => exchange(cluster, TokioIo::new(stream)).await,
        Some(tls) => match tls.acceptor.accept(stream).await {
            Ok(stream) => exchange(cluster, TokioIo::new(stream)).await,
            Err(why) => tracing::debug!(%why, "TLS handshake failed"),
        },
    }
}

async fn exchange<T>(cluster: Cluster, io: T)
where
    T: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let cluster = cluster.clone();
        async move { Ok::<_, std::convert::Infallible>(cluster.answer(request).await) }
    });
    if let Err(why) = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(io, service)
        .await
    {
        tracing::debug!(%why, "connection ended");
    }
}
