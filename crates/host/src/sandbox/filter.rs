//! Seccomp programs, made out of tables: which call, when, and what becomes of it.
//!
//! ```text
//! architecture ──▶ number, by halving the table ──▶ that call's rows, in their order ──▶ what becomes of it
//! ```
//!
//! A row after another, as builders of filters do it, is what most calls of a command would pass on their way; and when a
//! filter is installed, the kernel walks it for every number there is. By halving, a call that no row names is through
//! after some eight steps.

use libc::{c_long, sock_filter};

/// When a row counts. Only the lower half of an argument is looked at: modes, flags and families are 32-bit numbers, of
/// which the kernel ignores the upper half.
#[derive(Debug, Clone, Copy)]
pub(crate) enum When {
    Always,
    /// Argument (by number) has any of these bits.
    Bits(u8, u32),
    /// The mode has any of the bits while the flags have the flag: a mode counts only then.
    BitsWith {
        flags: u8,
        flag: u32,
        mode: u8,
        bits: u32,
    },
    /// Argument is this.
    Is(u8, u32),
    /// Argument, under this mask, is this.
    Masked(u8, u32, u32),
    /// Argument is none of these.
    NoneOf(u8, &'static [u32]),
    /// Argument, under this mask, is none of these.
    MaskedNoneOf(u8, u32, &'static [u32]),
    /// All of these count.
    All(&'static [When]),
}

/// A call, when, and what becomes of it: one of the kernel's `SECCOMP_RET_…`.
pub(super) type Rule = (c_long, When, u32);

/// What the kernel takes.
pub(super) type Program = Vec<sock_filter>;

/// What the kernel calls this architecture's table of calls.
const ARCH: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else if cfg!(target_arch = "riscv64") {
    Some(0xc000_00f3)
} else {
    None
};

/// The bit that marks a call of the x32 table, which goes by the same architecture as the usual one.
const X32: u32 = 0x4000_0000;
/// Where in what a filter sees the call's number is, its architecture, and the first of its arguments.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

/// The program of `rules`: of several rows of one call the first that counts. Calls that none counts for get `otherwise`,
/// those of the x32 table `foreign`, and those of another architecture end the process.
pub(super) fn program(rules: &[Rule], otherwise: u32, foreign: u32) -> Result<Program, String> {
    let arch = ARCH.ok_or("no filter can be built for this processor")?;
    let mut calls: Vec<u32> = rules.iter().filter_map(|(call, ..)| u32::try_from(*call).ok()).collect();
    calls.sort_unstable();
    calls.dedup();
    let mut all = vec![load(ARCHITECTURE), equal(arch, 1, 0), end(libc::SECCOMP_RET_KILL_PROCESS), load(NUMBER)];
    if cfg!(target_arch = "x86_64") {
        all.extend([jump(libc::BPF_JGE, X32, 0, 1), end(foreign)]);
    }
    all.extend(halved(&calls, rules, otherwise));
    Ok(all)
}

/// Finds the number among `calls`, which are sorted. Every way through it ends.
fn halved(calls: &[u32], rules: &[Rule], otherwise: u32) -> Program {
    match calls {
        [] => vec![end(otherwise)],
        [call] => {
            let mut all = vec![equal(*call, 1, 0), end(otherwise)];
            all.extend(rows(*call, rules, otherwise));
            all
        }
        _ => {
            let (lower, upper) = calls.split_at(calls.len() / 2);
            let (lower, upper) = (halved(lower, rules, otherwise), halved(upper, rules, otherwise));
            // A jump on a condition reaches 255 steps, one without any number.
            let mut all = vec![jump(libc::BPF_JGE, calls[calls.len() / 2], 0, 1), over(lower.len())];
            all.extend(lower);
            all.extend(upper);
            all
        }
    }
}

/// The rows of one call.
fn rows(call: u32, rules: &[Rule], otherwise: u32) -> Program {
    let mut all = Program::new();
    for (_, when, then) in rules.iter().filter(|(other, ..)| u32::try_from(*other) == Ok(call)) {
        all.extend(row(*when, vec![end(*then)]));
        if matches!(when, When::Always) {
            return all;
        }
    }
    all.push(end(otherwise));
    all
}

/// Goes on with `then` when the row counts, else behind it.
fn row(when: When, then: Program) -> Program {
    let past = then.len() as u8;
    // Over the other values, and over what comes when it is none of them.
    let none_of = |values: &[u32]| -> Program {
        (0..values.len() as u8).rev().zip(values).map(|(left, value)| equal(*value, left + past, 0)).collect()
    };
    let asks = match when {
        When::Always => vec![],
        When::Bits(argument, bits) => vec![word(argument), jump(libc::BPF_JSET, bits, 0, past)],
        When::BitsWith { flags, flag, mode, bits } => {
            vec![word(flags), and(flag), equal(flag, 0, 2 + past), word(mode), jump(libc::BPF_JSET, bits, 0, past)]
        }
        When::Is(argument, value) => vec![word(argument), equal(value, 0, past)],
        When::Masked(argument, mask, value) => vec![word(argument), and(mask), equal(value, 0, past)],
        When::NoneOf(argument, values) => [vec![word(argument)], none_of(values)].concat(),
        When::MaskedNoneOf(argument, mask, values) => [vec![word(argument), and(mask)], none_of(values)].concat(),
        When::All(all) => return all.iter().rev().fold(then, |then, when| row(*when, then)),
    };
    [asks, then].concat()
}

fn op(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}

fn load(at: u32) -> sock_filter {
    op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, at)
}

/// The lower half of an argument: all architectures here store it first.
fn word(argument: u8) -> sock_filter {
    load(ARGUMENTS + 8 * u32::from(argument))
}

fn and(mask: u32) -> sock_filter {
    op(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0, 0, mask)
}

fn jump(how: u32, value: u32, if_so: u8, if_not: u8) -> sock_filter {
    op(libc::BPF_JMP | how | libc::BPF_K, if_so, if_not, value)
}

fn equal(value: u32, if_so: u8, if_not: u8) -> sock_filter {
    jump(libc::BPF_JEQ, value, if_so, if_not)
}

fn over(steps: usize) -> sock_filter {
    op(libc::BPF_JMP | libc::BPF_JA, 0, 0, steps as u32)
}

fn end(how: u32) -> sock_filter {
    op(libc::BPF_RET | libc::BPF_K, 0, 0, how)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    impl When {
        /// Values of arguments at its borders.
        fn borders(self) -> Vec<u32> {
            match self {
                When::Always => vec![],
                When::Bits(_, bits) => (0..32).map(|bit| bits & 1 << bit).chain([!bits, bits]).collect(),
                When::BitsWith { flag, bits, .. } => vec![flag, !flag, bits, !bits, flag | bits],
                When::Is(_, value) => vec![value, value.wrapping_add(1), value.wrapping_sub(1)],
                When::Masked(_, mask, value) => {
                    vec![value, value | !mask, mask, !mask, value ^ (mask & mask.wrapping_neg())]
                }
                When::NoneOf(_, values) => values.to_vec(),
                When::MaskedNoneOf(_, mask, values) => {
                    values.iter().flat_map(|value| [*value, value | !mask]).collect()
                }
                When::All(all) => all.iter().flat_map(|when| when.borders()).collect(),
            }
        }

        fn counts(self, args: [u32; 6]) -> bool {
            let of = |argument: u8| args[usize::from(argument)];
            match self {
                When::Always => true,
                When::Bits(argument, bits) => of(argument) & bits != 0,
                When::BitsWith { flags, flag, mode, bits } => of(flags) & flag == flag && of(mode) & bits != 0,
                When::Is(argument, value) => of(argument) == value,
                When::Masked(argument, mask, value) => of(argument) & mask == value,
                When::NoneOf(argument, values) => !values.contains(&of(argument)),
                When::MaskedNoneOf(argument, mask, values) => !values.contains(&(of(argument) & mask)),
                When::All(all) => all.iter().all(|when| when.counts(args)),
            }
        }
    }

    /// What the kernel does with a program, and in how many steps.
    fn run(program: &[sock_filter], arch: u32, number: u32, args: [u32; 6]) -> (u32, usize) {
        let (mut at, mut held, mut steps) = (0, 0, 0);
        loop {
            let step = &program[at];
            (at, steps) = (at + 1, steps + 1);
            let far = |so: bool| usize::from(if so { step.jt } else { step.jf });
            match u32::from(step.code) {
                0x20 if step.k == NUMBER => held = number,
                0x20 if step.k == ARCHITECTURE => held = arch,
                0x20 => held = args[(step.k - ARGUMENTS) as usize / 8],
                0x54 => held &= step.k,
                0x05 => at += step.k as usize,
                0x15 => at += far(held == step.k),
                0x35 => at += far(held >= step.k),
                0x45 => at += far(held & step.k != 0),
                0x06 => return (step.k, steps),
                other => panic!("no step of ours: {other:#x}"),
            }
        }
    }

    /// Holds a program to what its table says, for every number and for arguments at the borders of every row.
    pub(in super::super) fn holds(rules: &[Rule], otherwise: u32, foreign: u32) -> usize {
        let program = program(rules, otherwise, foreign).expect("for this processor");
        let arch = ARCH.expect("this one");
        let mut values: Vec<u32> = vec![0, 1, 2, 10, 16, u32::MAX];
        values.extend(rules.iter().flat_map(|(_, when, _)| when.borders()));
        values.sort_unstable();
        values.dedup();
        let mut most = 0;
        for number in (0..600).chain([X32 - 1]) {
            let of: Vec<&Rule> = rules.iter().filter(|(call, ..)| *call == c_long::from(number)).collect();
            // Arguments by pairs: no row looks at more than two.
            for (one, other) in values.iter().flat_map(|one| values.iter().map(move |other| (*one, *other))) {
                for args in [[one, other, one, other, 0, 0], [other, one, one, other, 0, 0]] {
                    let wanted = of.iter().find(|(_, when, _)| when.counts(args)).map_or(otherwise, |(.., then)| *then);
                    let (got, steps) = run(&program, arch, number, args);
                    assert_eq!(got, wanted, "call {number} with {args:?}");
                    most = most.max(steps);
                }
                if of.is_empty() {
                    break;
                }
            }
        }
        if cfg!(target_arch = "x86_64") {
            assert_eq!(run(&program, arch, X32 | 1, [0; 6]).0, foreign);
        }
        assert_eq!(run(&program, arch ^ 1, 1, [0; 6]).0, libc::SECCOMP_RET_KILL_PROCESS);
        assert!(program.len() < 4096, "{}", program.len());
        most
    }

    #[test]
    fn the_first_row_that_counts_decides() {
        const PAIR: &[u32] = &[2, 10];
        let rules: &[Rule] = &[
            (41, When::NoneOf(0, PAIR), 1),
            (41, When::Masked(1, 0xf, 3), 2),
            (7, When::Always, 3),
            (7, When::Is(0, 0), 4),
            (300, When::BitsWith { flags: 2, flag: 0x40, mode: 3, bits: 0o6000 }, 5),
            (9, When::All(&[When::NoneOf(0, PAIR), When::Masked(1, 0xf, 3), When::Bits(2, 0o70)]), 6),
            (9, When::MaskedNoneOf(1, 0xf, &[1, 5]), 7),
        ];
        assert!(holds(rules, 9, 8) < 25);
        assert_eq!(holds(&[], 9, 8), if cfg!(target_arch = "x86_64") { 5 } else { 4 });
    }
}
