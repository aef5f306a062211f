//! The hosts that clients reach: which of their words are addresses, and where they go when no word says it.
//!
//! What an option that no table has does to that is not known: then any host may be reached, beside those that are named.
//! What it sends and keeps of files is said in `files`; text that it runs is not said here.

mod files;

use super::super::fact::Fact;
use super::super::judge::{Arg, Judge};
use super::addresses::{self, one};
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, Style, lists, parse};
use Does::{AskFlag, Flag, Maybe, Net, Read, ReadTree, Run, Value, Write, WriteTree};

/// A client and how it is told where to go. Of its options `Net` takes an address; what `Run` and `AskFlag` add cannot be
/// told.
struct Client {
    spec: Spec,
    operands: Where,
    /// Options that take the place of a socket (blank-separated): then no host is reached.
    sockets: &'static str,
    /// Where it goes when nothing says it, unless its settings may.
    otherwise: Option<&'static str>,
    /// With which of these options what it fetches gets a name that the other side chooses, and with which it does not.
    kept: (&'static str, &'static str),
}

/// Which operands say it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// Each is an address.
    Each,
    /// Each is an address in which curl's `{a,b}` and `[1-3]` stand for several.
    Globs,
    /// Each has a scheme; without one it is no address (websocat's `exec:`).
    Schemes,
    /// The first is an address or a host.
    First,
    /// A method, an address, and parts of the request: httpie.
    Request,
    /// The first is a database by its name or address.
    Database,
    /// The same, and without a scheme `HOST/NAME`: mongosh.
    Mongo,
    /// None.
    No,
}

const CURL_FLAGS: &str = "# 0 1 2 3 4 6 a B f g G i I j J k l L M n N O p q R s S v V Z : anyauth append basic \
    ca-native cert-status compressed compressed-ssh create-dirs crlf digest disable disable-eprt disable-epsv \
    disallow-username-in-url fail fail-early fail-with-body false-start form-escape ftp-create-dirs ftp-pasv \
    ftp-pret ftp-skip-pasv-ip ftp-ssl-ccc ftp-ssl-control get globoff haproxy-protocol head http0.9 http1.0 \
    http1.1 http2 http2-prior-knowledge http3 http3-only ignore-content-length include insecure ipv4 ipv6 \
    junk-session-cookies list-only location location-trusted negotiate netrc netrc-optional next no-alpn \
    no-buffer no-clobber no-keepalive no-npn no-progress-meter no-sessionid ntlm ntlm-wb parallel \
    parallel-immediate path-as-is post301 post302 post303 progress-bar proxy-anyauth proxy-basic proxy-ca-native \
    proxy-digest proxy-http2 proxy-insecure proxy-negotiate proxy-ntlm proxy-ssl-allow-beast \
    proxy-ssl-auto-client-cert proxy-tlsv1 proxytunnel raw remote-header-name remote-name remote-name-all \
    remote-time remove-on-error retry-all-errors retry-connrefused sasl-ir show-error show-headers silent \
    skip-existing socks5-basic socks5-gssapi socks5-gssapi-nec ssl ssl-allow-beast ssl-auto-client-cert \
    ssl-no-revoke ssl-reqd ssl-revoke-best-effort sslv2 sslv3 styled-output suppress-connect-headers \
    tcp-fastopen tcp-nodelay tftp-no-options tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding trace-ids \
    trace-time use-ascii verbose xattr";
const CURL_VALUES: &str = "A C e m P Q r t u U X y Y z aws-sigv4 cert-type ciphers connect-timeout continue-at create-file-mode \
    curves data-raw delegation dns-interface dns-ipv4-addr dns-ipv6-addr ech expect100-timeout form-string \
    ftp-account ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode happy-eyeballs-timeout-ms \
    haproxy-clientip hostpubmd5 hostpubsha256 interface ip-tos keepalive-cnt keepalive-time key-type krb \
    limit-rate local-port login-options mail-auth mail-from mail-rcpt max-filesize max-redirs max-time \
    noproxy oauth2-bearer parallel-max pass pinnedpubkey proto proto-redir proxy-cert-type \
    proxy-ciphers proxy-key-type proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers \
    proxy-tlsauthtype proxy-tlspassword proxy-tlsuser proxy-user quote range rate referer request \
    request-target retry retry-delay retry-max-time sasl-authzid service-name socks5-gssapi-service \
    speed-limit speed-time telnet-option tftp-blksize time-cond tls-max tls13-ciphers tlsauthtype \
    tlspassword tlsuser trace-config unix-socket user user-agent vlan-priority";
