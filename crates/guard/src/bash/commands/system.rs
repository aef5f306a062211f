//! Programs that show the system, and those that change it.
//!
//! Showing is harmless where it needs no network and no rights. The forms that change something are
//! not in the tables as options; where an operand makes the difference, a function says so.

use super::super::judge::{Arg, Judge, Word};
use super::spec::Does::{Flag, Info, Maybe, NetFlag, Value, Write};
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, Style, lists, may_be_option};
use super::text::anything;
use super::within;

/// The table.
pub(super) const SPECS: &[Spec] = &[
    // No option and no operand of these touches anything.
    // Elsewhere it runs the program behind it.
    Spec { names: "arch", ..PLAIN },
    anything("uname guname nproc whoami tty groups id gid logname sleep cal ncal tput locale uptime clear"),
    // Where no file holds it, it comes from the address of the machine, which is asked for.
    Spec { names: "hostid", operands: Operands::Words, check: Some(|_, judge| judge.net(None)), ..PLAIN },
    anything("lsb_release lsmod runlevel sw_vers c++filt acpi lsipc ipcs lslocks lsmem usleep"),
    // `-s` sets what the configuration says.
    shows("sensors", &[(Flag, "A no-adapter u j f fahrenheit allow-no-sensors"), (Info, "v h")]),
    // `-C` and `-S` change the records.
    shows("lastlog", &[(Value, "b before t time u user"), (Info, "h")]),
    shows(
        "whatis apropos",
        &[(Flag, "a and e exact r regex w wildcard l long d debug v verbose"), (Value, "s section")],
    ),
    shows("atq", &[(Value, "q"), (Info, "V")]),
    shows("getenforce sestatus", &[(Flag, "v b")]),
    // With a host it is asked which programs it runs.
    Spec { operands: Operands::None, ..shows("jps", &[(Flag, "q m l v V")]) },
    shows("w", &[(Flag, "h no-header u no-current s short f from o old-style i ip-addr p pids"), (Info, "V")]),
    shows("last lastb", &[(Flag, "a F fulltimes i w x R s"), (Value, "# n limit t until p present since")]),
    shows(
        "free",
        &[
            (
                Flag,
                "b bytes kilo mega giga tera peta k kibi m mebi g gibi tebi pebi h human si l lohi t total v w wide L",
            ),
            (Flag, "committed"),
            (Value, "s seconds c count"),
            (Info, "V"),
        ],
    ),
    shows(
        "vmstat iostat mpstat pidstat",
        &[
            (
                Flag,
                "a active f forks m slabs n one-header s stats d disk D disk-sum w wide t timestamp y x z h human c \
                 k N A u r v",
            ),
            (Value, "S unit P p"),
            (Info, "V"),
        ],
    ),
    shows(
        "lscpu",
        &[
            (Flag, "a all b online B bytes C c offline J json e p x hex y physical output-all"),
            (Maybe, "caches extended parse"),
            (Does::ReadTree, "s sysroot"),
            (Info, "h V"),
        ],
    ),
    shows(
        "lsblk",
        &[
            (
                Flag,
                "A noempty D discard J json M merge O output-all P pairs S scsi T a all b bytes d nodeps f fs i \
                 ascii l list \
             m perms n noheadings p paths r raw s inverse t topology y shell z zoned N nvme v virtio k",
            ),
            (Value, "E dedup I include e exclude o output w width x sort"),
            (Maybe, "tree"),
            (Info, "h V"),
        ],
    ),
    // `-c`, `-w` and `-g` change the file in which it remembers devices.
    shows(
        "blkid",
        &[
            (Flag, "p probe i info l list-one k list-filesystems d no-encoding D"),
            (Value, "s match-tag o output t match-token L label U uuid n match-types u usages O offset S size H hint"),
            (Info, "h V"),
        ],
    ),
    // Nothing is bundled: `-dump FILE` writes.
    Spec {
        style: Style::OneDash,
        ..shows(
            "lshw",
            &[
                (Flag, "short businfo json xml html numeric quiet sanitize notime"),
                (Value, "class c C disable enable"),
                (Info, "version help"),
            ],
        )
    },
    shows(
        "lspci lsusb lsns",
        &[
            (Flag, "v vv vvv n nn k t m mm D b x short businfo json tree J l list r raw W nowrap"),
            (Value, "s d class c C sort output"),
            (Info, "V h"),
        ],
    ),
    // `daemon`, `drain`, `mig` and others change the machine.
    Spec {
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if !parsed.operands.iter().all(|word| matches!(word.exact(), Some("topo" | "dmon" | "pmon"))) {
                judge.system("changes what the graphics card does");
            }
        }),
        ..shows(
            "nvidia-smi",
            &[
                (Flag, "L list-gpus q query x xml-format m matrix"),
                (Value, "i id query-gpu format query-compute-apps d display count"),
                (Maybe, "l loop"),
                (Info, "h"),
            ],
        )
    },
    shows(
        "pidof pgrep pstree pwdx",
        &[
            (
                Flag,
                "l list-name a list-full v inverse w lightweight c count f full i ignore-case n newest o oldest x \
                 exact p show-pids \
             s show-parents A ascii U unicode T hide-threads h highlight-all q quiet X L logpidfile t z",
            ),
            (Value, "d delimiter g pgroup G group O older P parent u euid r runstates ns nslist S"),
            (Does::Read, "F pidfile"),
            (Info, "V"),
        ],
    ),
    // `-n` and `-N` make files of settings.
    shows("pmap", &[(Flag, "x extended d device q quiet p show-path X A"), (Info, "V h")]),
    Spec {
        names: "lsof",
        opts: &[(Flag, "n P l t R b w a N O U X"), (Value, "c d p g s u F"), (Maybe, "i r T f"), (Info, "h v ?")],
        operands: Operands::Read,
        check: Some(|parsed, judge| {
            // A value may be left out where an option follows.
            if parsed.opts.iter().any(|(_, value)| value.as_ref().is_some_and(may_be_option)) {
                judge.opaque("an option may stand where a value could");
            }
            // `@HOST` is looked up.
            let named = |text: &str| text.split_once('@').is_some_and(|(_, host)| !is_address(host));
            let hosts = parsed.opts.iter().filter(|(name, _)| name == "i").filter_map(|(_, value)| value.as_ref());
            if hosts.chain(&parsed.operands).any(|arg| arg.exact().is_none_or(named)) {
                judge.net(None);
            }
            // The names of all other ends are looked up.
            let all =
                parsed.opts.iter().any(|(name, value)| name == "i" && value.is_none()) && parsed.operands.is_empty();
            if all && !parsed.has("n t") {
                judge.net(None);
            }
        }),
        ..PLAIN
    },
    Spec {
        check: Some(within::ends),
        ..shows(
            "fuser",
            &[(Flag, "v verbose a all l list-signals s silent u user 4 ipv4 6 ipv6 m mount"), (Value, "n namespace")],
        )
    },
    Spec {
        check: Some(|parsed, judge| {
            let words: Option<Vec<&str>> = parsed.operands.iter().map(Arg::exact).collect();
            // A filter from a file may name any.
            if parsed.has("F filter") || words.is_none_or(|words| filters_by_name(&words.join(" "))) {
                judge.net(None);
            }
        }),
        ..shows("ss", SS)
    },
    Spec {
        check: Some(|parsed, judge| {
            if !parsed.has("i interfaces s statistics g groups numeric-hosts") {
                names_hosts(parsed, judge);
            }
        }),
        ..shows(
            "netstat",
            &[
                (
                    Flag,
                    "n numeric numeric-hosts numeric-ports a all l listening t tcp u udp p program programs r route i \
                 interfaces \
             s statistics e extend o timers w raw x unix 4 6 v verbose W wide g groups M c",
                ),
                (Value, "A protocol"),
                (Info, "V h"),
            ],
        )
    },
    Spec { names: "arp", opts: &[(Flag, "n a e v numeric")], check: Some(names_hosts), ..PLAIN },
    Spec {
        names: "route",
        opts: &[(Flag, "n e v 4 6 numeric")],
        check: Some(|parsed, judge| {
            names_hosts(parsed, judge);
            none_or_system(parsed, judge);
        }),
        operands: Operands::Custom,
        ..PLAIN
    },
    Spec {
        names: "ifconfig",
        opts: &[(Flag, "a s v")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if parsed.operands.len() > 1 {
                judge.system("changes an interface");
            }
        }),
        ..PLAIN
    },
    Spec { names: "ip", style: Style::Raw, operands: Operands::Custom, check: Some(ip), ..PLAIN },
    Spec { names: "ps", opts: PS, operands: Operands::Custom, check: Some(ps), ..PLAIN },
    shows(
        "top",
        &[
            (Flag, "b batch c H threads-show i idle-toggle S s 1"),
            (Value, "d delay n iterations o sort-override p pid u U w width E e l"),
            (Info, "h v V"),
        ],
    ),
    Spec { names: "htop btop atop iotop glances", opts: &[(Info, "V v h")], operands: Operands::Sub, ..PLAIN },
    Spec {
        names: "hostname",
        opts: &[
            (Flag, "s short I all-ip-addresses"),
            (NetFlag, "a alias A all-fqdns d domain f fqdn long i ip-address"),
            (Info, "V h"),
        ],
        operands: Operands::Custom,
        check: Some(none_or_system),
        ..PLAIN
    },
    // It looks up the whole name of the machine.
    Spec { check: Some(|_, judge| judge.net(None)), ..shows("dnsdomainname", &[]) },
    Spec {
        names: "domainname nisdomainname ypdomainname",
        operands: Operands::Custom,
        check: Some(none_or_system),
        ..PLAIN
    },
    Spec {
        names: "who users",
        opts: &[
            (
                Flag,
                "a all b boot d dead H heading ips l login m p process q count r runlevel s short t time T w mesg u \
                 users",
            ),
            (NetFlag, "lookup"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            // Two words stand for `-m`, one is a file.
            if let [file] = parsed.operands.as_slice() {
                judge.read(file);
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "date gdate",
        opts: &[
            (Value, "d date rfc-3339 s set"),
            (Maybe, "I iso-8601"),
            // Of BSD: what is added, and whether the clock is left alone.
            (Value, "v"),
            (Flag, "j"),
            (Flag, "debug resolution R rfc-email rfc-822 rfc-2822 u utc universal"),
            (Does::Read, "f file r reference"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let prints = |word: &Arg| match &word.word {
                Word::Exact(text) => text.starts_with('+'),
                Word::Opaque { prefix, .. } => prefix.starts_with('+'),
                _ => false,
            };
            if parsed.has("s set") || !parsed.has("j") && !parsed.operands.iter().all(prints) {
                judge.system("sets the clock");
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "hwclock",
        operands: Operands::Custom,
        check: Some(|_, judge| judge.system("the clock")),
        style: Style::Raw,
        ..PLAIN
    },
    shows(
        "findmnt",
        &[
            (
                Flag,
                "s fstab m mtab k kernel A all a ascii b bytes C nocanonicalize c canonicalize D df e evaluate f \
                 first-only i invert \
             J json l list n noheadings output-all P pairs pseudo shadowed R submounts r raw real tree U uniq u \
                 notruncate v \
             nofsroot y shell x verify verbose vfs-all",
            ),
            (Value, "d direction N task O options o output S source T target M mountpoint t types"),
            (Does::Read, "F tab-file"),
            (Info, "h V"),
        ],
    ),
    Spec {
        names: "mount",
        opts: &[(Flag, "l show-labels v verbose"), (Value, "t types"), (Info, "h V")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if !parsed.operands.is_empty() || parsed.unknown.is_some() {
                judge.privilege("mounts");
            }
        }),
        ..PLAIN
    },
    rights("umount swapoff mkswap losetup cryptsetup insmod modprobe rmmod depmod kexec pivot_root"),
    rights(
        "useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup delgroup passwd chpasswd \
         gpasswd chsh chfn visudo vipw",
    ),
    rights(
        "nft iptables ip6tables iptables-save ip6tables-save iptables-restore ip6tables-restore ebtables arptables \
         ufw firewall-cmd ipset",
    ),
    rights("setcap dmidecode auditctl setenforce"),
    Spec {
        names: "swapon",
        opts: &[(Flag, "s summary noheadings bytes"), (Maybe, "show")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if !parsed.operands.is_empty() || parsed.unknown.is_some() {
                judge.privilege("turns swap on");
            }
        }),
        ..PLAIN
    },
    shows(
        "dmesg",
        &[
            (
                Flag,
                "H human J json k kernel L P nopager p force-prefix r raw noescape S syslog u userspace w follow W \
                 follow-new x decode \
             d show-delta e reltime T ctime t notime",
            ),
            (Maybe, "color"),
            (Value, "f facility l level s buffer-size time-format since until"),
            (Does::Read, "F file K kmsg-file"),
            (Info, "h V"),
        ],
    ),
    shows(
        "journalctl",
        &[
            (
                Flag,
                "no-pager a all f follow e pager-end r reverse k dmesg x catalog q quiet m merge list-boots \
                 disk-usage N fields no-tail \
             no-hostname no-full full l utc user system output-all header list-catalog verify",
            ),
            (
                Value,
                "o output S since U until u unit user-unit p priority t identifier g grep c cursor F field output-fields facility T exclude-identifier",
            ),
            (Maybe, "b boot n lines case-sensitive"),
            // Which boot, behind `-b`.
            (Flag, "#"),
            (Does::Read, "file"),
            (Does::ReadTree, "D directory"),
            (Info, "h"),
        ],
    ),
    Spec {
        names: "systemctl loginctl",
        opts: SYSTEMCTL,
        operands: Operands::Sub,
        subs: UNITS,
        inherit: true,
        check: Some(unit),
        ..PLAIN
    },
    Spec {
        names: "timedatectl hostnamectl localectl",
        opts: &[(Flag, "a all no-pager static transient pretty"), (Value, "p property")],
        operands: Operands::Sub,
        subs: CTL,
        inherit: true,
        check: Some(unit),
        ..PLAIN
    },
    Spec {
        names: "service",
        opts: &[(Flag, "status-all")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| match parsed.operands.as_slice() {
            [] => {}
            [name, verb] if verb.exact() == Some("status") => {
                // Its script, of that name below `/etc/init.d`, is what answers.
                if name.exact().is_none_or(|name| name.contains('/')) {
                    judge.opaque("the script that is run may be another one");
                }
            }
            _ => judge.system("changes a service"),
        }),
        ..PLAIN
    },
    Spec {
        names: "getent",
        opts: &[(Value, "s service"), (Flag, "A no-addrconfig i no-idn")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| match parsed.operands.first().map(Arg::exact) {
            // Each service is a library of that name, which is loaded.
            _ if !parsed.opts.iter().filter_map(|(_, value)| value.as_ref()).all(is_service) => {
                judge.opaque("a service is a library that is loaded")
            }
            Some(Some("passwd" | "group" | "services" | "protocols" | "rpc" | "aliases" | "ethers" | "netgroup")) => {}
            Some(Some("hosts" | "ahosts" | "ahostsv4" | "ahostsv6" | "networks")) => judge.net(None),
            _ => judge.opaque("the data base is not known"),
        }),
        ..PLAIN
    },
    Spec {
        names: "sysctl",
        opts: &[(Flag, "a all n values N names e ignore b binary A X"), (Value, "r pattern"), (Info, "h V")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if parsed.unknown.is_some()
                || !parsed.operands.iter().all(|name| name.exact().is_some_and(|name| !name.contains('=')))
            {
                judge.system("sets a parameter of the kernel");
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "crontab",
        opts: &[(Flag, "l e r i"), (Value, "u")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if !parsed.has("l") || parsed.has("e r u") || !parsed.operands.is_empty() {
                judge.system("changes what runs later");
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "kill",
        style: Style::Raw,
        operands: Operands::Custom,
        check: Some(|parsed, judge| match parsed.operands.first().map(Arg::exact) {
            Some(Some("-l" | "-L" | "--list" | "--table")) => {}
            // Whether it is there: nothing is sent.
            Some(Some("-0")) | Some(Some("-s")) if asks_whether_there(&parsed.operands) => {}
            // Jobs of this shell: what it started itself.
            _ if only_jobs(&parsed.operands) => {}
            _ => judge.system("signals a process"),
        }),
        ..PLAIN
    },
    changes("pkill killall skill snice renice"),
    changes("reboot shutdown halt poweroff init telinit wall write logger mesg setterm loadkeys rfkill hdparm sysrq"),
    changes("ethtool brctl iw iwconfig nmcli wpa_cli tc bridge ifup ifdown dhclient"),
    Spec {
        names: "stty",
        opts: &[(Flag, "a all g save")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if !parsed.operands.iter().all(|word| matches!(word.exact(), Some("size" | "speed"))) {
                judge.system("changes the terminal");
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "update-alternatives",
        opts: &[(Flag, "get-selections verbose"), (Value, "list display query")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if !parsed.has("list display query get-selections") {
                judge.system("changes which program a name means");
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "ldconfig",
        opts: &[(Flag, "p print-cache N X v")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if !parsed.has("p print-cache") {
                judge.system("rebuilds the cache of the loader");
            }
        }),
        ..PLAIN
    },
    // The loader runs the file.
    Spec {
        names: "ldd",
        opts: &[(Flag, "v verbose u unused d data-relocs r function-relocs")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            for file in &parsed.operands {
                let system = |text: &str| {
                    ["/usr", "/bin", "/sbin", "/lib", "/lib64"].iter().any(|dir| judge.resolve(text).starts_with(dir))
                };
                match file.exact().is_some_and(system) {
                    true => judge.read(file),
                    false => judge.opaque("ldd runs the file it looks at"),
                }
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "nm objdump readelf size addr2line",
        opts: &[
            (
                Flag,
                "a all A B C D F g u U n p P r S s v l d x t h f T R W e E i w L c z V X o O G dynamic extern-only \
                 undefined-only \
                 defined-only numeric-sort no-sort reverse-sort print-size size-sort line-numbers print-file-name \
                 posix debug-syms \
                 all-headers archive-headers file-headers private-headers section-headers headers full-contents \
                 disassemble-all source syms dynamic-syms reloc dynamic-reloc wide file-header program-headers \
                 segments sections \
                 section-details symbols dyn-syms notes relocs unwind version-info archive-index use-dynamic \
                 histogram no-show-raw-insn \
                 show-raw-insn demangle no-demangle prefix-addresses total with-symbol-versions addresses functions \
                 basenames pretty-print \
                 inlines lto-syms no-addresses visualize-jumps disassemble-zeroes",
            ),
            (Maybe, "disassemble dwarf debug-dump"),
            (
                Value,
                "m M architecture disassembler-options section j start-address stop-address format radix target b \
                 adjust-vma hex-dump \
                 string-dump relocated-dump",
            ),
            (Does::Read, "exe"),
            (Info, "H"),
        ],
        operands: Operands::Read,
        // What is kept apart from a program lies where the program says, or is fetched.
        check: Some(|parsed, judge| {
            let here =
                |value: &Arg| value.exact().is_some_and(|text| !text.contains("link") && !text.contains(['k', 'K']));
            // Of these programs one takes this letter for the same, and another for headers.
            let links = parsed.has("P") && parsed.path.first().is_some_and(|name| name == "readelf");
            if links || !parsed.values("dwarf debug-dump").all(here) {
                judge.opaque("it follows links into other files");
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "strip objcopy",
        opts: &[
            (Flag, "s strip-all g S d strip-debug strip-unneeded p v D"),
            (Write, "o"),
            (Value, "O output-target I input-target j only-section R remove-section N strip-symbol"),
        ],
        operands: Operands::Write,
        ..PLAIN
    },
    Spec {
        names: "man",
        opts: &[
            (Flag, "k apropos f whatis w where path W a all regex wildcard names-only I i"),
            (Value, "s S sections L locale m systems E encoding P pager"),
            (Info, "V ?"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if parsed.value("P pager").is_some_and(|pager| !matches!(pager.exact(), Some("cat" | "less" | "more"))) {
                judge.opaque("the pager is a command");
            }
            // A path is formatted as a page, with the macros it brings.
            if !parsed.operands.iter().all(|page| page.exact().is_some_and(|page| !page.contains('/'))) {
                judge.opaque("a page by its path");
            }
        }),
        ..PLAIN
    },
];

const SS: &[(Does, &str)] = &[
    (
        Flag,
        "n numeric a all l listening o options e extended m memory p processes T threads i info tipcinfo s \
                 summary tos \
             cgroup b bpf Z context z contexts 4 ipv4 6 ipv6 0 packet t tcp M mptcp S sctp u udp d dccp w raw x unix \
                 tipc \
             vsock xdp H no-header O oneline inet-sockopt E events",
    ),
    (Value, "f family A query socket"),
    (Does::Read, "F filter"),
    (NetFlag, "r resolve"),
    (Write, "D diag"),
    (Info, "h V"),
];

const PS: &[(Does, &str)] = &[
    (
        Flag,
        "A a d e f F H j l L T M N V w y Z x c r m forest headers no-headers no-heading deselect cumulative info \
         context",
    ),
    (
        Value,
        "C G g n o O p q s t u U k sort format pid ppid user User group Group cols columns width lines rows sid tty \
         quick-pid",
    ),
];

const SYSTEMCTL: &[(Does, &str)] = &[
    (
        Flag,
        "a all l full no-pager no-legend plain q quiet user system failed r recursive reverse no-ask-password now \
         force f no-block \
         value show-types no-wall dry-run global runtime after before",
    ),
    (Value, "t type state p property P n lines o output s signal kill-who legend"),
    (Does::Net, "H host"),
    (Info, "h"),
];

const UNITS: &[Spec] = &[
    Spec {
        names: "status list-units list-unit-files list-timers list-sockets list-dependencies list-jobs list-machines \
                list-paths \
                list-automounts show is-active is-enabled is-failed is-system-running cat get-default help \
                list-sessions list-users \
                session-status user-status show-session show-user _",
        operands: Operands::Words,
        ..PLAIN
    },
    Spec {
        names: "start stop restart reload reload-or-restart try-restart enable disable mask unmask daemon-reload \
                daemon-reexec kill \
                set-property isolate poweroff reboot halt suspend hibernate rescue emergency reset-failed \
                set-default edit link revert \
                preset reenable clean freeze thaw kexec switch-root set-environment unset-environment \
                import-environment terminate-session \
                kill-session terminate-user kill-user enable-linger disable-linger",
        operands: Operands::Words,
        ..PLAIN
    },
];

const CTL: &[Spec] = &[
    Spec {
        names: "status show list-timezones list-locales list-keymaps timesync-status show-timesync _",
        operands: Operands::None,
        ..PLAIN
    },
    Spec {
        names: "set-time set-timezone set-ntp set-local-rtc set-hostname hostname set-locale set-keymap \
                set-x11-keymap set-icon-name set-chassis",
        operands: Operands::Words,
        ..PLAIN
    },
];

/// A program that shows; operands choose what.
const fn shows(names: &'static str, opts: &'static [(Does, &'static str)]) -> Spec {
    Spec { names, opts, operands: Operands::Words, ..PLAIN }
}

/// A program that changes the system or processes of others.
const fn changes(names: &'static str) -> Spec {
    Spec {
        names,
        style: Style::Raw,
        operands: Operands::Custom,
        check: Some(|parsed, judge| judge.system(format!("`{}` changes the system", parsed.path.join(" ")))),
        ..PLAIN
    }
}

/// A program that needs the rights of the administrator.
const fn rights(names: &'static str) -> Spec {
    Spec {
        names,
        style: Style::Raw,
        operands: Operands::Custom,
        check: Some(|parsed, judge| judge.privilege(format!("`{}` needs the administrator", parsed.path.join(" ")))),
        ..PLAIN
    }
}

/// Whether this is an address in numbers, with a port or not, or none at all.
fn is_address(text: &str) -> bool {
    text.split(',').all(|one| {
        let host = if one.starts_with('[') { one } else { one.split(':').next().unwrap_or(one) };
        host.bytes().all(|byte| byte.is_ascii_digit() || b".[]:*/".contains(&byte))
            || host.starts_with('[') && host.bytes().all(|byte| byte.is_ascii_hexdigit() || b".[]:".contains(&byte))
    })
}

/// `:https`, `*:22`: a port of any host.
fn is_port(text: &str) -> bool {
    let name = text.strip_prefix('*').unwrap_or(text).strip_prefix(':');
    name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
}

/// Whether a filter of `ss` names a host, which is looked up. A word that is none of its own may be one.
fn filters_by_name(filter: &str) -> bool {
    const SIGNS: &str = "and or not && || & | eq ne neq is ge geq le leq gt lt dst src autobound";
    const STATES: &str = "all connected synchronized bucket big established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait \
        closed close close-wait last-ack listening listen closing unconnected";
    let words = filter.split(|c: char| c.is_ascii_whitespace() || "()=!<>".contains(c)).filter(|word| !word.is_empty());
    let mut before = "";
    for word in words {
        let fine = match before {
            "state" | "exclude" => lists(STATES, word),
            "sport" | "dport" => lists(SIGNS, word) || !word.contains(':') || is_port(word) || is_address(word),
            "dev" | "fwmark" | "cgroup" => true,
            _ => {
                lists(SIGNS, word)
                    || matches!(word, "state" | "exclude" | "sport" | "dport" | "dev" | "fwmark" | "cgroup")
                    || is_port(word)
                    || is_address(word)
            }
        };
        if !fine {
            return true;
        }
        // A sign stands between such a word and what it is held against.
        let holds = matches!(before, "sport" | "dport" | "dev" | "fwmark" | "cgroup") && lists(SIGNS, word);
        before = if holds { before } else { word };
    }
    false
}

/// Services of the C library that ask nobody else.
fn is_service(value: &Arg) -> bool {
    let names = value.exact().map(|text| text.rsplit_once(':').map_or(text, |(_, names)| names));
    names.is_some_and(|names| {
        names.split(' ').all(|name| matches!(name, "files" | "compat" | "db" | "systemd" | "altfiles"))
    })
}

/// Without `-n` the names of addresses are asked of a server.
fn names_hosts(parsed: &Parsed, judge: &mut Judge<'_>) {
    if !parsed.has("n numeric") {
        judge.net(None);
    }
}

/// Shows without operands; with one it sets.
fn none_or_system(parsed: &Parsed, judge: &mut Judge<'_>) {
    if !parsed.operands.is_empty() || parsed.unknown.is_some() {
        judge.system(format!("`{}` with an operand sets it", parsed.path.join(" ")));
    }
}

/// systemctl and its kind: a verb that shows, or one that changes.
fn unit(parsed: &Parsed, judge: &mut Judge<'_>) {
    let shows = |verb: &String| [UNITS.first(), CTL.first()].into_iter().flatten().any(|spec| spec.is(verb));
    if !parsed.path.get(1).is_none_or(shows) || parsed.unknown.is_some() {
        judge.system("changes a unit or a setting of the system");
    }
}

/// The letters of BSD style may show the environment of processes.
fn ps(parsed: &Parsed, judge: &mut Judge<'_>) {
    let environment = |word: &Arg| word.exact().is_none_or(|text| text.to_ascii_lowercase().contains("env"));
    let formats = parsed.opts.iter().filter(|(name, _)| matches!(name.as_str(), "o" | "O" | "format" | "k" | "sort"));
    if formats.filter_map(|(_, value)| value.as_ref()).any(environment) {
        judge.opaque("the environment of processes may hold secrets");
    }
    for (at, word) in parsed.operands.iter().enumerate() {
        let cluster =
            |text: &str| at == 0 && text.bytes().all(|byte| byte.is_ascii_alphabetic()) && !text.contains('e');
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
        // `ps axo pid,comm`: the value of the last letter, where it takes one.
        let takes = |text: &str| text.ends_with(['o', 'O', 'k', 'p', 'q', 't', 'U', 'g']);
        let first = parsed.operands.first().and_then(Arg::exact);
        let value = at == 1 && first.is_some_and(takes) && !environment(word) && !may_be_option(word);
        if !word.exact().is_some_and(|text| cluster(text) || number(text)) && !value {
            judge.opaque("the environment of processes may hold secrets");
        }
    }
}

/// `ip [options] OBJECT [show|get|list]`.
fn ip(parsed: &Parsed, judge: &mut Judge<'_>) {
    const OBJECTS: &[&str] = &[
        "a",
        "ad",
        "addr",
        "address",
        "l",
        "li",
        "link",
        "r",
        "ro",
        "route",
        "n",
        "ne",
        "neigh",
        "neighbor",
        "neighbour",
        "rule",
        "ru",
        "maddr",
        "maddress",
        "tunnel",
        "tuntap",
        "netns",
    ];
    const SHOWS: &[&str] = &["show", "sh", "s", "list", "ls", "lst", "get"];
    const OPTIONS: &[&str] = &[
        "-4",
        "-6",
        "-br",
        "-brief",
        "-s",
        "-stats",
        "-statistics",
        "-d",
        "-details",
        "-j",
        "-json",
        "-p",
        "-pretty",
        "-o",
        "-oneline",
        "-c",
        "-color",
        "-c=never",
        "-color=never",
        "--brief",
        "-h",
        "-human",
        "-N",
        "-0",
        "-ts",
        "-t",
    ];
    let words = parsed.operands.iter().map(Arg::exact);
    let mut words = words.skip_while(|word| word.is_some_and(|word| OPTIONS.contains(&word)));
    match (words.next(), words.next()) {
        (None, _) | (Some(Some("help" | "-V" | "-Version")), None) => {}
        (Some(Some(object)), None) if OBJECTS.contains(&object) => {}
        // `ip link s` is `set`.
        (Some(Some("l" | "li" | "link")), Some(Some("s"))) => judge.system("changes a link"),
        (Some(Some(object)), Some(Some(verb))) if OBJECTS.contains(&object) && SHOWS.contains(&verb) => {}
        _ => judge.system("changes the network of the system"),
    }
}

/// `%1`, `%+`, `-%1` (its group), behind at most one signal.
/// `kill -0 1234`, `kill -s 0 1234`.
fn asks_whether_there(words: &[Arg]) -> bool {
    let words: Vec<&str> = words.iter().map(|word| word.exact().unwrap_or_default()).collect();
    let numbers =
        |rest: &[&str]| rest.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty());
    match words.as_slice() {
        ["-0", rest @ ..] | ["-s", "0", rest @ ..] => !rest.is_empty() && numbers(rest),
        _ => false,
    }
}

fn only_jobs(words: &[Arg]) -> bool {
    let name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
    let is_job = |word: &Arg| {
        let text = word.exact().unwrap_or_default();
        text.strip_prefix('-').unwrap_or(text).strip_prefix('%').is_some_and(|which| !which.is_empty())
    };
    let mut rest = words;
    match words.iter().map(|word| word.exact().unwrap_or_default()).collect::<Vec<_>>().as_slice() {
        ["-s" | "-n" | "--signal", signal, ..] if name(signal) => rest = words.get(2..).unwrap_or_default(),
        [signal, ..] if signal.strip_prefix('-').is_some_and(name) => rest = words.get(1..).unwrap_or_default(),
        _ => {}
    }
    if rest.first().and_then(Arg::exact) == Some("--") {
        rest = rest.get(1..).unwrap_or_default();
    }
    !rest.is_empty() && rest.iter().all(is_job)
}
