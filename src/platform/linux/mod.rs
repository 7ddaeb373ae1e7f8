//! temporary
pub mod accessibility;
