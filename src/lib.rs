pub mod cli;
pub mod config;
pub mod doctor;
pub mod error;
pub mod model;
pub mod observer;
