//! Tests of the API through the in-process client.

mod api;
mod builtin;
mod client;
