#![doc = include_str!("../README.md")]

pub mod image_config;
pub mod images;
pub mod memory;
pub mod plan;
