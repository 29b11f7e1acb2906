# Commands of the project; `make` without a target lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
STRIP ?= -s
# The sections of a program that depend on the folder of its build: no others differ.
FOLDER_SECTIONS := -R .note.gnu.build-id -R .swift_modhash
RELEASE := .build/release
# One compiler process for each target, and no debug information: together two thirds of the CPU time. `make lint` checks the imports.
# With other flags, everything is built again, so `make quick-check` has a build of its own, in which a file is compiled alone.
SWIFT_BUILD := swift build --disable-index-store -debug-info-format none $(addprefix -Xswiftc ,-wmo -num-threads 2 -no-emit-module-separately-wmo -disable-batch-mode -Xfrontend -disable-llvm-verify)
# Disables backtraces, because tests kill processes on purpose.
export SWIFT_BACKTRACE := enable=no
# Debian's Python, which has the packages that Debian provides.
PYTEST := /usr/bin/python3 -B -m pytest
TESTS := Tests/EndToEnd
# Three tests run in parallel, because most of them wait. Tests marked `alone` are serialized.
SIDE_BY_SIDE := -n 3
RELEASED := PROGRAMS=$(CURDIR)/$(RELEASE)
# Python's packages for tests of the page, besides Debian's chromium.
BROWSER_TESTS := axe-playwright-python==0.1.8 playwright==1.65.2

SECONDS ?= 60
COUNT ?= 10000
PIECES ?= 200
CODEC ?=
SUITE ?=
SEED ?= 1

.PHONY: help deps build release test unit quick quick-check proof release-check soak mutations conformance joints containers platforms servers fuzz lint format settings site sanitize bench demo install install-built uninstall deb dist clean

help: ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

deps: ## install the Debian packages that are missing
	@deploy/install-packages

build: ## build everything for development
	$(SWIFT_BUILD) --build-tests

release: ## build the release programs, with the Swift library linked statically
	swift build -c release --static-swift-stdlib

test: deps unit quick ## run the unit tests and the quick end-to-end tests, all on one debug build

# Many tests wait for leases and outages: with ten in parallel two cores are busy to the end.
unit: build ## run the unit tests; TIMES=1 runs each suite by itself and prints the twenty that take most CPU time
	@deploy/install-python
ifdef TIMES
	Tools/suite-times
else
	swift test --skip-build --disable-xctest --enable-swift-testing --experimental-maximum-parallelization-width 10 $(SCRATCH)
endif

quick: build ## run the quick end-to-end tests
	$(PYTEST) $(TESTS) $(SIDE_BY_SIDE) -m quick

quick-check: SWIFT_BUILD := swift build --disable-index-store -debug-info-format none --scratch-path .build-quick
quick-check: SCRATCH := --scratch-path .build-quick
quick-check: ## lint the files that differ from BASE (the merge base with origin/main), and run the unit tests of their targets
	@SWIFT_BUILD='$(SWIFT_BUILD)' SCRATCH='$(SCRATCH)' Tools/quick-check

proof: release ## run the quick and the long end-to-end tests on the release build
	@deploy/install-packages chromium faad golang-github-gomodule-redigo-dev golang-go mpg123 node-redis node-typescript nodejs \
	    opus-tools python3-redis ruby-redis systemd-container
	@deploy/install-python $(BROWSER_TESTS) mypy==2.4.1 openapi-python-client==0.29.1 opentelemetry-proto==1.45.2 pytest==9.2.0 \
	    redis==8.1.0 schemathesis==4.32.5 setuptools==84.2.1 tuspy==1.1.0
	@Tools/releases.py
	$(RELEASED) $(PYTEST) $(TESTS) $(SIDE_BY_SIDE) -m 'quick or long' -rs

release-check: release ## test what surrounds the programs: the site, the release files, the manifests' schemas, a new container
	@deploy/install-packages chromium furo python3-myst-parser python3-sphinx
	@deploy/install-python $(BROWSER_TESTS) kubernetes-validate==1.37.0 setuptools==84.2.1
	$(RELEASED) $(PYTEST) $(TESTS) $(SIDE_BY_SIDE) -m release

soak: release ## run the long forms of tests: millions of steps of the queue, all faults, ten hours, 2,000 conversions, 1,000 listeners
	@deploy/install-packages faad mpg123 opus-tools
	$(RELEASED) $(PYTEST) $(TESTS) -m soak -k 'not joints and not mutations and not whole' -s

mutations: release ## send COUNT (10000) mutated files, generated with SEED (1), to one worker
	$(RELEASED) $(PYTEST) $(TESTS)/test_mutations.py --count $(COUNT) --seed $(SEED) -s

