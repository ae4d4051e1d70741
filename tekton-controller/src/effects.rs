//! The effects: everything here talks to an API server, a registry or a clock; nothing here decides.
//!
//! [`Executor`] answers the questions of a pass, [`record`] writes events, [`controllers`] turns watches
//! into passes and passes into writes.

pub mod api;
pub mod controllers;
pub mod images;
pub mod record;
pub mod registry;

pub use api::Executor;
