//! Which hosts pages may reach: first by the name that was asked for, then by every address that the name has.
//!
//! A name that is allowed may still lead to this machine, so an address that is not public has to be opened: by a rule
//! that names the host in full, or by one that names the address, where the host is written as an address or is named
//! too. `*` and a domain with everything below it open nothing: a stranger may have a name there.

use std::net::IpAddr;

use super::address::AddressKind;
use crate::config::{BrowserConfig, HostRule, HostSet};

/// A host as a request names it, in one spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestedHost {
    Name(String),
    Address(IpAddr),
}

impl RequestedHost {
    /// As it stands in a request: `example.org`, `127.0.0.1`, `[::1]`.
    pub fn parse(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let fits = (1..=253).contains(&name.len()) && name.bytes().all(is_plain);
        fits.then_some(Self::Name(name))
    }

    /// As a person would write it.
    pub fn shown(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::Address(IpAddr::V6(address)) => format!("[{address}]"),
            Self::Address(address) => address.to_string(),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct NetworkRules {
    allow: Vec<HostRule>,
    deny: Vec<HostRule>,
    /// What the person named on the command line.
    first_page: Option<HostRule>,
    /// The key of the config that allows, where it is not the browser's.
    allowed_by: Option<&'static str>,
}

/// Why a host is not reached; a sentence that goes on after its name.
pub type RefusalReason = String;

impl NetworkRules {
    pub fn new(config: &BrowserConfig, first_page: Option<HostRule>) -> Self {
        let (allow, deny) = (config.network_allow.clone(), config.network_deny.clone());
        Self { allow, deny, first_page, allowed_by: None }
    }

    /// Only the hosts of a list, which `key` of the config is; none if the list is empty.
    pub fn only(allow: Vec<HostRule>, key: &'static str) -> Self {
        Self { allow, allowed_by: Some(key), ..Self::default() }
    }

    fn key(&self) -> &'static str {
        self.allowed_by.unwrap_or("browser.network_allow")
    }

    /// Before a name is looked up: a name that may not be reached is not asked for either.
    pub fn check_host(&self, host: &RequestedHost, port: u16) -> Result<(), RefusalReason> {
        if let Some(rule) = self.deny.iter().find(|rule| means(rule, host, port)) {
            return Err(format!("browser.network_deny has {rule}"));
        }
        let is_first = self.first_page.as_ref().is_some_and(|rule| means(rule, host, port));
        let is_public_address = matches!(host, RequestedHost::Address(address) if AddressKind::of(*address) == AddressKind::Public);
        let is_every =
            |rule: &HostRule| rule.hosts == HostSet::Every && rule.port.is_none_or(|own| own == port);
        let allowed = (self.allow.is_empty() && self.allowed_by.is_none())
            || is_first
            || self.allow.iter().any(|rule| means(rule, host, port) || is_public_address && is_every(rule))
            // Whether it is opened is said of its address.
            || matches!(host, RequestedHost::Address(_)) && !is_public_address;
        if allowed { Ok(()) } else { Err(format!("{} does not name it", self.key())) }
    }

    /// For every address that the host has.
    pub fn check_address(
        &self,
        host: &RequestedHost,
        address: IpAddr,
        port: u16,
    ) -> Result<(), RefusalReason> {
        if let Some(rule) = self.deny.iter().find(|rule| rule.holds(address, port)) {
            return Err(format!("browser.network_deny has {rule}, and it is at {address}"));
        }
        let kind = AddressKind::of(address);
        let opened = match kind {
            AddressKind::Public => true,
            AddressKind::Private => {
                self.opens_by_name(host, port) || self.opens_by_address(host, address, port)
            }
            AddressKind::LinkLocal => self.opens_by_address(host, address, port),
            AddressKind::NoHost => false,
        };
        if opened {
            return Ok(());
        }
        let advice = match kind {
            AddressKind::NoHost => String::new(),
            _ => format!("; {} would have to name it", self.key()),
        };
        Err(format!("{address} is {}{advice}", kind.described()))
    }

    fn opening(&self) -> impl Iterator<Item = &HostRule> {
        self.allow.iter().chain(&self.first_page)
    }

    fn opens_by_name(&self, host: &RequestedHost, port: u16) -> bool {
        let RequestedHost::Name(name) = host else { return false };
        self.opening().any(|rule| matches!(rule.hosts, HostSet::Name(_)) && rule.names(name, port))
    }

    fn opens_by_address(&self, host: &RequestedHost, address: IpAddr, port: u16) -> bool {
        let named = match host {
            RequestedHost::Address(_) => true,
            RequestedHost::Name(name) => {
                self.opening().any(|rule| rule.hosts != HostSet::Every && rule.names(name, port))
            }
        };
        named && self.opening().any(|rule| rule.holds(address, port))
    }
}

fn means(rule: &HostRule, host: &RequestedHost, port: u16) -> bool {
    match host {
        RequestedHost::Name(name) => rule.names(name, port),
        RequestedHost::Address(address) => rule.holds(*address, port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allow: &[&str], deny: &[&str], first: Option<(&str, u16)>) -> NetworkRules {
        let parse = |list: &[&str]| list.iter().map(|text| HostRule::parse(text).unwrap()).collect();
        let first_page = first.map(|(host, port)| HostRule::exact(host, port).unwrap());
        NetworkRules { allow: parse(allow), deny: parse(deny), first_page, allowed_by: None }
    }

    /// What a request comes to, where the host has this address.
    fn judged(rules: &NetworkRules, host: &str, port: u16, at: &str) -> Result<(), String> {
        let host = RequestedHost::parse(host).unwrap();
        rules.check_host(&host, port)?;
        rules.check_address(&host, at.parse().unwrap(), port)
    }

    #[track_caller]
    fn check(allow: &[&str], deny: &[&str], host: &str, at: &str, expected: &str) {
        let outcome = judged(&rules(allow, deny, None), host, 443, at);
        let shown = outcome.map_or_else(|reason| reason, |()| "open".to_owned());
        assert!(shown.contains(expected), "{allow:?} {deny:?} {host} at {at}: {shown}");
    }

    #[test]
    fn public_hosts_are_open_unless_a_list_says_otherwise() {
        check(&[], &[], "example.org", "8.8.8.8", "open");
        check(&["*"], &[], "example.org", "8.8.8.8", "open");
        check(&["*"], &[], "8.8.8.8", "8.8.8.8", "open");
        check(&["*.example.org"], &[], "www.example.org", "8.8.8.8", "open");
        check(&["example.org"], &[], "other.org", "8.8.8.8", "network_allow does not name it");
        check(&["example.org"], &[], "8.8.8.8", "8.8.8.8", "network_allow does not name it");
        check(&["example.org:80"], &[], "example.org", "8.8.8.8", "network_allow does not name it");
    }

    #[test]
    fn a_denied_host_stays_denied() {
        check(&["*"], &["*.example.org"], "a.example.org", "8.8.8.8", "network_deny has *.example.org");
        check(&["example.org"], &["example.org"], "example.org", "8.8.8.8", "network_deny has");
        check(
            &[],
            &["8.8.0.0/16"],
            "example.org",
            "8.8.8.8",
            "network_deny has 8.8.0.0/16, and it is at 8.8.8.8",
        );
        check(&[], &["8.8.0.0/16"], "8.8.8.8", "8.8.8.8", "network_deny has 8.8.0.0/16");
        check(&[], &["example.org"], "EXAMPLE.org.", "8.8.8.8", "network_deny has example.org");
    }

    /// H-181 on code: a name that somebody lets lead to this machine or its neighbours opens nothing.
    #[test]
    fn what_is_not_public_has_to_be_named() {
        for at in [
            "127.0.0.1",
            "10.0.0.1",
            "::1",
            "169.254.169.254",
            "fd00:ec2::254",
            "::ffff:127.0.0.1",
            "0.0.0.0",
        ] {
            check(&[], &[], "rebound.example", at, " is a");
            check(&["*"], &[], "rebound.example", at, " is a");
            check(&["*.example"], &[], "rebound.example", at, " is a");
            check(&["*", "127.0.0.1", "10.0.0.0/8", "169.254.169.254"], &[], "rebound.example", at, " is a");
            check(&[], &[], at, at, " is a");
        }
        check(&["localhost"], &[], "localhost", "127.0.0.1", "open");
        check(&["intra.example"], &[], "intra.example", "10.0.0.1", "open");
        check(&["intra.example"], &[], "intra.example", "169.254.169.254", "link-local");
        check(&["10.0.0.0/8"], &[], "10.0.0.1", "10.0.0.1", "open");
        check(&["*.corp.example", "10.0.0.0/8"], &[], "a.corp.example", "10.0.0.1", "open");
        check(&["169.254.169.254"], &[], "169.254.169.254", "169.254.169.254", "open");
        check(&["0.0.0.0"], &[], "0.0.0.0", "0.0.0.0", "an address that no host has");
    }

    #[test]
    fn the_page_of_the_command_line_is_open_at_its_port_alone() {
        let rules = rules(&["example.org"], &[], Some(("127.0.0.1", 8000)));
        assert_eq!(judged(&rules, "127.0.0.1", 8000, "127.0.0.1"), Ok(()));
        assert!(judged(&rules, "127.0.0.1", 8001, "127.0.0.1").is_err());
        assert!(judged(&rules, "localhost", 8000, "127.0.0.1").is_err());
        assert!(judged(&rules, "rebound.example", 8000, "127.0.0.1").is_err());
    }

    #[test]
    fn hosts_have_one_spelling() {
        for (text, expected) in [
            ("Example.ORG.", Some("example.org")),
            ("[::ffff:127.0.0.1]", Some("127.0.0.1")),
            ("[::1]", Some("[::1]")),
            ("a b", None),
            ("", None),
            ("a@b", None),
        ] {
            assert_eq!(RequestedHost::parse(text).map(|host| host.shown()).as_deref(), expected, "{text}");
        }
    }
}
