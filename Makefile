# `make test` is what CI runs; `make demo` shows the tool at work. Both see to what they need.

.PHONY: help setup test demo

help:
	@echo "make test   checks everything: format, lints, tidiness, tests"
	@echo "make demo   records a bundled failing program and shows what was captured"

setup:
	@scripts/setup rust cc
	@scripts/setup jdk >/dev/null

test: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo run --quiet --locked --package xtask -- direction
	cargo run --quiet --locked --package xtask -- tidy
	cargo test --workspace --locked

demo:
	@scripts/demo
