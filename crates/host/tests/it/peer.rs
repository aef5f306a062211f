//! A server that somebody configured, for as long as it is wanted.

use std::fs::File;
use std::io::{BufRead, BufReader};

use nika_guard::profile::{Access, Profile};
use nika_guard::{Configured, Layer};
use nika_host::proc::{Peer, PeerPipes, StartError};

use crate::scene::{jobs, until, with_word};

/// Starts a script as a server that may reach hosts, or says that this system has no sandbox.
fn start(script: &str) -> Option<(Peer, PeerPipes)> {
    let mut profile = Profile::new(Access::ReadOnly, "/usr", "/nonexistent");
    profile.env = vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
    profile.hosts = vec!["host.invalid".to_owned()];
    let argv = ["bash", "-c", script].map(str::to_owned).to_vec();
    let configured = Configured::new(argv, Layer::User, "test:1", true).expect("a person's own");
    match jobs().start_peer(&configured, profile) {
        Ok(started) => Some(started),
        Err(StartError::Refused { why, .. }) => {
            println!("skipped: {why}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn lines(pipe: rustix::fd::OwnedFd) -> impl Iterator<Item = String> {
    rustix::io::ioctl_fionbio(&pipe, false).expect("a pipe");
    BufReader::new(File::from(pipe)).lines().map_while(Result::ok)
}

/// More than a socket has room to report.
const CONNECTIONS: usize = 1_200;

#[test]
fn a_server_that_connects_often_keeps_its_network() {
    // Each is answered or not within seconds; a host that is not listed is refused without being looked up.
    let script = format!(
        "for n in {{1..{CONNECTIONS}}}; do exec 3<>/dev/tcp/127.0.0.1/3128 || continue
         printf 'GET http://n%s.a-name-of-some-length.example/ HTTP/1.1\\r\\n\\r\\n' $n >&3
         read -r -t 5 -u 3 a status b || {{ echo \"$n: nobody answers\"; exit 1; }}
         exec 3>&-; done; echo \"all: $status\"; exec sleep 93.25"
    );
    let Some((peer, pipes)) = start(&script) else { return };
    assert_eq!(lines(pipes.stdout).next().as_deref(), Some("all: 403"));
    let refused = peer.refused_hosts();
    assert_eq!(refused.len(), 8);
    assert_eq!(refused[0], "n1.a-name-of-some-length.example");
    assert_eq!(peer.ended(), None);
    drop(peer);
    assert_eq!(with_word("93.25"), Vec::<String>::new());
}

#[test]
fn a_server_that_ends_says_how() {
    let Some((peer, _pipes)) = start("exit 3") else { return };
    until("it ended", || peer.ended().is_some());
    assert_eq!(peer.ended().as_deref(), Some("it exited with status 3"));
}
