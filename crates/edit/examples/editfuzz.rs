//! `cargo run --release -p nika-edit --example editfuzz -- [INPUTS] [SEED] [PART]`: seeded inputs through
//! everything that reads strangers' bytes. A failing input is named by its seed.

/// The parts that can be asked for alone, and the first byte by which `fuzz_one` knows them.
const PARTS: &[(&str, u8)] = &[("decoder", 0), ("matcher", 1), ("notebooks", 3)];

fn main() {
    let mut args = std::env::args().skip(1).filter_map(|arg| arg.parse::<u64>().ok());
    let (inputs, first) = (args.next().unwrap_or(200_000), args.next().unwrap_or(1));
    let part = std::env::args().nth(3);
    let mut data = Vec::new();
    let start = std::time::Instant::now();
    for seed in first..first + inputs {
        fill(seed, &mut data);
        if let (Some(part), Some(first)) = (part.as_deref(), data.first_mut()) {
            *first = PARTS.iter().find(|row| row.0 == part).expect("a part of the table").1;
        }
        if std::panic::catch_unwind(|| nika_edit::fuzz_one(&data)).is_err() {
            println!("failed: seed {seed}, {} bytes: {data:02x?}", data.len());
            std::process::exit(1);
        }
    }
    println!("{inputs} inputs from seed {first} in {:.1} s, none failed", start.elapsed().as_secs_f64());
}

/// Some inputs are any bytes, some mostly letters, some a few bytes again and again.
fn fill(seed: u64, data: &mut Vec<u8>) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 24
    };
    data.clear();
    let (len, manner) = (next() % 400, next() % 4);
    let few: Vec<u8> = (0..4).map(|_| next() as u8).collect();
    let head = 20.min(len);
    for at in 0..len {
        let byte = match manner {
            _ if at < head => next() as u8,
            0 => next() as u8,
            1 => b"abc \t\n\r\n(){}=;\"\\"[next() as usize % 16],
            2 => few[next() as usize % 4],
            _ if next() % 12 == 0 => next() as u8,
            _ => b" \nabcdefg"[next() as usize % 9],
        };
        data.push(byte);
    }
}
