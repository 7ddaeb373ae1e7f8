//! What kind of an address a host has: one of the public network, or one that only this machine or its neighbours have.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// From the most harmless to what is never opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressKind {
    Public,
    /// This machine, or a network behind a router. Opened by a rule that names the host or the address.
    Private,
    /// Of this very link, or where clouds keep the keys of their machines. Opened by a rule that names the address.
    LinkLocal,
    /// No host has it: unspecified, broadcast, multicast, reserved.
    NoHost,
}

impl AddressKind {
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => kind_of_v4(address),
            IpAddr::V6(address) => kind_of_v6(address),
        }
    }

    /// For a sentence: "10.0.0.1 is …".
    pub fn described(self) -> &'static str {
        match self {
            Self::Public => "a public address",
            Self::Private => "an address of this machine or of a private network",
            Self::LinkLocal => "a link-local address or one of a cloud's metadata service",
            Self::NoHost => "an address that no host has",
        }
    }
}

/// The first address of a network, the bits that its addresses share, and what they are. The first row that fits counts.
const V4: &[(Ipv4Addr, u32, AddressKind)] = &[
    // Metadata services: Azure's and Alibaba's lie outside of what is link-local.
    (Ipv4Addr::new(168, 63, 129, 16), 32, AddressKind::LinkLocal),
    (Ipv4Addr::new(100, 100, 100, 200), 32, AddressKind::LinkLocal),
    (Ipv4Addr::new(169, 254, 0, 0), 16, AddressKind::LinkLocal),
    (Ipv4Addr::new(192, 0, 0, 192), 32, AddressKind::LinkLocal),
    (Ipv4Addr::new(0, 0, 0, 0), 8, AddressKind::NoHost),
    (Ipv4Addr::new(224, 0, 0, 0), 3, AddressKind::NoHost),
    (Ipv4Addr::new(192, 0, 2, 0), 24, AddressKind::NoHost),
    (Ipv4Addr::new(198, 51, 100, 0), 24, AddressKind::NoHost),
    (Ipv4Addr::new(203, 0, 113, 0), 24, AddressKind::NoHost),
    (Ipv4Addr::new(10, 0, 0, 0), 8, AddressKind::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, AddressKind::Private),
    (Ipv4Addr::new(127, 0, 0, 0), 8, AddressKind::Private),
    (Ipv4Addr::new(172, 16, 0, 0), 12, AddressKind::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, AddressKind::Private),
    (Ipv4Addr::new(192, 168, 0, 0), 16, AddressKind::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, AddressKind::Private),
];

fn kind_of_v4(address: Ipv4Addr) -> AddressKind {
    let same = |network: &Ipv4Addr, length: u32| {
        let free = 32 - length;
        network.to_bits() >> free == address.to_bits() >> free
    };
    let row = V4.iter().find(|(network, length, _)| same(network, *length));
    row.map_or(AddressKind::Public, |(_, _, kind)| *kind)
}

/// Amazon's metadata service.
const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// Addresses that carry one of version 4 are what that one is: a translator on the way may lead there.
fn kind_of_v6(address: Ipv6Addr) -> AddressKind {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| kind_of_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match (a, b) {
        _ if address == METADATA => AddressKind::LinkLocal,
        _ if address == Ipv6Addr::LOCALHOST => AddressKind::Private,
        // Compatible with version 4, long given up; the unspecified address is among them.
        (0, 0) if [c, d, e, f] == [0; 4] => AddressKind::NoHost.max(v4(g, h)),
        (0x64, 0xff9b) if [c, d, e, f] == [0; 4] => v4(g, h),
        (0x64, 0xff9b) => AddressKind::Private,
        (0x2002, _) => v4(b, c),
        // Teredo, documentation.
        (0x2001, 0 | 0xdb8) => AddressKind::NoHost,
        _ if a & 0xffc0 == 0xfe80 => AddressKind::LinkLocal,
        // Unique local, and site-local, which came before it.
        _ if a & 0xfe00 == 0xfc00 || a & 0xffc0 == 0xfec0 => AddressKind::Private,
        _ if a & 0xe000 == 0x2000 => AddressKind::Public,
        _ => AddressKind::NoHost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: AddressKind, addresses: &[&str]) {
        for address in addresses {
            assert_eq!(AddressKind::of(address.parse().unwrap()), kind, "{address}");
        }
    }

    /// H-180 on code: every spelling of an address is what the address is.
    #[test]
    fn addresses_are_known_by_what_they_reach() {
        check(
            AddressKind::Public,
            &["8.8.8.8", "172.32.0.1", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::1"],
        );
        check(
            AddressKind::Private,
            &["127.0.0.1", "127.255.0.9", "10.1.2.3", "172.31.0.1", "192.168.0.1", "100.64.0.1"],
        );
        check(AddressKind::Private, &["::1", "fd12::1", "fec0::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"]);
        check(AddressKind::Private, &["64:ff9b::7f00:1", "2002:7f00:1::", "64:ff9b:1::1"]);
        check(
            AddressKind::LinkLocal,
            &["169.254.169.254", "fe80::1", "fd00:ec2::254", "::ffff:169.254.169.254"],
        );
        check(AddressKind::LinkLocal, &["168.63.129.16", "100.100.100.200", "64:ff9b::a9fe:a9fe"]);
        check(
            AddressKind::NoHost,
            &["0.0.0.0", "0.1.2.3", "255.255.255.255", "224.0.0.1", "240.0.0.1", "203.0.113.5"],
        );
        check(AddressKind::NoHost, &["::", "ff02::1", "::127.0.0.1", "2001:db8::1", "2001::1"]);
    }
}
