pub mod describe;
pub mod sketch;
mod text;
