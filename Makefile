# `make test` is what CI runs; `make demo` shows the tool at work. Both see to what they need.

.PHONY: help test demo bench study-transparency

help:
	@echo "make test   checks everything: format, lints, tidiness, tests"
	@echo "make demo   records a bundled failing program and shows what was captured"
	@echo "make bench  measures what recording costs (25 minutes; ARGS=--quick takes fewer)"
	@echo "make study-transparency"
	@echo "            runs the tests of real libraries plain and recorded, on every JDK"

test:
	@scripts/test

demo:
	@scripts/demo

study-transparency:
	@scripts/study-transparency

bench:
	@scripts/bench $(ARGS)
