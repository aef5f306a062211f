//! Unix sockets with names: a command's own can be reached, those of the machine cannot.

use std::os::unix::net::UnixListener;
use std::path::Path;

use serde_json::json;

use crate::peer::{Peer, text};
use crate::shell::is_confined_here;
use crate::world::{World, world};

/// Serves at each address and connects to it, in every way that a program may.
const OWN: &str = r"
import os, socket, tempfile, threading
def trial(name, family, kind, address, timeout=None):
    try:
        server = socket.socket(family, kind)
        server.bind(address)
        server.listen()
        def serve():
            client, _ = server.accept()
            client.sendall(b'hello')
            client.close()
        threading.Thread(target=serve, daemon=True).start()
        client = socket.socket(family, kind)
        client.settimeout(timeout)
        client.connect(server.getsockname())
        print(name, client.recv(9).decode(), end='; ')
    except OSError as error:
        print(name, error.strerror, end='; ')
unix, stream = socket.AF_UNIX, socket.SOCK_STREAM
trial('private', unix, stream, tempfile.mkdtemp() + '/s')
trial('timed', unix, stream, tempfile.mkdtemp() + '/s', 5)
trial('packets', unix, socket.SOCK_SEQPACKET, tempfile.mkdtemp() + '/s')
trial('relative', unix, stream, 'own.sock')
trial('absolute', unix, stream, os.path.abspath('other.sock'))
trial('nameless', unix, stream, '\0of-its-network')
trial('shared memory', unix, stream, '/dev/shm/s')
trial('tcp', socket.AF_INET, stream, ('127.0.0.1', 0))
trial('tcp timed', socket.AF_INET, stream, ('127.0.0.1', 0), 5)
trial('tcp6', socket.AF_INET6, stream, ('::1', 0))
trial('datagrams', unix, socket.SOCK_DGRAM, '/tmp/d')
";

/// Connects to each name that it is given.
const TRIES: &str = r"
import errno, socket, sys
for name in sys.argv[1:]:
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect(name.replace('@', '\0'))
        print(name, 'REACHED')
    except OSError as error:
        print(name, errno.errorcode[error.errno])
";

/// A world with sockets of the machine around it, on which nobody may come.
fn besieged() -> (World, Vec<UnixListener>) {
    let world = world().file("own.py", OWN).file("tries.py", TRIES);
    let at = |path: &Path| {
        let listener = UnixListener::bind(path).expect("a socket of the machine");
        listener.set_nonblocking(true).expect("it does not wait");
        listener
    };
    let listeners = vec![at(&world.root().join("machine.sock")), at(&world.path("home").join("agent.sock"))];
    std::os::unix::fs::symlink(world.path("home").join("agent.sock"), world.root().join("link.sock")).expect("a link");
    (world, listeners)
}

fn nobody_came(listeners: &[UnixListener]) {
    for listener in listeners {
        assert!(listener.accept().is_err(), "{:?} was reached", listener.local_addr());
    }
}

#[test]
fn a_command_that_may_write_reaches_its_own_sockets_by_name() {
    if !is_confined_here() {
        return;
    }
    let (world, listeners) = besieged();
    let ran = world.run(&["call", "bash", "command=python3 own.py", "--mode", "workspace"]);
    ran.exits(0);
    for name in ["private", "timed", "packets", "relative", "absolute", "nameless", "shared memory", "tcp", "tcp6"] {
        ran.says(&format!("{name} hello"));
    }
    ran.says("tcp timed hello").says("datagrams Address family not supported by protocol");
    assert!(!world.root().join("own.sock").exists(), "sockets stay in the layer");
    // What only reads has none.
    let read_only = ["sandbox", "exec", "--profile", "read-only", "--", "python3"];
    let script = "import socket; socket.socket(socket.AF_UNIX)";
    world.run(&[&read_only[..], &["-c", script]].concat()).exits(1).complains("Address family not supported");
    world.run(&["sandbox", "exec", "--profile", "workspace", "--", "python3", "own.py"]).exits(0).says("private hello");
    nobody_came(&listeners);
}

#[test]
fn sockets_of_the_machine_are_out_of_reach_however_they_are_named() {
    if !is_confined_here() {
        return;
    }
    let (world, listeners) = besieged();
    let agent = world.path("home").join("agent.sock");
    let script = format!(
        "ln -s {agent} /tmp/link\ncd /tmp\npython3 {root}/tries.py {root}/machine.sock {agent} {root}/link.sock \
         /tmp/link link /proc/self/root{agent} /proc/self/cwd/link /proc/self/cwd/../{agent}\n\
         cd {root}\npython3 tries.py machine.sock ./link.sock ../home/agent.sock\n",
        agent = agent.display(),
        root = world.root().display(),
    );
    std::fs::write(world.root().join("all.sh"), script).expect("written");
    let over_a_layer: &[&str] = &["call", "bash", "command=sh all.sh", "--mode", "workspace"];
    let bare: &[&str] = &["sandbox", "exec", "--profile", "workspace", "--", "sh", "all.sh"];
    for words in [over_a_layer, bare] {
        let ran = world.run(words);
        ran.exits(0);
        assert_eq!(ran.out.matches(".sock ").count() + ran.out.matches("link ").count(), 11, "{ran:?}");
        assert!(!ran.out.contains("REACHED"), "{ran:?}");
    }
    nobody_came(&listeners);
}

