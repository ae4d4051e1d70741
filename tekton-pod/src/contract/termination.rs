//! Termination messages: how the entries of a step become at most 4096 bytes of text, and back.
//!
//! A message is a JSON list, or that list deflated and in base64 behind `tknz:`. Writing appends to what is
//! there; reading keeps the last entry of each key and sorts by key. The reading and writing of the file
//! itself is left to the entrypoint. Upstream counterpart: `pkg/termination`.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flate2::Compression as Level;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde_json::Value;
use thiserror::Error;

use super::json;
use super::result::RunResult;

/// No message may be longer, in bytes.
pub const MAX_LENGTH: usize = 4096;
/// No decompressed message may be longer, in bytes.
pub const MAX_DECOMPRESSED: u64 = 128 * 1024;
/// How a compressed message begins.
pub const COMPRESSED_PREFIX: &str = "tknz:";

/// How much of a broken message an error shows.
const EXCERPT: usize = 256;

/// Unpadded base64 as Go reads it: bits behind the last byte do not matter.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// Whether a message may be compressed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Compression {
    /// Plain JSON.
    #[default]
    Never,
    /// Compressed where that makes it shorter.
    WhenShorter,
}

/// Why a message cannot be written or read.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum TerminationError {
    /// The message would be above [`MAX_LENGTH`].
    #[error("Termination message is above max allowed size 4096, caused by large task result.")]
    TooLong,
    /// The text behind [`COMPRESSED_PREFIX`] cannot be decompressed.
    #[error("decompressing termination message: {0}")]
    Compressed(String),
    /// The text is not a JSON list of entries.
    #[error("parsing message json: {cause}, msg: {excerpt}")]
    Json {
        /// What is wrong with it.
        cause: String,
        /// The text, shortened.
        excerpt: String,
    },
    /// The entries cannot be written as JSON.
    #[error("{0}")]
    Encoding(String),
}

/// A message of `existing` entries, if there are any, and new ones behind them.
///
/// Blank content counts as none. Broken content is lost, as it always was; [`existing`] tells what is wrong
/// with it. Refused above [`MAX_LENGTH`]: then the content has to stay as it is.
pub fn append(
    content: Option<&[u8]>,
    new: &[RunResult],
    compression: Compression,
) -> Result<String, TerminationError> {
    let mut entries = content
        .and_then(|content| existing(content).ok())
        .unwrap_or_default();
    entries.extend_from_slice(new);
    encode(&entries, compression)
}

/// Entries of a message, in their order and with duplicates. Blank content has none.
pub fn existing(content: &[u8]) -> Result<Vec<RunResult>, TerminationError> {
    let text = json::text(content.to_vec());
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    decode(&text)
}

/// The entries as one message.
pub fn encode(entries: &[RunResult], compression: Compression) -> Result<String, TerminationError> {
    let plain = json::to_string(&entries).map_err(|error| TerminationError::Encoding(error.to_string()))?;
    let message = match compression {
        Compression::Never => plain,
        Compression::WhenShorter => {
            let compressed = compress(plain.as_bytes())?;
            if compressed.len() < plain.len() {
                compressed
            } else {
                plain
            }
        }
    };
    if message.len() > MAX_LENGTH {
        Err(TerminationError::TooLong)
    } else {
        Ok(message)
    }
}

/// Entries of a message for the status of a run: empty ones left out, the last one of each key, sorted.
pub fn parse(message: &str) -> Result<Vec<RunResult>, TerminationError> {
    if message.is_empty() {
        return Ok(Vec::new());
    }
    let mut by_key = BTreeMap::new();
    for entry in decode(message)? {
        if entry != RunResult::default() {
            by_key.insert(entry.key.clone(), entry);
        }
    }
    Ok(by_key.into_values().collect())
}

fn decode(message: &str) -> Result<Vec<RunResult>, TerminationError> {
    match message.strip_prefix(COMPRESSED_PREFIX) {
        None => entries(message),
        Some(encoded) => {
            let inflated = decompress(encoded.as_bytes()).map_err(TerminationError::Compressed)?;
            entries(&json::text(inflated))
        }
    }
}

fn entries(text: &str) -> Result<Vec<RunResult>, TerminationError> {
    let list = match json::parse(text) {
        Ok(Value::Null) => return Ok(Vec::new()),
        Ok(Value::Array(list)) => list,
        Ok(other) => {
            let kind = json::kind(&other);
            return Err(broken(
                text,
                format!("json: cannot unmarshal {kind} into Go value of type []result.RunResult"),
            ));
        }
        Err(cause) => return Err(broken(text, cause)),
    };
    list.iter()
        .enumerate()
        .map(|(index, value)| RunResult::from_value(value, "result.RunResult", &format!(".{index}")))
        .collect::<Result<_, _>>()
        .map_err(|cause| broken(text, cause))
}

fn broken(text: &str, cause: String) -> TerminationError {
    let excerpt = if text.len() > EXCERPT {
        format!("{}...(truncated)", start(text, EXCERPT))
    } else {
        text.to_owned()
    };
    TerminationError::Json { cause, excerpt }
}

/// At most `length` bytes of the text, not ending within a character.
fn start(text: &str, length: usize) -> &str {
    (0..=length)
        .rev()
        .find_map(|end| text.get(..end))
        .unwrap_or_default()
}

fn compress(plain: &[u8]) -> Result<String, TerminationError> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Level::best());
    let deflated = encoder
        .write_all(plain)
        .and_then(|()| encoder.finish())
        .map_err(|error| TerminationError::Encoding(error.to_string()))?;
    Ok(format!("{COMPRESSED_PREFIX}{}", BASE64.encode(deflated)))
}

fn decompress(encoded: &[u8]) -> Result<Vec<u8>, String> {
    // Go's decoder passes over line breaks.
    let encoded: Vec<u8> = encoded
        .iter()
        .copied()
        .filter(|byte| !matches!(byte, b'\r' | b'\n'))
        .collect();
    let deflated = BASE64
        .decode(&encoded)
        .map_err(|error| format!("base64 decode: {}", base64_words(&encoded, &error)))?;
    let mut inflated = Vec::new();
    DeflateDecoder::new(deflated.as_slice())
        .take(MAX_DECOMPRESSED + 1)
        .read_to_end(&mut inflated)
        .map_err(|error| format!("flate decompress: {error}"))?;
    if inflated.len() as u64 > MAX_DECOMPRESSED {
        return Err(format!(
            "decompressed termination message exceeds {MAX_DECOMPRESSED} byte limit"
        ));
    }
    Ok(inflated)
}

fn base64_words(encoded: &[u8], error: &base64::DecodeError) -> String {
    let offset = match *error {
        base64::DecodeError::InvalidByte(offset, _) | base64::DecodeError::InvalidLastSymbol(offset, _) => {
            offset
        }
        base64::DecodeError::InvalidLength(_) => encoded.len().saturating_sub(1),
        base64::DecodeError::InvalidPadding => encoded
            .iter()
            .position(|byte| *byte == b'=')
            .unwrap_or(encoded.len()),
    };
    format!("illegal base64 data at input byte {offset}")
}
