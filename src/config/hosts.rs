//! Rules that name hosts of a network: a name, a domain with everything below it, all names, or addresses; each with a
//! port if it is meant for that one alone.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// What a list such as `browser.network_deny` has as an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostRule {
    pub hosts: HostSet,
    /// `None`: every port.
    pub port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostSet {
    /// `*`
    Every,
    /// `www.example.org`
    Name(String),
    /// `*.example.org`: that and everything below it.
    Domain(String),
    /// `10.0.0.0/8`, or one address.
    Network(IpAddr, u8),
}

const EXPECTED: &str = "expected a host without scheme and path, such as example.org, *.example.org, 10.0.0.0/8, \
                        [::1]:8080 or *";

impl HostRule {
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim().to_ascii_lowercase();
        let (host, port) = split_port(&text).ok_or(EXPECTED)?;
        Ok(Self { hosts: HostSet::parse(host)?, port })
    }

    /// Exactly this host and port.
    pub fn exact(host: &str, port: u16) -> Result<Self, String> {
        Ok(Self { hosts: HostSet::parse(host)?, port: Some(port) })
    }

    fn is_of_port(&self, port: u16) -> bool {
        self.port.is_none_or(|own| own == port)
    }

    /// Whether it means a host by its name.
    pub fn names(&self, name: &str, port: u16) -> bool {
        let meant = match &self.hosts {
            HostSet::Every => true,
            HostSet::Name(own) => own == name,
            HostSet::Domain(domain) => {
                name.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            }
            HostSet::Network(..) => false,
        };
        meant && self.is_of_port(port)
    }

    /// Whether it means a host by its address.
    pub fn holds(&self, address: IpAddr, port: u16) -> bool {
        let HostSet::Network(network, length) = &self.hosts else { return false };
        let bits_of = |address: IpAddr| match address.to_canonical() {
            IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, 4),
            IpAddr::V6(address) => (address.to_bits(), 6),
        };
        let ((network, kind), (address, other)) = (bits_of(*network), bits_of(address));
        let free = 128 - u32::from(*length);
        let same = network.checked_shr(free) == address.checked_shr(free);
        kind == other && same && self.is_of_port(port)
    }
}

impl HostSet {
    fn parse(host: &str) -> Result<Self, String> {
        if host == "*" {
            return Ok(Self::Every);
        }
        if let Some(network) = network_of(host) {
            return network;
        }
        let (domain, make): (&str, fn(String) -> Self) = match host.strip_prefix("*.") {
            Some(domain) => (domain, Self::Domain),
            None => (host, Self::Name),
        };
        match check_name(domain) {
            Ok(()) => Ok(make(domain.trim_end_matches('.').to_owned())),
            Err(reason) => Err(reason.to_owned()),
        }
    }
}

/// Host and port. An address of version 6 has its colons in brackets where a port follows.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let parse = |port: &str| port.parse::<u16>().ok().filter(|port| *port > 0).map(Some);
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, parse(port)?)),
            None => rest.is_empty().then_some((host, None)),
        };
    }
    match text.split_once(':') {
        Some((host, port)) if !port.contains(':') => Some((host, parse(port)?)),
        _ => Some((text, None)),
    }
}

/// One address or a network of them; `None` where the text is neither.
fn network_of(host: &str) -> Option<Result<HostSet, String>> {
    let (address, length) = host.split_once('/').map_or((host, None), |(host, rest)| (host, Some(rest)));
    let address: IpAddr = address.parse().ok()?;
    let address = address.to_canonical();
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = length.map_or(Some(most), |length| length.parse().ok().filter(|length| *length <= most));
    Some(length.map(|length| HostSet::Network(address, length)).ok_or_else(|| {
        format!("the number after / must be at most {most}, the bits that addresses of this network share")
    }))
}

/// Names of the web are written in ASCII. One that ends with a number is an address in another spelling.
fn check_name(name: &str) -> Result<(), &'static str> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    if !name.is_ascii() {
        return Err("write the name as it is sent, in ASCII (xn--…)");
    }
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Err(EXPECTED);
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    if is_number { Err("write the address in full, such as 127.0.0.1") } else { Ok(()) }
}

