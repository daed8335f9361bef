//! `make study-transparency`: see `docs/studies/transparency.md`.

fn main() {}
