#![no_main]

use os_screen_observer_fuzz::{properties, run};

libfuzzer_sys::fuzz_target!(|data: &[u8]| run(properties::rule_names::check, data));