impl fmt::Display for HostRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with_brackets = self.port.is_some();
        match &self.hosts {
            HostSet::Every => out.write_str("*")?,
            HostSet::Name(name) => out.write_str(name)?,
            HostSet::Domain(domain) => write!(out, "*.{domain}")?,
            HostSet::Network(address, length) => match address {
                IpAddr::V4(address) if *length == 32 => write!(out, "{address}")?,
                IpAddr::V6(address) => write_v6(out, *address, *length, with_brackets)?,
                address => write!(out, "{address}/{length}")?,
            },
        }
        self.port.map_or(Ok(()), |port| write!(out, ":{port}"))
    }
}

fn write_v6(out: &mut fmt::Formatter<'_>, address: Ipv6Addr, length: u8, brackets: bool) -> fmt::Result {
    let text = if length == 128 { address.to_string() } else { format!("{address}/{length}") };
    if brackets { write!(out, "[{text}]") } else { out.write_str(&text) }
}

impl From<HostRule> for String {
    fn from(rule: HostRule) -> String {
        rule.to_string()
    }
}

impl TryFrom<String> for HostRule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        HostRule::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown =
            HostRule::parse(text).map_or_else(|reason| format!("! {reason}"), |rule| rule.to_string());
        assert!(shown.starts_with(expected), "{text}: {shown}");
    }

    #[test]
    fn a_rule_is_a_name_a_domain_or_a_network() {
        for text in ["*", "*:8080", "example.org", "*.example.org:443", "10.0.0.0/8", "127.0.0.1:80", "::1"] {
            check(text, text);
        }
        check(" Example.ORG. ", "example.org");
        check("[::1]:80", "[::1]:80");
        check("[fd00::]", "fd00::");
        check("fd00::/8", "fd00::/8");
        check("::ffff:10.0.0.1", "10.0.0.1");
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in
            ["", "https://example.org", "example.org/x", "a b", "*.*", "ex*mple.org", "a:0", "a:99999"]
        {
            check(text, "! expected a host");
        }
        check("127.1", "! write the address in full");
        check("0x7f000001", "! write the address in full");
        check("2130706433", "! write the address in full");
        check("10.0.0.0/33", "! the number after /");
        check("bücher.example", "! write the name as it is sent");
    }

    #[track_caller]
    fn check_name_match(rule: &str, name: &str, port: u16, expected: bool) {
        assert_eq!(HostRule::parse(rule).unwrap().names(name, port), expected, "{rule} {name}:{port}");
    }

    #[test]
    fn names_are_matched_whole() {
        check_name_match("example.org", "example.org", 443, true);
        check_name_match("example.org", "www.example.org", 443, false);
        check_name_match("*.example.org", "example.org", 443, true);
        check_name_match("*.example.org", "a.b.example.org", 443, true);
        check_name_match("*.example.org", "badexample.org", 443, false);
        check_name_match("example.org:80", "example.org", 443, false);
        check_name_match("*", "anything", 1, true);
        check_name_match("10.0.0.1", "10.0.0.1", 1, false);
    }

    #[track_caller]
    fn check_address_match(rule: &str, address: &str, expected: bool) {
        let address = address.parse().unwrap();
        assert_eq!(HostRule::parse(rule).unwrap().holds(address, 80), expected, "{rule} {address}");
    }

    #[test]
    fn networks_hold_their_addresses_however_they_are_written() {
        check_address_match("10.0.0.0/8", "10.200.3.4", true);
        check_address_match("10.0.0.0/8", "::ffff:10.200.3.4", true);
        check_address_match("10.0.0.0/8", "11.0.0.1", false);
        check_address_match("0.0.0.0/0", "8.8.8.8", true);
        check_address_match("0.0.0.0/0", "2001:db8::1", false);
        check_address_match("fd00::/8", "fdff::1", true);
        check_address_match("::1", "::1", true);
        check_address_match("::1", "::2", false);
        check_address_match("*", "8.8.8.8", false);
    }
}