const WGET_FLAGS: &str = "h b d q v F c N S x r k K m p E L 4 6 quiet verbose no-verbose show-progress no-check-certificate \
    spider continue timestamping no-timestamping server-response no-clobber recursive mirror page-requisites convert-links \
    no-parent no-host-directories no-directories force-directories adjust-extension content-disposition \
    trust-server-names no-proxy inet4-only inet6-only no-cookies keep-session-cookies no-cache https-only background debug \
    no-dns-cache no-config no-hsts ignore-length no-http-keep-alive auth-no-challenge retry-connrefused no-iri random-wait \
    relative no-glob no-passive-ftp backup-converted delete-after no-use-server-timestamps content-on-error no-netrc \
    unlink xattr";
const WGET_VALUES: &str = "n t T w Q U A R D I X l B tries timeout dns-timeout connect-timeout read-timeout wait waitretry quota \
    user-agent accept reject accept-regex reject-regex domains exclude-domains include-directories \
    exclude-directories level header post-data body-data method referer user password http-user \
    http-password proxy-user proxy-password certificate-type private-key-type limit-rate max-redirect \
    cut-dirs progress restrict-file-names bind-address secure-protocol ciphers compression local-encoding \
    remote-encoding default-page prefer-family retry-on-http-error start-pos base";
/// What it fetches is kept with any options.
const EVER: &str = "*";
const POSTGRES_FLAGS: &str = "w W no-password password e echo q quiet v verbose";
const POSTGRES_VALUES: &str = "p port U username";

