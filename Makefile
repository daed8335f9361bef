# `make test` is what CI runs; `make demo` shows the tool at work. Both see to what they need.

.PHONY: help test demo

help:
	@echo "make test   checks everything: format, lints, tidiness, tests"
	@echo "make demo   records a bundled failing program and shows what was captured"

test:
	@scripts/test

demo:
	@scripts/demo
