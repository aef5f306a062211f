//! Rows of a table by the names in them, so that nobody looks at every row for every command.
//!
//! Made by the compiler from the table itself. It only says which rows *may* have a name: two names can
//! share a bucket, so who asks still compares. It knows nothing about what a row means.

/// Buckets: some times as many as all tables have programs, so that most names are alone in theirs.
const BUCKETS: usize = 4096;

/// No further entry.
const END: u16 = u16::MAX;

/// Where the rows of a table with `NAMES` names are found.
#[derive(Debug)]
pub(super) struct Index<const NAMES: usize> {
    heads: [u16; BUCKETS],
    /// Names with a wildcard: they may be any name that starts with one of the letters of `starts`.
    wild: u16,
    /// A bit for each ASCII letter; a name that starts with a wildcard sets all.
    starts: u128,
    next: [u16; NAMES],
    rows: [u16; NAMES],
    used: usize,
}

impl<const NAMES: usize> Index<NAMES> {
    pub const fn new() -> Index<NAMES> {
        Index { heads: [END; BUCKETS], wild: END, starts: 0, next: [END; NAMES], rows: [0; NAMES], used: 0 }
    }

    /// Adds a row under each of its names: what stands between `separator`s, up to `end`. The last row of the
    /// table comes first, so that rows are found in their order.
    pub const fn add(mut self, names: &str, separator: u8, end: Option<u8>, row: usize) -> Index<NAMES> {
        let bytes = names.as_bytes();
        let (mut at, mut start) = (0, 0);
        while at <= bytes.len() {
            let stop = at == bytes.len() || is(end, bytes[at]);
            if stop || bytes[at] == separator {
                if at > start {
                    self.put(bytes, start, at, row);
                }
                start = at + 1;
            }
            if stop {
                break;
            }
            at += 1;
        }
        self
    }

    const fn put(&mut self, bytes: &[u8], from: usize, to: usize, row: usize) {
        assert!(row < END as usize && self.used < END as usize, "rows and names are counted in 16 bits");
        let mut wild = false;
        let mut at = from;
        while at < to {
            wild |= bytes[at] == b'*';
            at += 1;
        }
        if wild {
            self.starts |= if bytes[from] == b'*' || bytes[from] > 127 { u128::MAX } else { 1 << bytes[from] };
        }
        if wild && self.wild != END && self.rows[self.wild as usize] == row as u16 {
            return;
        }
        let head = if wild { &mut self.wild } else { &mut self.heads[bucket(bytes, from, to)] };
        self.rows[self.used] = row as u16;
        self.next[self.used] = *head;
        *head = self.used as u16;
        self.used += 1;
    }

    /// Rows that may have this very name, in their order.
    pub fn named(&self, name: &str) -> impl Iterator<Item = usize> + '_ {
        self.chain(self.heads.get(bucket(name.as_bytes(), 0, name.len())).copied())
    }

    /// Rows with wildcards in their names that may have this name, in their order.
    pub fn wild(&self, name: &str) -> impl Iterator<Item = usize> + '_ {
        let first = name.bytes().next().filter(u8::is_ascii);
        let may = first.map_or(self.starts == u128::MAX, |first| self.starts & (1 << first) != 0);
        self.chain(Some(self.wild).filter(|_| may))
    }

    fn chain(&self, head: Option<u16>) -> impl Iterator<Item = usize> + '_ {
        let real = |at: &u16| *at != END;
        std::iter::successors(head.filter(real), move |at| self.next.get(usize::from(*at)).copied().filter(real))
            .filter_map(|at| self.rows.get(usize::from(at)).map(|row| usize::from(*row)))
    }
}

/// How many names [`Index::add`] finds in `names`, at most.
pub(super) const fn count(names: &str, separator: u8, end: Option<u8>) -> usize {
    let bytes = names.as_bytes();
    let (mut at, mut count) = (0, 1);
    while at < bytes.len() && !is(end, bytes[at]) {
        if bytes[at] == separator {
            count += 1;
        }
        at += 1;
    }
    count
}

const fn is(wanted: Option<u8>, byte: u8) -> bool {
    matches!(wanted, Some(wanted) if wanted == byte)
}

/// FNV-1a: short, and good enough for names.
const fn bucket(bytes: &[u8], from: usize, to: usize) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = from;
    while at < to {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ (hash >> 15)) as usize % BUCKETS
}

/// An index over a table of tuples whose first field holds names between blanks.
macro_rules! by_first {
    ($table:expr) => {{
        const NAMES: usize = {
            let (mut row, mut names) = (0, 0);
            while row < $table.len() {
                names += $crate::bash::commands::index::count($table[row].0, b' ', None);
                row += 1;
            }
            names
        };
        static INDEX: $crate::bash::commands::index::Index<NAMES> = {
            let mut index = $crate::bash::commands::index::Index::new();
            let mut row = $table.len();
            while row > 0 {
                row -= 1;
                index = index.add($table[row].0, b' ', None, row);
            }
            index
        };
        &INDEX
    }};
}
pub(super) use by_first;

#[cfg(test)]
mod tests {
    #[test]
    fn rows_are_found_under_each_of_their_names_in_order() {
        const ROWS: &[(&str, u8)] = &[("a b", 1), ("mkfs.* c", 2), ("b", 3), ("long-name a", 4)];
        let index = super::by_first!(ROWS);
        let named = |name: &str| {
            let has = |row: &usize| ROWS[*row].0.split(' ').any(|known| known == name);
            index.named(name).filter(has).collect::<Vec<_>>()
        };
        assert_eq!(named("a"), [0, 3]);
        assert_eq!(named("b"), [0, 2]);
        assert_eq!(named("c"), [1]);
        assert_eq!(named("long-name"), [3]);
        assert!(named("mkfs.ext4").is_empty() && named("").is_empty());
        assert_eq!(index.wild("mkfs.ext4").collect::<Vec<_>>(), [1]);
        assert!(index.wild("ls").next().is_none() && index.wild("").next().is_none());
    }
}