/// The clients that can be read. Programs of which a version has other options stand in no row together.
const CLIENTS: &[Client] = &[
    client(
        "curl",
        &[
            (Flag, CURL_FLAGS),
            (Value, CURL_VALUES),
            (Value, "d data data-ascii data-binary json F form H header proxy-header w write-out data-urlencode"),
            (Value, "url-query b cookie T upload-file"),
            (Read, "cacert cert E key crlfile proxy-cacert proxy-cert proxy-crlfile proxy-key pubkey random-file"),
            (Read, "egd-file etag-compare netrc-file"),
            (ReadTree, "capath proxy-capath"),
            (Write, "o output D dump-header c cookie-jar trace trace-ascii etag-save stderr hsts libcurl"),
            (WriteTree, "output-dir"),
            CURL_HOSTS,
            (Run, "K config variable alt-svc engine proto-default"),
        ],
        Where::Globs,
    )
    .listening("unix-socket")
    .keeping("O remote-name remote-name-all J remote-header-name", ""),
    client(
        "wget wget2",
        &[
            (Flag, WGET_FLAGS),
            (Value, WGET_VALUES),
            (Read, "post-file body-file load-cookies certificate private-key ca-certificate"),
            (ReadTree, "ca-directory"),
            (Write, "O output-document o output-file a append-output save-cookies hsts-file"),
            (WriteTree, "P directory-prefix"),
            (AskFlag, "H span-hosts"),
            (Run, "i input-file e execute config use-askpass"),
        ],
        Where::Each,
    )
    .keeping(EVER, "O output-document spider"),
    client(
        "http https httpie",
        &[
            (Flag, "j json f form multipart x compress v verbose h headers b body m meta S stream d"),
            (Flag, "download c continue"),
            (Flag, "F follow check-status ignore-netrc ignore-stdin I chunked no-stream path-as-is debug"),
            (Flag, "traceback all q"),
            (Flag, "quiet offline sorted unsorted no-verify no-follow no-check-status"),
            (Value, "p print P history-print s style format-options pretty session session-read-only a auth A"),
            (Value, "auth-type verify ssl cert-key-pass ciphers timeout max-redirects"),
            (Read, "cert cert-key"),
            (Write, "o output"),
            (Value, "max-headers boundary"),
            (Value, "response-charset response-mime raw"),
            (Net, "proxy"),
        ],
        Where::Request,
    )
    .keeping("d download", "o output"),
    client(
        "xh xhs",
        &[
            (Flag, "j json f form multipart h headers b body m meta v verbose S stream q quiet F follow"),
            (Flag, "d download c"),
            (Flag, "continue check-status no-check-status ignore-stdin I ignore-netrc offline https 4"),
            (Flag, "ipv4 6 ipv6 debug"),
            (Flag, "all compress x no-follow no-verify"),
            (Value, "p print P history-print s style pretty format-options session session-read-only A auth-type"),
            (Value, "a auth raw max-redirects timeout verify ssl"),
            (Read, "cert cert-key"),
            (Write, "o output"),
            (Value, "http-version interface"),
            (Value, "response-charset response-mime unix-socket"),
            (Net, "proxy resolve"),
        ],
        Where::Request,
    )
    .listening("unix-socket")
    .keeping("d download", "o output"),
    client(
        "axel",
        &[(Flag, "a q v k c 4 6 alternate quiet verbose insecure"), (Value, "n s T H U"), (Write, "o")],
        Where::Each,
    )
    .keeping(EVER, "o"),
    client(
        "lynx",
        &[
            (Flag, "dump source head listonly nolist nonumbers image_links hiddenlinks justify"),
            (Flag, "useragent_default"),
            (Value, "width"),
        ],
        Where::Schemes,
    )
    .one_dash(),
    client("w3m", &[(Flag, "dump dump_source dump_head"), (Value, "cols T")], Where::Schemes).one_dash(),
    client(
        "ab",
        &[
            (Flag, "r w i k d I l q S"),
            (Value, "n c t s b T v C H A P y z x m Z f B"),
            (Read, "p u"),
            (Write, "e g"),
            (Net, "X"),
        ],
        Where::First,
    ),
    client(
        "wrk wrk2",
        &[
            (Flag, "L latency"),
            (Value, "c t d H R connections threads duration header timeout rate"),
            (Run, "s script"),
        ],
        Where::First,
    ),
    client(
        "hey",
        &[
            (Flag, "h2 disable-compression disable-keepalive disable-redirects"),
            (Value, "n c q z o m H t A d T a host cpus U"),
            (Read, "D"),
            (Net, "x"),
        ],
        Where::First,
    )
    .one_dash(),
    client(
        "oha",
        &[
            (Flag, "no-tui j json disable-keepalive insecure ipv4 ipv6 http2 latency-correction"),
            (Flag, "disable-compression no-color"),
            (Value, "n c q z t m H d T a A p w http-version host fps redirect output-format"),
            (Read, "D"),
            (Net, "x"),
        ],
        Where::First,
    ),
    client(
        "grpcurl",
        &[
            (Flag, "plaintext insecure v vv emit-defaults allow-unknown-fields use-reflection"),
            (Flag, "expand-headers format-error"),
            (Flag, "msg-template"),
            (Value, "d H rpc-header reflect-header max-time connect-timeout keepalive-time max-msg-sz"),
            (Value, "format user-agent"),
            (Value, "authority servername import-path"),
            (Read, "proto protoset cacert cert key"),
        ],
        Where::First,
    )
    .one_dash(),
    client(
        "websocat",
        &[
            (Flag, "v q b t n 1 u U E k insecure no-close one-message text binary unidirectional"),
            (Flag, "exit-on-eof"),
            (Value, "H header protocol origin ping-interval ping-timeout"),
        ],
        Where::Schemes,
    ),
    client(
        "wscat",
        &[
            (Flag, "n no-check no-color slash P show-ping-pong"),
            (Value, "x execute H header p protocol o origin w wait s subprotocol auth"),
            (Net, "c connect"),
        ],
        Where::No,
    ),
    client("nc ncat netcat", &[(Flag, "z v n u 4 6 N t"), (Value, "w i q p")], Where::First),
    client("telnet", &[(Flag, "4 6 8 E L K c d F f r a"), (Value, "e l b")], Where::First),
    client("ping ping6", &[(Flag, "4 6 a A b D f n O q U v"), (Value, "c i I l M m p Q s S t w W")], Where::Each),
    client(
        "redis-cli valkey-cli keydb-cli",
        &[
            (Flag, "x e raw no-raw csv json scan bigkeys memkeys hotkeys stat latency latency-history"),
            (Flag, "latency-dist pipe"),
            (Flag, "no-auth-warning tls insecure quoted-input verbose 2 3"),
            (Value, "X p s t a r i n D d pass user intrinsic-latency pattern count show-pushes lru-test"),
            (Value, "sni"),
            (Read, "cacert cacertdir cert key"),
            (Net, "h u"),
            (AskFlag, "c"),
        ],
        Where::No,
    )
    .stopping()
    .listening("s")
    .otherwise("127.0.0.1"),
    client(
        "psql",
        &[
            (Flag, "X no-psqlrc 1 single-transaction a echo-all A no-align b echo-errors e echo-queries"),
            (Flag, "E echo-hidden H html"),
            (Flag, "l list n no-readline q quiet s single-step S single-line t tuples-only x expanded z"),
            (Flag, "field-separator-zero 0 record-separator-zero w no-password W password csv"),
            (Value, "c command v set variable F field-separator P pset R record-separator T table-attr p"),
            (Value, "port U username"),
            (Read, "f file"),
            (Write, "o output L log-file"),
            (Net, "h host d dbname"),
        ],
        Where::Database,
    ),
    client(
        "pg_dump",
        &[
            (Flag, POSTGRES_FLAGS),
            (Flag, "a data-only s schema-only c clean C create O no-owner x no-privileges no-acl b blobs"),
            (Flag, "B no-blobs if-exists"),
            (Flag, "inserts column-inserts quote-all-identifiers no-comments"),
            (Value, POSTGRES_VALUES),
            (Value, "F format n schema N exclude-schema T exclude-table t table j jobs Z compress E"),
            (Value, "encoding"),
            (Value, "exclude-table-data"),
            (Write, "f file"),
            (Net, "h host d dbname"),
        ],
        Where::Database,
    ),
    client(
        "pg_isready",
        &[(Flag, "q quiet"), (Value, POSTGRES_VALUES), (Value, "t timeout"), (Net, "h host d dbname")],
        Where::No,
    ),
    client(
        "dropdb",
        &[(Flag, POSTGRES_FLAGS), (Flag, "i interactive f force if-exists"), (Value, POSTGRES_VALUES), (Net, "h host")],
        Where::No,
    ),
    client(
        "createdb",
        &[
            (Flag, POSTGRES_FLAGS),
            (Value, POSTGRES_VALUES),
            (Value, "O owner T template E encoding D tablespace l locale"),
            (Net, "h host"),
        ],
        Where::No,
    ),
    client(
        "mysql mariadb",
        &[
            (Flag, "B batch N skip-column-names s silent t table v verbose w wait C compress f force n"),
            (Flag, "unbuffered q quick r raw"),
            (Flag, "A no-auto-rehash E vertical G H html L X xml c comments ssl skip-ssl"),
            (Maybe, "p password"),
            (Value, "P port u user D database e execute protocol default-character-set connect-timeout"),
            (Value, "ssl-mode S socket"),
            (Net, "h host"),
        ],
        Where::No,
    )
    .listening("S socket"),
    client(
        "mysqladmin mysqlshow",
        &[
            (Flag, "v verbose s silent C compress f force"),
            (Maybe, "p password"),
            (Value, "P port u user protocol connect-timeout S socket"),
            (Net, "h host"),
        ],
        Where::No,
    )
    .listening("S socket"),
    client(
        "mysqldump mariadb-dump",
        &[
            (Flag, "v verbose C compress f force A all-databases B databases d no-data t no-create-info"),
            (Flag, "n no-create-db q quick"),
            (Flag, "single-transaction R routines triggers E events add-drop-table skip-comments"),
            (Flag, "skip-lock-tables"),
            (Flag, "no-tablespaces"),
            (Maybe, "p password"),
            (Value, "P port u user protocol S socket"),
            (Write, "r result-file"),
            (Net, "h host"),
        ],
        Where::No,
    )
    .listening("S socket"),
    client(
        "mongosh mongo",
        &[
            (Flag, "quiet norc shell tls ssl verbose json"),
            (Value, "eval port u username p password authenticationDatabase authenticationMechanism"),
            (Run, "f file"),
            (Net, "host"),
        ],
        Where::Mongo,
    )
    .otherwise("127.0.0.1"),
];

