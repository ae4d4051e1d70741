#![doc = include_str!("../README.md")]

pub mod accept;
pub mod cache;
pub mod error;
pub mod fetch;
pub mod framework;
pub mod http;
pub mod hub;
pub mod lifecycle;
pub mod params;
pub mod request;
pub mod resolver;

pub use error::ResolveError;
pub use resolver::{Request, Resolved, Resolver};
