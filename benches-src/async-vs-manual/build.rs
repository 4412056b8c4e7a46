//! Where a program's functions lie in memory is the linker's choice, which moves its time by some nanoseconds. `LINK_ORDER=7` makes it
//! another choice, of which as many can be had as a measurement has rounds.

fn main() {
    println!("cargo::rerun-if-env-changed=LINK_ORDER");
    if let Ok(seed) = std::env::var("LINK_ORDER") {
        println!("cargo::rustc-link-arg-bins=-Wl,--shuffle-sections=.text*={seed}");
        // Many are kept, and nobody looks into them.
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
}