const CURL_HOSTS: (Does, &str) = (
    Net,
    "x url proxy preproxy proxy1.0 socks4 socks4a socks5 socks5-hostname doh-url dns-servers connect-to resolve ipfs-gateway",
);

const fn client(names: &'static str, opts: &'static [(Does, &'static str)], operands: Where) -> Client {
    Client {
        spec: Spec { names, opts, operands: Operands::Custom, ..PLAIN },
        operands,
        sockets: "",
        otherwise: None,
        kept: ("", ""),
    }
}

impl Client {
    const fn one_dash(self) -> Client {
        Client { spec: Spec { style: Style::OneDash, ..self.spec }, ..self }
    }

    /// The first operand ends its options.
    const fn stopping(self) -> Client {
        Client { spec: Spec { style: Style::GnuStop, ..self.spec }, ..self }
    }

    const fn listening(self, sockets: &'static str) -> Client {
        Client { sockets, ..self }
    }

    /// Keeps what it fetches in the working directory: with an option of `with` ([`EVER`]: with none as well), but not
    /// with one of `without`.
    const fn keeping(self, with: &'static str, without: &'static str) -> Client {
        Client { kept: (with, without), ..self }
    }

    const fn otherwise(self, host: &'static str) -> Client {
        Client { otherwise: Some(host), ..self }
    }
}

/// The operands of a client of the table, and the values of the options that take its language.
pub(super) fn given(parsed: &Parsed, judge: &Judge<'_>) -> (Vec<Arg>, Vec<Arg>) {
    let Some((_, _, read)) = read(parsed, judge) else { return Default::default() };
    let is_text = |option: &str| lists("c command e execute eval", option);
    let texts = read.done().filter(|(option, _, _)| is_text(option)).filter_map(|(_, value, _)| value.cloned());
    let texts = texts.collect();
    (read.operands, texts)
}

fn read<'p>(parsed: &'p Parsed, judge: &Judge<'_>) -> Option<(&'p str, &'static Client, Parsed)> {
    let name = parsed.path.first()?;
    let client = CLIENTS.iter().find(|client| client.spec.is(name))?;
    let argv: Vec<Arg> = std::iter::once(judge.word(name)).chain(parsed.operands.iter().cloned()).collect();
    Some((name, client, parse(&client.spec, &argv)))
}

/// Notes where a client of the table goes; false where it stands in none.
pub(super) fn hosts(parsed: &Parsed, judge: &mut Judge<'_>) -> bool {
    let Some((name, client, read)) = read(parsed, judge) else { return false };
    let reached = |judge: &Judge<'_>| judge.facts.iter().any(|fact| matches!(fact, Fact::Net(_)));
    let mut socket = false;
    if read.unknown.is_some() {
        judge.net(None);
        judge.opaque("an option of it is not known");
    }
    for (option, value, does) in read.done() {
        match (does, value) {
            (_, Some(place)) if lists(client.sockets, option) || is_directory(option, place) => {
                // Addresses and settings beside it may lead elsewhere all the same.
                judge.opaque("it talks to what listens at a socket");
                judge.write(place);
                socket = true;
            }
            (Net, Some(value)) => addresses::reach(value, &|text| behind(name, option, text), judge),
            (Run, _) => {
                judge.net(None);
                judge.opaque("an option runs a command, or names a file of options");
            }
            (Net | AskFlag, _) => judge.net(None),
            (Read, Some(file)) => judge.read(file),
            (ReadTree, Some(tree)) => judge.read_tree(tree),
            (Write, Some(file)) if file.exact().is_some_and(|text| text.starts_with('|')) => {
                judge.opaque("what it prints is given to a command");
            }
            (Write, Some(file)) => files::write(name, file, judge),
            (WriteTree, Some(tree)) => judge.write_tree(tree),
            _ => {}
        }
    }
    files::sent(name, &read, judge);
    files::kept(name, client.kept, &read, judge);
    if !socket {
        operands(client.operands, &read.operands, judge);
        if !reached(judge) {
            judge.net(client.otherwise);
        }
    }
    true
}

/// Whether the host of PostgreSQL is the directory of a socket.
fn is_directory(option: &str, value: &Arg) -> bool {
    matches!(option, "h" | "host") && value.exact().is_some_and(|text| text.starts_with('/'))
}

fn operands(which: Where, given: &[Arg], judge: &mut Judge<'_>) {
    let mut all = |read: &dyn Fn(&str) -> Option<Vec<String>>, words: &[Arg]| {
        words.iter().for_each(|word| addresses::reach(word, read, judge));
    };
    let first = given.get(..1).unwrap_or_default();
    match which {
        Where::Each => all(&one, given),
        Where::First => all(&one, first),
        Where::Globs => all(&addresses::globbed, given),
        Where::Schemes => all(&with_scheme, given),
        Where::Database => all(&database, first),
        Where::Mongo => {
            all(&mongo, first);
            // Files of commands, which may go elsewhere.
            if given.len() > 1 {
                judge.net(None);
            }
        }
        Where::Request => request(given, judge),
        Where::No => {}
    }
}

/// The hosts that the value of an option names.
fn behind(client: &str, option: &str, text: &str) -> Option<Vec<String>> {
    let each = |list: &str| list.split(',').map(|one| addresses::name(one).map(str::to_owned)).collect();
    match (client, option) {
        ("curl", "url") => addresses::globbed(text),
        // It takes the first `@`, wherever that stands.
        ("redis-cli" | "valkey-cli", _) if after_host(text).contains('@') => None,
        // `HOST:PORT:TO:PORT`, where nothing stands for the same.
        ("curl", "connect-to") if text.contains('[') => None,
        ("curl", "connect-to") => match text.split(':').nth(2) {
            Some("") => Some(Vec::new()),
            to => each(to?),
        },
        // `HOST:PORT:ADDRESS,ADDRESS`.
        ("curl", "resolve") if text.starts_with(['-', '[']) => None,
        ("curl", "resolve") => each(text.splitn(3, ':').nth(2)?),
        // `HOST:ADDRESS`.
        ("xh" | "xhs", "resolve") => each(text.split_once(':')?.1),
        // `SCHEME:ADDRESS`.
        ("http" | "https" | "httpie" | "xh" | "xhs", "proxy") => one(text.split_once(':')?.1),
        ("curl", "dns-servers") | (_, "h" | "host") => each(text),
        (_, "d" | "dbname") => database(text),
        _ if text.is_empty() => Some(Vec::new()),
        _ => one(text),
    }
}

/// `-` is no address.
fn with_scheme(text: &str) -> Option<Vec<String>> {
    match text {
        "-" => Some(Vec::new()),
        _ => one(text).filter(|_| text.contains("://")),
    }
}

/// What stands behind the host of an address.
fn after_host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())).1
}