# `make proof` runs a sample of it, `make soak` a subset. PART="source=flac format=mp3,opus rate=44100 layout=stereo" selects a part of the full run, which
# takes an hour.
conformance: release ## convert every source to every output, at every rate and layout, and check each result
	@deploy/install-packages
	$(RELEASED) $(PYTEST) $(TESTS)/test_conformance.py -m soak -k whole --part '$(PART)' -s

# All of it takes hours. CODEC="mp3 or opus" selects settings by their names, and PIECES the number of pieces of each.
joints: release ## compare files of several encoders with those of one, over music and synthetic sound
	@deploy/install-packages faad mpg123 opus-tools supertux-data vorbis-tools 'wesnoth-1.18-music|wesnoth-1.16-music'
	$(RELEASED) $(PYTEST) $(TESTS)/test_joints.py -m soak -k '$(CODEC)' --count $(PIECES) -s

containers: release ## build the images and run three workers, and install the package, of SUITE (bookworm), with podman and podman-compose, or docker
	@deploy/install-packages build-essential chromium debhelper lintian
	@deploy/install-python $(BROWSER_TESTS)
	$(RELEASED) $(PYTEST) $(TESTS)/test_containers.py $(TESTS)/test_dist.py $(TESTS)/test_package.py -m container -rs

platforms: ## run `make test` in a root of the other Debian suite, or of SUITE; of sid only build
	Tools/platforms test $(SUITE)

servers: build release ## run the tests of the queue against each Redis and Valkey of this machine and of the roots of `make platforms`
	@deploy/install-python
	Tools/servers

fuzz: ## fuzz each parser and the engine for SECONDS (60)
	Tools/fuzz $(SECONDS)

lint: ## check the format of the code; warnings are errors
	swift format lint --strict --recursive --parallel Sources Tests Package.swift
	@! git grep -nE '[[:space:]]+$$' -- '*.swift' '*.lua' '*.c' '*.h' '*.md' Makefile
	@Tools/check-arrows
	@Tools/check-dependencies
	@Tools/check-names
	@Tools/check-pages
	@Tools/version check
	@Tools/check-monitoring
	@Tools/lua_scripts.py lint

format: ## format the code
	swift format --in-place --recursive --parallel Sources Tests Package.swift

settings: build ## write the table of docs/settings.md anew
	.build/debug/respool settings --markdown > .build/settings.md
	sed -i -e '/^| variable |/r .build/settings.md' -e '/^|/d' docs/settings.md

site: release ## make a site of docs/ with a search and the reference of the HTTP API, in .build/site
	@deploy/install-packages furo python3-myst-parser python3-sphinx
	$(RELEASED) Tools/make-site

sanitize: ## run the tests under AddressSanitizer (with leaks) and ThreadSanitizer
	Tools/sanitize

bench: release ## measure respool relative to ffmpeg, the codecs' tools, Redis' tools and other queues
	@deploy/install-packages flac lame opus-tools ruby-sidekiq sox supertux-data vorbis-tools
	Benchmarks/parallel
	Benchmarks/run
	Benchmarks/queue
	Benchmarks/filters
	Benchmarks/sizing

demo: deps release ## run the demo: a private Redis, a worker, real conversions
	$(RELEASE)/respool demo

install: release ## install the programs below PREFIX (/usr/local)
	@$(MAKE) --no-print-directory install-built

install-built:
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/respool
	install $(STRIP) $(RELEASE)/respool $(DESTDIR)$(PREFIX)/bin/
	install $(STRIP) $(RELEASE)/respoold $(RELEASE)/respool-transfer $(RELEASE)/respool-transcode $(DESTDIR)$(PREFIX)/libexec/respool/
ifneq ($(STRIP),)
	strip $(FOLDER_SECTIONS) $(DESTDIR)$(PREFIX)/bin/respool $(DESTDIR)$(PREFIX)/libexec/respool/respool*
endif

uninstall: ## remove the installed programs
	rm -f $(DESTDIR)$(PREFIX)/bin/respool
	rm -rf $(DESTDIR)$(PREFIX)/libexec/respool

deb: release ## make a Debian package in .build/deb
	@deploy/install-packages build-essential debhelper lintian
	@deploy/make-package

dist: release ## make the files of a release in .build/dist: sources, package, clients, image (IMAGE=no: without), sums
	@deploy/install-packages build-essential debhelper lintian
	@deploy/install-python setuptools==84.2.1
	@Tools/make-dist

clean: ## remove the build folders
	rm -rf .build .build-address .build-fuzz .build-quick .build-thread
