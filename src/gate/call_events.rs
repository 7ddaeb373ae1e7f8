//! A call as an event for watchers: its arguments, without what must not be shown, and its reply.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Gate, Reply};
use crate::clock::timestamp;
use crate::config::limits;
use crate::error::Kind;
use crate::metrics::Size;
use crate::privacy::arguments::Keeper;
use crate::tool::TableEntry;
use crate::tool::recorded::for_the_books;

pub struct CallEvent<'a> {
    pub gate: &'a Gate,
    pub entry: &'a TableEntry,
    pub reply: &'a Reply,
    pub step_id: u64,
    pub caused_by: Option<u64>,
    pub origin: &'static str,
    pub job_id: Option<&'a str>,
    pub began: SystemTime,
    pub took: Duration,
    pub size: Size,
    pub changed: Option<bool>,
    pub consent: Option<&'static str>,
    pub args: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct CallStarted<'a> {
    step_id: u64,
    tool: &'a str,
    group: &'a str,
    acts: bool,
    origin: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<&'a str>,
    at: String,
    args: Map<String, Value>,
}

#[derive(Serialize)]
struct CallEnded<'a> {
    step_id: u64,
    caused_by_step_id: Option<u64>,
    tool: &'a str,
    group: &'a str,
    acts: bool,
    origin: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<&'a str>,
    at: String,
    duration_ms: f64,
    ok: bool,
    code: Option<&'a str>,
    changed: Option<bool>,
    consent: Option<&'a str>,
    args: Map<String, Value>,
    result_bytes: u64,
    tokens: u64,
    picture: bool,
    /// Absent when it is too long to be sent to everyone.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
}

pub fn started_event(
    gate: &Gate,
    entry: &TableEntry,
    step_id: u64,
    origin: &'static str,
    job_id: Option<&str>,
    args: &Value,
) -> String {
    let meta = entry.spec.meta;
    write(&CallStarted {
        step_id,
        tool: meta.name,
        group: meta.group.name(),
        acts: meta.effect.acts(),
        origin,
        job_id,
        at: timestamp(gate.clock.wall_time()),
        args: recordable_arguments(gate, entry, &for_the_books(&gate.tools, &gate.secrets, entry, args)),
    })
}

impl CallEvent<'_> {
    pub fn ended_event(&self) -> String {
        let meta = self.entry.spec.meta;
        let short = self.size.bytes <= limits::EVENT_RESULT_BYTES as u64;
        write(&CallEnded {
            step_id: self.step_id,
            caused_by_step_id: self.caused_by,
            tool: meta.name,
            group: meta.group.name(),
            acts: meta.effect.acts(),
            origin: self.origin,
            job_id: self.job_id,
            at: timestamp(self.began),
            duration_ms: (self.took.as_secs_f64() * 1e6).round() / 1e3,
            ok: self.reply.ok(),
            code: self.reply.error.map(Kind::code),
            changed: self.changed,
            consent: self.consent,
            args: recordable_arguments(self.gate, self.entry, self.args),
            result_bytes: self.size.bytes,
            tokens: self.size.tokens(),
            picture: self.reply.picture.is_some(),
            result: short.then(|| RawValue::from_string(self.reply.text()).ok()).flatten(),
        })
    }
}

/// The arguments as a trace would keep them if everything typed went into a secret field: who watches may
/// not be who may know.
pub fn recordable_arguments(
    gate: &Gate,
    entry: &TableEntry,
    args: &Map<String, Value>,
) -> Map<String, Value> {
    let redact_keys = &gate.config.audit.redact_arg_keys;
    let keeper = for_the_person(gate, entry, entry.spec.meta.effect.acts());
    Keeper { redact_keys, for_person: false, ..keeper }.kept(args)
}

/// The arguments as a person is shown them who has to decide: with what is typed, unless that is secret. No key of a
/// config hides any of them.
pub fn for_the_person<'a>(gate: &'a Gate, entry: &'a TableEntry, hides_typed: bool) -> Keeper<'a> {
    Keeper {
        redactor: &gate.redactor,
        redact_keys: &gate.always_hidden,
        schema: entry.schema(),
        hides_typed,
        secrets: &gate.secrets,
        max_bytes: gate.config.tracing.max_args_bytes,
        for_person: true,
    }
}

fn write(event: &impl Serialize) -> String {
    serde_json::to_string(event).unwrap_or_else(|_| "{}".to_owned())
}

/// How long a value is as JSON, without writing it anywhere.
pub fn json_length(value: &impl Serialize) -> usize {
    struct ByteCount(usize);
    impl Write for ByteCount {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = ByteCount(0);
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_length_is_that_of_the_text() {
        for value in [json!({}), json!({"a": [1, "é\n"]}), json!(null)] {
            assert_eq!(json_length(&value), value.to_string().len());
        }
    }
}
