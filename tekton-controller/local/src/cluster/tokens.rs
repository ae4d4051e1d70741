//! Tokens of service accounts: signed statements in the shape of a JWT.
//!
//! They need not be stored: the signature, made with a secret of this process, proves them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

fn signature(secret: &[u8], text: &str) -> String {
    // Two rounds, so that a longer text cannot be signed by going on from a known signature.
    let inner = Sha256::new().chain_update(secret).chain_update(text).finalize();
    let outer = Sha256::new().chain_update(secret).chain_update(inner).finalize();
    URL_SAFE_NO_PAD.encode(outer)
}

/// A token for a service account.
pub(crate) fn issue(
    secret: &[u8],
    namespace: &str,
    name: &str,
    audiences: &[String],
    seconds: i64,
) -> String {
    let now = jiff::Timestamp::now().as_second();
    let head = URL_SAFE_NO_PAD.encode(json!({"alg": "TL256", "typ": "JWT"}).to_string());
    let claims = json!({
        "aud": audiences, "iat": now, "nbf": now, "exp": now.saturating_add(seconds), "iss": "https://kubernetes.default.svc",
        "jti": uuid::Uuid::new_v4().to_string(), "sub": format!("system:serviceaccount:{namespace}:{name}"),
        "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": name}},
    });
    let text = format!("{head}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
    format!("{text}.{}", signature(secret, &text))
}

/// The user behind a token, if it is genuine and not expired.
pub(crate) fn verify(secret: &[u8], token: &str) -> Option<String> {
    let (text, given) = token.rsplit_once('.')?;
    if !same(given, &signature(secret, text)) {
        return None;
    }
    let (_, claims) = text.split_once('.')?;
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    let expires = claims.get("exp").and_then(Value::as_i64)?;
    (expires > jiff::Timestamp::now().as_second())
        .then(|| claims.get("sub").and_then(Value::as_str).map(str::to_owned))?
}

/// Compares in a time that does not depend on where the texts differ.
pub(crate) fn same(one: &str, other: &str) -> bool {
    let (one, other) = (Sha256::digest(one), Sha256::digest(other));
    one.iter()
        .zip(other.iter())
        .fold(0, |difference, (a, b)| difference | (a ^ b))
        == 0
}
