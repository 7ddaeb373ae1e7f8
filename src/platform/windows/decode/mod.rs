//! What Windows' answers mean. Nothing here asks the system anything, so all of it is tested on every system, with
//! answers that were recorded or written by hand (`tests/fixtures/windows`).

pub mod apps;
pub mod capture;
pub mod changes;
pub mod coordinates;
pub mod desktop;
pub mod errors;
pub mod integrity;
pub mod interaction;
pub mod keys;
pub mod lru;
pub mod ocr;
pub mod requests;
pub mod roles;
pub mod tree;
pub mod worker;
