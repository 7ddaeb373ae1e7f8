//! What went through the proxy: how much to and from each host, and what was refused and why.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::clock::lock;
use crate::model::page::HostBytes;

/// Hosts beyond these are counted together.
const MOST_HOSTS: usize = 500;
const THE_OTHERS: &str = "(others)";

const MOST_REFUSALS: usize = 100;

/// The bytes of one host.
#[derive(Debug, Default)]
pub struct HostTraffic {
    pub sent: AtomicU64,
    pub received: AtomicU64,
}

/// A host that was not reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// As a page names it.
    pub host: String,
    pub port: u16,
    pub reason: String,
}

impl Refusal {
    /// The whole sentence.
    pub fn told(&self) -> String {
        format!("the browser may not reach {}:{}: {}", self.host, self.port, self.reason)
    }
}

#[derive(Debug, Default)]
struct Refusals {
    last: VecDeque<Refusal>,
    count: usize,
}

#[derive(Debug, Default)]
pub struct NetworkLedger {
    hosts: Mutex<BTreeMap<String, Arc<HostTraffic>>>,
    refusals: Mutex<Refusals>,
}

impl NetworkLedger {
    pub fn host(&self, host: &str) -> Arc<HostTraffic> {
        let mut hosts = lock(&self.hosts);
        let known = hosts.contains_key(host) || hosts.len() < MOST_HOSTS;
        hosts.entry(if known { host } else { THE_OTHERS }.to_owned()).or_default().clone()
    }

    /// By name.
    pub fn traffic(&self) -> Vec<HostBytes> {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let hosts = lock(&self.hosts);
        let told = hosts.iter().map(|(host, bytes)| HostBytes {
            host: host.clone(),
            sent: read(&bytes.sent),
            received: read(&bytes.received),
        });
        told.collect()
    }

    pub fn note_refusal(&self, refusal: Refusal) {
        let mut refusals = lock(&self.refusals);
        refusals.count += 1;
        if refusals.last.len() == MOST_REFUSALS {
            refusals.last.pop_front();
        }
        refusals.last.push_back(refusal);
    }

    /// How many there were until now.
    pub fn refusals(&self) -> usize {
        lock(&self.refusals).count
    }

    /// Those since there were so many, each once.
    pub fn refusals_since(&self, count: usize) -> Vec<Refusal> {
        let refusals = lock(&self.refusals);
        let new = refusals.count.saturating_sub(count).min(refusals.last.len());
        let mut told: Vec<Refusal> = Vec::new();
        for refusal in refusals.last.iter().skip(refusals.last.len() - new) {
            if !told.contains(refusal) {
                told.push(refusal.clone());
            }
        }
        told
    }

    /// Why this host was last refused, if it was.
    pub fn refusal_of(&self, host: &str, port: u16) -> Option<Refusal> {
        let refusals = lock(&self.refusals);
        refusals.last.iter().rev().find(|refusal| refusal.host == host && refusal.port == port).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(host: &str) -> Refusal {
        Refusal { host: host.to_owned(), port: 80, reason: "r".to_owned() }
    }

    #[test]
    fn refusals_are_told_once_and_only_new_ones() {
        let ledger = NetworkLedger::default();
        ledger.note_refusal(refusal("a"));
        let mark = ledger.refusals();
        assert_eq!(ledger.refusals_since(mark), []);
        for host in ["b", "b", "c"] {
            ledger.note_refusal(refusal(host));
        }
        assert_eq!(ledger.refusals_since(mark), [refusal("b"), refusal("c")]);
        assert_eq!(ledger.refusal_of("a", 80), Some(refusal("a")));
        assert_eq!(ledger.refusal_of("a", 81), None);
    }

    #[test]
    fn neither_hosts_nor_refusals_grow_without_end() {
        let ledger = NetworkLedger::default();
        for number in 0..2000 {
            ledger.host(&number.to_string()).sent.fetch_add(1, Ordering::Relaxed);
            ledger.note_refusal(refusal(&number.to_string()));
        }
        let traffic = ledger.traffic();
        assert_eq!(traffic.len(), MOST_HOSTS + 1);
        assert_eq!(traffic.iter().map(|host| host.sent).sum::<u64>(), 2000);
        assert_eq!(ledger.refusals_since(0).len(), MOST_REFUSALS);
    }
}
