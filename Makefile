# SPDX-License-Identifier: GPL-2.0
#
# The entry point for users: make, make install, make check. make help lists all targets.
# Kbuild lists the files of the module.

KVER	?= $(shell bash -c '. scripts/lib.sh && iot_headers_default')
KDIR	?= /lib/modules/$(KVER)/build
PREFIX	?= /usr/local
MODDIR	= $(DESTDIR)/lib/modules/$(KVER)/updates

export PREFIX DESTDIR

all: modules tools

help:
	@echo 'make [KVER=release]   build iotracer.ko for a kernel, and tools/iotracer'
	@echo 'make modules, tools   one of the two'
	@echo 'make install          both, tool and library below PREFIX ($(PREFIX)); as root'
	@echo 'make uninstall        take them away again'
	@echo 'make demo             trace a real file; in a virtual machine where need be'
	@echo 'make check            everything that a change has to pass (root or sudo)'
	@echo 'make test             unit tests, the tool and lint; or one suite, T=fault K=6.1 F=regex'
	@echo 'make lint, unit       parts of it; also build-all'
	@echo 'make check-all        every test on every kernel; hours, and it can go on where it was stopped'
	@echo 'make check-debug      its tests on kernels that watch themselves; hours'
	@echo 'make dkms-test        build by DKMS, install in virtual machines'
	@echo 'make mutate           plant faults in the tool and the module: do the tests notice?'
	@echo 'make check-fields     make one field of the records wrong after the other: do the tests notice?'
	@echo 'make bench            what tracing costs, in instructions; PEERS=1: what other tracers cost'
	@echo 'make deb              Debian packages: iotracer-dkms, iotracer, and of the library'
	@echo 'make pictures         the pictures of README.md and doc/, from a real run in a virtual machine'
	@echo 'make clean'
	@echo 'KVER is $(or $(KVER),unknown: no kernel headers are installed)'

modules: headers
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

tools:
	$(MAKE) -C tools

headers:
	@test -e '$(KDIR)/Makefile' || { \
		echo 'iotracer: no headers for kernel "$(KVER)" in "$(KDIR)": install linux-headers-$(or $(KVER),amd64), or give KVER= one of: $(notdir $(patsubst %/build,%,$(wildcard /lib/modules/*/build)))' >&2; \
		exit 1; }

install: modules tools
	install -D -m 644 iotracer.ko $(MODDIR)/iotracer.ko
	$(if $(DESTDIR),,depmod $(KVER))
	$(MAKE) -C tools install

uninstall:
	rm -f $(MODDIR)/iotracer.ko
	$(if $(DESTDIR),,depmod $(KVER))
	$(MAKE) -C tools uninstall

clean-modules: headers
	$(MAKE) -C $(KDIR) M=$(CURDIR) clean

# Without kernel headers there is no module build to clean.
clean:
	$(if $(wildcard $(KDIR)/Makefile),$(MAKE) -C $(KDIR) M=$(CURDIR) clean)
	$(MAKE) -C tools clean
	$(MAKE) -C tests/unit clean
	rm -rf build

build-all lint check check-all check-debug demo pictures:
	@scripts/$@

bench:
	@scripts/bench $(if $(PEERS),--peers)

test:
	@scripts/test $(if $(T),'$(T)' '$(K)' '$(F)')

mutate:
	@scripts/mutate $(PATTERN)

check-fields:
	@scripts/check-fields $(FIELDS)

unit:
	$(MAKE) -C tests/unit check

dkms-test: build-all
	@scripts/check-dkms --archive 6.1
	@scripts/check-vm 6.1 dkms.bats
	@scripts/check-dkms --archive 6.12
	@scripts/check-vm 6.12 dkms.bats

deb:
	dpkg-buildpackage -b -uc -us

.PHONY: all help modules tools headers install uninstall clean-modules clean \
	build-all lint check check-all check-debug demo bench pictures mutate check-fields unit test dkms-test deb