#[test]
fn jobs_and_interpreters_reach_their_own_and_what_they_leave_is_told() {
    if !is_confined_here() {
        return;
    }
    let (world, listeners) = besieged();
    let mut peer =
        Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace", "--allow", "exec(repl *)"]));
    peer.initialize("2025-11-25");
    let job = "python3 own.py; python3 tries.py machine.sock own.sock; echo all";
    peer.call("nika_bash", json!({"command": job, "run_in_background": true}));
    peer.call("nika_job_output", json!({"job_id": "j1", "filter": "^all", "wait_ms": 20_000}));
    let out = text(&peer.call("nika_job_output", json!({"job_id": "j1", "offset": 0})));
    for says in ["private hello", "tcp hello", "relative hello", "absolute hello", "nameless Operation not permitted"] {
        assert!(out.contains(says), "{says}: {out}");
    }
    assert!(out.contains("machine.sock EPERM") && out.contains("own.sock ECONNREFUSED"), "{out}");
    nobody_came(&listeners);
    let code = "import multiprocessing.connection as c, threading\n\
                server = c.Listener(family='AF_UNIX')\n\
                threading.Thread(target=lambda: server.accept().send('heard'), daemon=True).start()\n\
                print(c.Client(server.address).recv())";
    let said = peer.call("nika_repl", json!({"language": "python", "code": code}));
    assert!(text(&said).contains("heard"), "{said}");
}

#[test]
fn many_who_wait_for_a_connection_hold_up_nobody() {
    if !is_confined_here() {
        return;
    }
    // More than may wait at once, at a server that takes nobody.
    let script = r"
import errno, os, socket, tempfile, threading
server = socket.socket(socket.AF_UNIX)
server.bind(tempfile.mkdtemp() + '/full')
server.listen(0)
said = []
def connect():
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect(server.getsockname())
    except OSError as error:
        said.append(errno.errorcode[error.errno])
for _ in range(100):
    threading.Thread(target=connect, daemon=True).start()
while 'EAGAIN' not in said:
    os.sched_yield()
other = socket.create_server(('127.0.0.1', 0))
socket.create_connection(other.getsockname(), timeout=9)
open('made', 'w').close()
print('free', flush=True)
os._exit(0)
";
    let world = world().file("full.py", script);
    world.run(&["call", "bash", "command=python3 full.py", "--mode", "workspace"]).exits(0).says("free");
    assert!(world.root().join("made").exists());
}

#[test]
fn commands_of_a_session_reach_none_of_each_others_sockets() {
    if !is_confined_here() {
        return;
    }
    let serve = "import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind('/tmp/shared')\ns.listen()\n\
                 t = socket.socket(socket.AF_UNIX)\nt.bind('\\0shared')\nt.listen()\nprint('up', flush=True)\ns.accept()\n";
    let world = world().file("serve.py", serve).file("tries.py", TRIES);
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    peer.call("nika_bash", json!({"command": "python3 serve.py", "run_in_background": true}));
    let up = peer.call("nika_job_output", json!({"job_id": "j1", "filter": "up", "wait_ms": 20_000}));
    assert!(text(&up).contains("up"), "{up}");
    let tried = text(&peer.call("nika_bash", json!({"command": "ls /tmp; python3 tries.py /tmp/shared @shared"})));
    assert!(
        tried.contains("shared\n") && tried.contains("/tmp/shared EPERM") && tried.contains("@shared EPERM"),
        "{tried}"
    );
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_root_that_no_layer_covers_has_no_socket_of_the_machine_either() {
    if !is_confined_here() {
        return;
    }
    // So many guarded entries that the whole root is read-only.
    let (world, listeners) = besieged();
    for at in 0..600 {
        std::fs::write(world.root().join(format!("x{at}.code-workspace")), "{}").expect("written");
    }
    let ran = world.run(&["call", "bash", "command=python3 tries.py machine.sock", "--mode", "workspace"]);
    assert!(!ran.out.contains("REACHED") && ran.out.contains("machine.sock E"), "{ran:?}");
    nobody_came(&listeners);
}

#[test]
fn what_waits_for_a_connection_ends_with_its_command() {
    if !is_confined_here() {
        return;
    }
    let script = r"
import os, socket, tempfile, threading
server = socket.socket(socket.AF_UNIX)
server.bind(tempfile.mkdtemp() + '/full')
server.listen(0)
for _ in range(40):
    threading.Thread(target=lambda: socket.socket(socket.AF_UNIX).connect(server.getsockname()), daemon=True).start()
quiet = socket.create_server(('127.0.0.1', 0), backlog=0)
for _ in range(20):
    threading.Thread(target=lambda: socket.socket().connect(quiet.getsockname()), daemon=True).start()
while threading.active_count() < 40:
    os.sched_yield()
print('waiting', flush=True)
os._exit(0)
";
    let world = world().file("wait.py", script);
    let mut peer = Peer::start(world.nika(&["serve", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    let tasks = format!("/proc/{}/task", peer.id());
    let threads = || std::fs::read_dir(&tasks).expect("it runs").count();
    let before = threads();
    for _ in 0..3 {
        let said = text(&peer.call("nika_bash", json!({"command": "python3 wait.py"})));
        assert!(said.contains("waiting"), "{said}");
    }
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while threads() > before + 8 && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    assert!(threads() <= before + 8, "{before} threads before, {} now", threads());
    assert_eq!(peer.end(), 0);
}
