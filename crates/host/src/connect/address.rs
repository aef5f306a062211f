//! Addresses as a process hands them to the kernel. Pure, but for what connects them.

use std::ffi::OsString;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, connect, connect_unspec};

/// The longest that the kernel takes.
const MOST_BYTES: usize = 128;
/// A family and a path without its end.
const MOST_UNIX_BYTES: usize = 110;

/// Whom a socket is to be connected to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// A unix socket that has a name in the file system.
    Named(PathBuf),
    /// One whose name is its network's.
    Abstract(Vec<u8>),
    V4(SocketAddrV4),
    V6(SocketAddrV6),
    /// The kernel, by netlink: whom it sends to in any case.
    Kernel,
    /// Nobody any more.
    Nobody,
}

/// The bytes of an address of this length, which `read` fills in.
pub(super) fn text(length: u32, read: impl FnOnce(&mut [u8]) -> usize) -> Result<Vec<u8>, Errno> {
    let length = usize::try_from(length as i32).ok().filter(|length| *length <= MOST_BYTES).ok_or(Errno::INVAL)?;
    let mut text = vec![0; length];
    if read(&mut text) == length { Ok(text) } else { Err(Errno::FAULT) }
}

impl Address {
    /// What `text` says to a socket of the domain. Of netlink only the kernel can be reached, as nothing more is free to
    /// whoever asks.
    pub(super) fn of(domain: AddressFamily, text: &[u8]) -> Result<Address, Errno> {
        let part = |at: usize| text.get(at..at + 4).and_then(|part| part.try_into().ok()).unwrap_or([0; 4]);
        let family = text.first_chunk().map(|two| AddressFamily::from_raw(u16::from_ne_bytes(*two)));
        let family = family.ok_or(Errno::INVAL)?;
        let port = || u16::from_be_bytes([text[2], text[3]]);
        let internet = matches!(domain, AddressFamily::INET | AddressFamily::INET6);
        match family {
            AddressFamily::UNIX if domain == AddressFamily::UNIX => unix(&text[2..]),
            AddressFamily::UNSPEC if internet => Ok(Address::Nobody),
            AddressFamily::INET if internet && text.len() >= 16 => {
                Ok(Address::V4(SocketAddrV4::new(Ipv4Addr::from(part(4)), port())))
            }
            AddressFamily::INET6 if internet && text.len() >= 24 => {
                let ip = text.get(8..24).and_then(|ip| <[u8; 16]>::try_from(ip).ok()).ok_or(Errno::INVAL)?;
                let [flow, scope] = [part(4), part(24)].map(u32::from_ne_bytes);
                Ok(Address::V6(SocketAddrV6::new(Ipv6Addr::from(ip), port(), flow, scope)))
            }
            AddressFamily::NETLINK if domain == AddressFamily::NETLINK && text.len() >= 12 => {
                if part(4) == [0; 4] && part(8) == [0; 4] { Ok(Address::Kernel) } else { Err(Errno::PERM) }
            }
            AddressFamily::INET | AddressFamily::INET6 if !internet => Err(Errno::AFNOSUPPORT),
            _ => Err(Errno::INVAL),
        }
    }

    /// Connects `socket`, whose domain the address was read for.
    pub(super) fn connect(&self, socket: &OwnedFd) -> Result<(), Errno> {
        match self {
            Address::Named(path) => connect(socket, &SocketAddrUnix::new(path)?),
            Address::Abstract(name) => connect(socket, &SocketAddrUnix::new_abstract_name(name)?),
            Address::V4(to) => connect(socket, to),
            Address::V6(to) => connect(socket, to),
            Address::Kernel => Ok(()),
            Address::Nobody => connect_unspec(socket),
        }
    }
}

