//! `cargo run --release -p nika-search --example searchfuzz -- [INPUTS] [SEED]`: seeded globs, ignore files and regular
//! expressions through our own readers of them, beside the crates that ripgrep is made of. A failing input is named by its
//! seed.

fn main() {
    let mut args = std::env::args().skip(1).filter_map(|arg| arg.parse::<u64>().ok());
    let (inputs, first) = (args.next().unwrap_or(100_000), args.next().unwrap_or(1));
    let start = std::time::Instant::now();
    let mut data = Vec::new();
    for seed in first..first + inputs {
        fill(seed, &mut data);
        if std::panic::catch_unwind(|| nika_search::fuzz_one(&data)).is_err() {
            println!("failed: seed {seed}, {} bytes: {data:02x?}", data.len());
            std::process::exit(1);
        }
    }
    println!("{inputs} inputs from seed {first} in {:.1} s, none failed", start.elapsed().as_secs_f64());
}

fn fill(seed: u64, data: &mut Vec<u8>) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 24) as u8
    };
    data.clear();
    data.extend((0..120).map(|_| next()));
}
