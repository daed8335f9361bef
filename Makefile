# `make test` is what CI runs; `make demo` shows the tool at work. Both see to what they need.

.PHONY: help test audit demo bench corpus fuzz study-attacks study-changes study-everyday study-isolate study-reduce study-replay study-transparency study-weaver

help:
	@echo "make test   checks everything: format, lints, tidiness, tests"
	@echo "make audit  checks the crates of others: sources, licences, versions, advisories"
	@echo "make demo   records and debugs a bundled failing program, in under a minute"
	@echo "make bench  measures what recording costs and how fast replay is (40 minutes;"
	@echo "            ARGS=--quick takes fewer)"
	@echo "make corpus"
	@echo "            has culprit debug real bugs of published libraries, one table (5 minutes)"
	@echo "make fuzz   gives any bytes to everything that reads some, guided by coverage (a minute for"
	@echo "            each target; ARGS=\"recording 3600\" takes one, for an hour)"
	@echo "make study-attacks"
	@echo "            attacks culprit in some 300 ways, as root and as an ordinary user"
	@echo "make study-transparency"
	@echo "            runs the tests of real libraries plain and recorded, on every JDK"
	@echo "make study-replay"
	@echo "            records small tests of libraries tens of thousands of times, and replays"
	@echo "make study-reduce"
	@echo "            reduces recorded crashes by the engine, by plain ddmin and by picire"
	@echo "make study-changes"
	@echo "            isolates changes of releases, programs and histories with a known culprit"
	@echo "make study-everyday"
	@echo "            has culprit debug small programs of the kinds most Java developers have, one"
	@echo "            table (an hour; ARGS=--check only builds and runs the programs)"
	@echo "make study-isolate"
	@echo "            reduces inputs of real faults by culprit and by four other reducers"
	@echo "make study-weaver"
	@echo "            weaves whole modules of every JDK and has the JVMs verify and run them"

test:
	@scripts/test

audit:
	@scripts/audit

demo:
	@scripts/demo

corpus:
	@scripts/corpus $(ARGS)

fuzz:
	@scripts/fuzz $(ARGS)

study-attacks:
	@scripts/study-attacks $(ARGS)

study-transparency:
	@scripts/study-transparency $(ARGS)

study-replay:
	@scripts/study-replay $(ARGS)

study-reduce:
	@scripts/study-reduce

study-changes:
	@scripts/study-changes $(ARGS)

study-everyday:
	@scripts/study-everyday $(ARGS)

study-isolate:
	@scripts/study-isolate $(ARGS)

study-weaver:
	@scripts/study-weaver

bench:
	@scripts/bench $(ARGS)