fn unix(name: &[u8]) -> Result<Address, Errno> {
    match name {
        [] => Err(Errno::INVAL),
        [0, name @ ..] if name.len() + 3 <= MOST_UNIX_BYTES => Ok(Address::Abstract(name.to_vec())),
        _ if name.len() + 2 > MOST_UNIX_BYTES => Err(Errno::INVAL),
        path => {
            let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
            Ok(Address::Named(PathBuf::from(OsString::from_vec(path.to_vec()))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INET: [u8; 2] = (libc::AF_INET as u16).to_ne_bytes();
    const INET6: [u8; 2] = (libc::AF_INET6 as u16).to_ne_bytes();
    const UNIX: [u8; 2] = (libc::AF_UNIX as u16).to_ne_bytes();
    const NETLINK: [u8; 2] = (libc::AF_NETLINK as u16).to_ne_bytes();

    fn of(domain: AddressFamily, parts: &[&[u8]]) -> Result<Address, Errno> {
        Address::of(domain, &parts.concat())
    }

    #[test]
    fn names_are_read_as_the_kernel_reads_them() {
        let unix = |name: &[u8]| of(AddressFamily::UNIX, &[&UNIX, name]);
        assert_eq!(unix(b"/tmp/x\0rest"), Ok(Address::Named("/tmp/x".into())));
        assert_eq!(unix(b"x"), Ok(Address::Named("x".into())));
        assert_eq!(unix(b"\0x\0y"), Ok(Address::Abstract(b"x\0y".to_vec())));
        assert_eq!(unix(&[b'x'; 108]), Ok(Address::Named(PathBuf::from("x".repeat(108)))));
        for wrong in [&b""[..], &[b'x'; 109], &[0; 109]] {
            assert_eq!(unix(wrong), Err(Errno::INVAL), "{}", wrong.len());
        }
    }

    #[test]
    fn an_address_is_for_a_socket_of_its_domain() {
        let four: [&[u8]; 4] = [&INET, &[0x1f, 0x90], &[127, 0, 0, 1], &[0; 8]];
        let v4 = Ok(Address::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 8080)));
        assert_eq!(of(AddressFamily::INET, &four), v4);
        assert_eq!(of(AddressFamily::INET6, &four), v4);
        assert_eq!(of(AddressFamily::UNIX, &four), Err(Errno::AFNOSUPPORT));
        let mut ip = [0; 16];
        ip[15] = 1;
        let six: [&[u8]; 5] = [&INET6, &[0, 80], &[0; 4], &ip, &7u32.to_ne_bytes()];
        assert_eq!(of(AddressFamily::INET6, &six), Ok(Address::V6(SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 0, 7))));
        assert_eq!(of(AddressFamily::INET, &[&INET, &[0; 13]]), Err(Errno::INVAL));
        assert_eq!(of(AddressFamily::INET, &[&UNIX, b"/x"]), Err(Errno::INVAL));
        assert_eq!(of(AddressFamily::INET, &[&[0, 0]]), Ok(Address::Nobody));
        assert_eq!(of(AddressFamily::UNIX, &[&[0, 0], &[0; 14]]), Err(Errno::INVAL));
        assert_eq!(of(AddressFamily::INET, &[&[2]]), Err(Errno::INVAL));
    }

    #[test]
    fn of_netlink_only_the_kernel_is_reached() {
        let netlink = |to: u32, groups: u32| {
            of(AddressFamily::NETLINK, &[&NETLINK, &[0; 2], &to.to_ne_bytes(), &groups.to_ne_bytes()])
        };
        assert_eq!(netlink(0, 0), Ok(Address::Kernel));
        assert_eq!(netlink(1, 0), Err(Errno::PERM));
        assert_eq!(netlink(0, 1), Err(Errno::PERM));
    }

    #[test]
    fn lengths_are_bounded_and_what_cannot_be_read_is_a_fault() {
        let all = |into: &mut [u8]| into.len();
        assert_eq!(text(16, all), Ok(vec![0; 16]));
        assert_eq!(text(129, all), Err(Errno::INVAL));
        assert_eq!(text(u32::MAX, all), Err(Errno::INVAL));
        assert_eq!(text(16, |_| 15), Err(Errno::FAULT));
    }
}