/// A database by its address, by settings, or by a name, which says nothing of a host.
fn database(text: &str) -> Option<Vec<String>> {
    if text.contains("://") {
        // Who is logged in ends at the last `@` before a slash, whatever stands between.
        let is_plain = text.starts_with("postgres") && !text.contains('#') && !after_host(text).contains('@');
        return addresses::of_database(text).filter(|_| is_plain);
    }
    if !text.contains('=') {
        return Some(Vec::new());
    }
    if text.contains(['\'', '\\']) {
        return None;
    }
    let mut hosts = Vec::new();
    for setting in text.split_whitespace() {
        match setting.split_once('=')? {
            ("host" | "hostaddr", list) => {
                for host in list.split(',') {
                    hosts.push(addresses::name(host)?.to_owned());
                }
            }
            ("service", _) | ("", _) | (_, "") => return None,
            _ => {}
        }
    }
    Some(hosts)
}

/// A database of mongosh. One with a dot may be a name or a host.
fn mongo(text: &str) -> Option<Vec<String>> {
    match text {
        _ if text.contains("://") => addresses::of_database(text),
        _ if text.contains([':', '/']) => one(text),
        _ => text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).then(Vec::new),
    }
}

/// `[METHOD] ADDRESS [ITEM…]`.
fn request(given: &[Arg], judge: &mut Judge<'_>) {
    const METHODS: &str = "get post put patch delete head options";
    let letters = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let (address, items) = match given {
        [] => return,
        [method, address, items @ ..] if method.exact().is_some_and(letters) => {
            // With a part behind it a host of letters alone is read as a method.
            let known = method.exact().is_some_and(|text| lists(METHODS, &text.to_ascii_lowercase()));
            if !known {
                judge.net(None);
            }
            (address, items)
        }
        [address, items @ ..] => (address, items),
    };
    addresses::reach(address, &requested, judge);
    for item in items {
        let Some(text) = item.exact() else { continue };
        if let Some(file) = files::embedded(text) {
            judge.read(&item.with(file));
        }
    }
}

/// An address, or `:PORT/PATH` on this machine.
fn requested(text: &str) -> Option<Vec<String>> {
    let Some(rest) = text.strip_prefix(':') else { return one(text) };
    let path = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let here = path.is_empty() || path.starts_with(['/', '?', '#']) && !path.starts_with("//") && !path.contains('@');
    here.then(|| vec!["localhost".to_owned()])
}

#[cfg(test)]
mod tests;
