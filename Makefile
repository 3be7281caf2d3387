# Makefile of cutec and libcutejit. `./configure` comes first; out of the
# source: `mkdir b && cd b && ../configure && make`. V=1 shows the commands.
#
# What is made lies in build/ of the folder in which make runs.

ifeq ($(VERSION),)
-include config.mk
endif
ifeq ($(VERSION),)
ifeq ($(filter clean distclean,$(MAKECMDGOALS)),)
$(error There is no config.mk: run ./configure first)
endif
srcdir = .
endif

# As many jobs as processors, unless the command line says -j.
MAKEFLAGS += $(if $(JOBS),-j$(JOBS))

S = $(srcdir)/src
B = build
SOVERSION = 0

# ---- Files, in the order of the pipeline ------------------------------------

FOLDERS = base lexer parser layout ir codegen std runtime
sources_of = $(sort $(wildcard $(S)/$(1)/*.c))
ONLY_STATIC = $(S)/base/arc4random.c
SOURCES = $(filter-out $(ONLY_STATIC), \
	$(foreach f,$(FOLDERS),$(call sources_of,$(f))))
COMMAND = $(call sources_of,cutec)

LEXERS = $(wildcard $(S)/lexer/lexer.l)
GRAMMARS = $(wildcard $(S)/parser/gram.y)
STD = $(sort $(wildcard $(S)/std/*.cute))
GENERATED = $(LEXERS:$(S)/%.l=$(B)/%.c) $(GRAMMARS:$(S)/%.y=$(B)/%.c) \
	$(B)/std/std_data.c
GENERATED_H = $(GRAMMARS:$(S)/%.y=$(B)/%.h) $(B)/version.h \
	$(B)/codegen/llvm_names.h

OBJECTS = $(SOURCES:$(S)/%.c=$(B)/%.o) $(GENERATED:.c=.o)
# not in build/cutec, which is the command itself
COMMAND_OBJECTS = $(COMMAND:$(S)/cutec/%.c=$(B)/command/%.o)
ifeq ($(STATIC_LLVM),yes)
STATIC_OBJECTS = $(ONLY_STATIC:$(S)/%.c=$(B)/%.o)
endif

UNIT_TESTS = $(patsubst $(srcdir)/tests/unit/%.c,$(B)/unit/%, \
	$(sort $(wildcard $(srcdir)/tests/unit/check_*.c)))
EXAMPLES = $(patsubst %.c,$(B)/examples/%, \
	$(notdir $(sort $(wildcard $(srcdir)/examples/*/*.c))))
API_TESTS = $(patsubst $(srcdir)/tests/api/%.c,$(B)/api/%, \
	$(filter-out %/fake_cuda.c %/fake_malloc.c %/fake_nvrtc.c, \
	$(sort $(wildcard $(srcdir)/tests/api/*.c))))
FAKE_CUDA = $(if $(API_TESTS),$(B)/fake/libcuda.so.1)
FAKE_NVRTC = $(B)/fake/libnvrtc.so.98 $(B)/fake/libnvrtc_part.so.98
FAKE_MALLOC = $(if $(API_TESTS),$(B)/fake/malloc.so)
FUZZERS = $(patsubst $(srcdir)/tests/fuzz/%.c,$(B)/fuzz/%, \
	$(sort $(wildcard $(srcdir)/tests/fuzz/fuzz_*.c)))
HEADER = $(wildcard $(S)/cutejit.h)
MANUAL = $(sort $(wildcard $(srcdir)/man/*.[1-9]))

LIB_A = $(B)/libcutejit.a
LIB_SO = $(B)/libcutejit.so.$(SOVERSION)
CUTEC = $(if $(COMMAND),$(B)/cutec)
OUR_LIBS = $(if $(HEADER),$(LIB_SO) $(B)/libcutejit.so)

# ---- Flags ------------------------------------------------------------------

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wconversion -Wno-sign-conversion -Wvla \
	-Wpointer-arith -Wundef -Wwrite-strings $(CC_WARNINGS)

# Code that flex and bison write is not held to what ours is.
WARNINGS_GENERATED = -Wall -Wno-unused-function -Wno-unused-but-set-variable \
	-Wno-sign-compare

# LLVM's headers are for codegen/ and for base/hash.c, where they are found
# by -isystem. $(NDEBUG), with -DNDEBUG, leaves names only for assertions.
NDEBUG = $(if $(findstring -DNDEBUG,$(CONFIG_CFLAGS)), \
	-Wno-unused-variable -Wno-unused-but-set-variable \
	-Wno-unused-parameter -Wno-unused-function)
# The executor computes what a program says: no fusing of our own arithmetic.
ALL_CFLAGS = -std=c17 -D_GNU_SOURCE -I$(S) -I$(B) -fPIC -ffp-contract=off \
	-ffunction-sections -fdata-sections $(LLVM_CPPFLAGS) \
	$(JANSSON_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(CONFIG_CFLAGS)
ALL_LDFLAGS = -Wl,--gc-sections $(LDFLAGS) $(CFLAGS) $(CONFIG_LDFLAGS)
LIBS = $(LLVM_LIBS) $(JANSSON_LIBS) -ldl -lpthread -lm

# A static cutec is one file of at most 60 MB: no symbols are left in it, and
# it is bound to one address, which saves 5 MB of relocations.
ifeq ($(STATIC_LLVM),yes)
STRIP = $(if $(filter no,$(DEBUG)),-s)
COMMAND_LDFLAGS = -no-pie $(STRIP)
endif
SO_LDFLAGS = -shared $(STRIP) -Wl,-soname,libcutejit.so.$(SOVERSION) \
	-Wl,--version-script=$(S)/cutejit.map -Wl,--exclude-libs,ALL \
	-Wl,-Bsymbolic $(if $(filter no,$(SANITIZERS)),$(NO_UNDEFINED))
NO_UNDEFINED = -Wl,-z,defs

ifeq ($(V),1)
say = @:
else
say = @printf '%-8s%s\n'
.SILENT:
endif

# ---- Targets ----------------------------------------------------------------

.PHONY: all test-programs bench-programs check check-unit check-laws check-gpu \
	check-fuzz bench-gpu tune-gpu check-install check-tsan check-valgrind \
	demo lint install uninstall dist clean distclean
.DELETE_ON_ERROR:
.SUFFIXES:

all: $(CUTEC) $(LIB_A) $(OUR_LIBS)

# Objects that stand in for parts of libc come as such: an archive is searched
# before the libraries that need them.
$(B)/cutec: $(COMMAND_OBJECTS) $(LIB_A) $(STATIC_OBJECTS)
	$(say) LINK $@
	$(CC) -o $@ $(COMMAND_OBJECTS) $(LIB_A) $(STATIC_OBJECTS) \
	    $(ALL_LDFLAGS) $(COMMAND_LDFLAGS) $(LIBS)

$(LIB_A): $(OBJECTS) $(STATIC_OBJECTS)
	$(say) AR $@
	rm -f $@
	$(AR) rcs $@ $(OBJECTS) $(STATIC_OBJECTS)

$(LIB_SO): $(OBJECTS) $(STATIC_OBJECTS) $(S)/cutejit.map
	$(say) LINK $@
	$(CC) -o $@ $(SO_LDFLAGS) $(OBJECTS) $(STATIC_OBJECTS) \
	    $(ALL_LDFLAGS) $(LIBS)

$(B)/libcutejit.so: $(LIB_SO)
	ln -sf $(notdir $(LIB_SO)) $@

# Names everything that went in: programs of different sources or settings
# must not share cache entries.
ALL_SOURCES = $(wildcard $(S)/*/*.[chly] $(S)/*/*.def $(S)/*.h) $(STD)
$(B)/version.h: $(ALL_SOURCES) config.mk
	mkdir -p $(B)
	{ echo '#define CJ_VERSION "$(VERSION)"'; \
	  cat $(sort $^) | sha256sum | \
	    sed 's/^\(.\{32\}\).*/#define CJ_BUILD "\1"/'; } >$@.new
	cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(B)/%.o: $(S)/%.c config.mk | $(GENERATED_H)
	$(say) CC $*.c
	mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(WARNINGS) $(NDEBUG) -MMD -MP -c $< -o $@

$(B)/command/%.o: $(S)/cutec/%.c config.mk | $(GENERATED_H)
	$(say) CC cutec/$*.c
	mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(WARNINGS) $(NDEBUG) -MMD -MP -c $< -o $@

$(GENERATED:.c=.o): $(B)/%.o: $(B)/%.c config.mk | $(GENERATED_H)
	$(say) CC $@
	$(CC) $(ALL_CFLAGS) $(WARNINGS_GENERATED) -MMD -MP -c $< -o $@

$(B)/lexer/lexer.c: $(S)/lexer/lexer.l
	$(say) FLEX $<
	mkdir -p $(@D)
	$(FLEX) -o $@ $<

$(B)/parser/gram.c $(B)/parser/gram.h &: $(S)/parser/gram.y
	$(say) BISON $<
	mkdir -p $(@D)
	$(BISON) -Wall --defines=$(B)/parser/gram.h -o $(B)/parser/gram.c $<

# Names of LLVM's functions that stand for pointers (codegen/llvm_api.h).
$(B)/codegen/llvm_names.h: $(S)/codegen/llvm_api.def
	mkdir -p $(@D)
	sed -n 's/^[A-Z]*(\(.*\))$$/#define \1 cj_llvm_api.\1/p' $< >$@

$(B)/std/std_data.c: $(STD) $(S)/std/embed.sh
	$(say) EMBED $@
	mkdir -p $(@D)
	sh $(S)/std/embed.sh $(STD) >$@

-include $(OBJECTS:.o=.d) $(COMMAND_OBJECTS:.o=.d) $(UNIT_TESTS:=.d)

# ---- Tests ------------------------------------------------------------------

# Assertions of ours stay on in unit tests: Check's own need none.
$(B)/unit/%: $(srcdir)/tests/unit/%.c $(LIB_A) config.mk
	$(say) CC tests/unit/$*.c
	mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -UNDEBUG $(WARNINGS) $(CHECK_CFLAGS) \
	    -I$(srcdir)/tests/unit -DCJ_SRCDIR='"$(ABS_SRCDIR)"' \
	    -MMD -MP -MF $@.d -MT $@ $< -o $@ \
	    $(LIB_A) $(ALL_LDFLAGS) $(COMMAND_LDFLAGS) $(CHECK_LIBS) $(LIBS)

# Measurements: built when asked for, by `make build/bench/bench_NAME`, and by
# `make lint`.
$(B)/bench/%: $(srcdir)/tests/bench/%.c $(LIB_A) config.mk
	$(say) CC tests/bench/$*.c
	mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(WARNINGS) $(NDEBUG) -MMD -MP -MF $@.d -MT $@ \
	    $< -o $@ $(LIB_A) $(ALL_LDFLAGS) $(COMMAND_LDFLAGS) $(LIBS)

# A driver that plays GPUs, for tests of launches.
$(B)/fake/libcuda.so.1: $(srcdir)/tests/api/fake_cuda.c \
    $(wildcard $(srcdir)/tests/api/fake_*.h) config.mk
	$(say) LINK $@
	mkdir -p $(@D)
	$(CC) -std=c99 -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS) $(WARNINGS) -fPIC \
	    -shared -Wl,-soname,libcuda.so.1 $< -o $@ -lpthread

# NVRTC, and one that lacks a function.
$(FAKE_NVRTC): $(B)/fake/%.so.98: $(srcdir)/tests/api/fake_nvrtc.c config.mk
	$(say) LINK $@
	mkdir -p $(@D)
	$(CC) -std=c99 -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS) $(WARNINGS) -fPIC \
	    $(if $(findstring part,$*),-DFAKE_NVRTC_PART) -shared $< -o $@

# A malloc that gives nothing once, for the command.
$(FAKE_MALLOC): $(srcdir)/tests/api/fake_malloc.c \
    $(srcdir)/tests/api/failing_malloc.h config.mk
	$(say) LINK $@
	mkdir -p $(@D)
	$(CC) -std=c99 -D_GNU_SOURCE -O1 $(WARNINGS) -fPIC -shared $< -o $@

# Against what an installation has, and nothing else of ours.
define against_library
	$(say) CC $<
	mkdir -p $(@D)
	$(CC) -std=c99 -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS) $(CONFIG_CFLAGS) \
	    $(if $(findstring -DNDEBUG,$(CONFIG_CFLAGS)),,-DHAVE_ASSERTIONS) \
	    -UNDEBUG $(WARNINGS) \
	    -DFAKE_CUDA='"$(CURDIR)/$(B)/fake/libcuda.so.1"' \
	    -I$(B)/include $< -o $@ $(LDFLAGS) \
	    $(CONFIG_LDFLAGS) $(LIB_SO) \
	    -Wl,-rpath,$(CURDIR)/$(B) -lm -lpthread -ldl
endef

$(B)/include/cutejit.h: $(HEADER)
	mkdir -p $(@D)
	cp $< $@

$(API_TESTS): $(B)/api/%: $(srcdir)/tests/api/%.c $(OUR_LIBS) \
    $(B)/include/cutejit.h | $(FAKE_CUDA)
	$(against_library)

.SECONDEXPANSION:
$(EXAMPLES): $(B)/examples/%: $$(wildcard $(srcdir)/examples/*/%.c) \
    $(OUR_LIBS) $(B)/include/cutejit.h
	$(against_library)

# Each fuzzer over the texts that are kept, with any compiler.
REPLAYS = $(FUZZERS:$(B)/fuzz/fuzz_%=$(B)/replay/fuzz_%)
$(B)/replay/%: $(srcdir)/tests/fuzz/%.c $(srcdir)/tests/fuzz/replay.c $(LIB_A)
	$(say) CC tests/fuzz/$*.c
	mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(WARNINGS) $(filter %.c,$^) \
	    -o $@ $(LIB_A) $(ALL_LDFLAGS) $(COMMAND_LDFLAGS) $(FUZZ_LIBS) \
	    $(LIBS)

# Those that make programs have files in common; one reads LLVM's texts.
fuzz_parts = $(patsubst %,$(srcdir)/tests/fuzz/%.c,$(1))
of_fuzzer = $(B)/fuzz/$(1) $(B)/replay/$(1)
$(call of_fuzzer,fuzz_differ) $(call of_fuzzer,fuzz_lower): \
    $(call fuzz_parts,program program_expr program_run)
$(call of_fuzzer,fuzz_differ) $(call of_fuzzer,fuzz_elab) \
    $(call of_fuzzer,fuzz_lower): $(call fuzz_parts,fuzz)
$(call of_fuzzer,fuzz_lower): \
    $(call fuzz_parts,lowered_read lowered_run lowered_call)
$(call of_fuzzer,fuzz_lower): FUZZ_LIBS = \
	$(shell $(LLVM_CONFIG) $(if $(filter yes,$(STATIC_LLVM)), \
	--link-static,--link-shared) --ldflags --libs core irreader) \
	$(if $(filter yes,$(STATIC_LLVM)),-lstdc++)

UNIT_PROGRAMS = $(if $(filter yes,$(HAVE_CHECK)),$(UNIT_TESTS))
C_PROGRAMS = $(if $(HEADER),$(API_TESTS) $(EXAMPLES))
TEST_PROGRAMS = $(UNIT_PROGRAMS) $(C_PROGRAMS) $(REPLAYS) $(FAKE_NVRTC) \
	$(FAKE_MALLOC)
test-programs: $(TEST_PROGRAMS)
bench-programs: $(patsubst $(srcdir)/tests/bench/%.c,$(B)/bench/%, \
    $(wildcard $(srcdir)/tests/bench/bench_*.c))

run_tests = SRCDIR=$(ABS_SRCDIR) BUILDDIR=$(CURDIR)/$(B) \
	HAVE_CHECK=$(HAVE_CHECK) SANITIZERS=$(SANITIZERS) \
	LLVM_VERSION=$(LLVM_VERSION) \
	sh $(srcdir)/tests/run.sh

# Only what the parts that are asked for run.
PROGRAMS_OF = $(if $(1),$(if $(filter unit,$(1)),$(UNIT_PROGRAMS)) \
	$(if $(filter api examples,$(1)),$(C_PROGRAMS)) \
	$(if $(filter golden,$(1)),$(FAKE_CUDA) $(FAKE_NVRTC) $(FAKE_MALLOC)) \
	$(if $(filter fuzz,$(1)),$(REPLAYS)),$(TEST_PROGRAMS))
check: all $$(call PROGRAMS_OF,$(PARTS))
	$(run_tests) $(PARTS)

check-unit: $(TEST_PROGRAMS)
	$(run_tests) unit

# The laws of the layout algebra over many more cases than make check takes.
LAWS = 1000000
check-laws: $(B)/unit/check_laws
	CJ_LAWS=$(LAWS) $(B)/unit/check_laws

check-gpu: all
	$(run_tests) gpu

# Threads, as ThreadSanitizer sees them: a build of its own, and the tests that
# compile and launch from many. What LLVM does within is not looked at.
TSAN_TESTS = threads quick graph stop tune
TSAN = suppressions=$(ABS_SRCDIR)/tests/tsan.supp
check-tsan:
	mkdir -p $(B)/tsan
	cd $(B)/tsan && $(ABS_SRCDIR)/configure CC="$(CC)" \
	    CFLAGS='-O1 -g -fsanitize=thread' LDFLAGS=-fsanitize=thread \
	    --enable-debug >configure.log && \
	    $(MAKE) build/libcutejit.so.$(SOVERSION) $(TSAN_TESTS:%=build/api/%)
	for t in $(TSAN_TESTS); do \
		TSAN_OPTIONS=$(TSAN):ignore_noninstrumented_modules=1 \
		    $(B)/tsan/build/api/$$t || exit 1; \
	done

# Memory, as valgrind sees it: what is used, and what is lost for good.
VALGRIND_TESTS = wrong embed tensors quick graph launch maps memory
VALGRIND = valgrind -q --error-exitcode=9 --leak-check=full \
	--show-leak-kinds=definite --errors-for-leak-kinds=definite \
	--suppressions=$(ABS_SRCDIR)/tests/valgrind.supp
check-valgrind: $(VALGRIND_TESTS:%=$(B)/api/%)
	for t in $^; do $(VALGRIND) $$t || exit 1; done

# The tree as users have it: examples are built against it.
TREE = $(CURDIR)/$(B)/tree
check-install: all
	rm -rf $(TREE)
	$(MAKE) install DESTDIR= PREFIX=$(TREE) EXEC_PREFIX=$(TREE) \
	    BINDIR=$(TREE)/bin LIBDIR=$(TREE)/lib \
	    INCLUDEDIR=$(TREE)/include DATAROOTDIR=$(TREE)/share
	CC="$(CC)" sh $(srcdir)/tests/install.sh $(TREE) $(TREE)/lib

# Against the peers that torch and triton bring; the table of examples/bench.md.
bench-gpu: all
	CUTEJIT_LIBRARY=$(CURDIR)/$(B)/libcutejit.so python3 \
	    $(srcdir)/tests/bench/rows.py \
	    --markdown $(srcdir)/examples/bench.md

# The tables of winners beside the examples, for the class of this GPU: those of
# the caches are not looked at. TUNED names some of them.
TUNED = $(sort $(shell grep -l '^tune ' $(srcdir)/examples/*/*.cute))
tune-gpu: all
	rm -rf $(B)/tuning
	for f in $(TUNED); do \
	    CUTEJIT_CACHE_DIR=$(CURDIR)/$(B)/tuning $(B)/cutec tune $$f && \
	    CUTEJIT_CACHE_DIR=$(CURDIR)/$(B)/tuning $(B)/cutec tune --export \
	        $$f || exit 1; done

demo: all
	SRCDIR=$(srcdir) CUTEC=$(CURDIR)/$(B)/cutec \
	    sh $(srcdir)/examples/demo.sh

lint:
	SRCDIR=$(ABS_SRCDIR) BUILDDIR=$(CURDIR)/$(B) \
	    LLVM_CONFIG=$(LLVM_CONFIG) sh $(srcdir)/tests/lint/lint.sh

# FUZZ_SECONDS each. Configure for it with CC=clang --enable-sanitizers
# CFLAGS='-O1 -g -fsanitize=fuzzer-no-link'.
FUZZ_SECONDS = 30
$(B)/fuzz/%: $(srcdir)/tests/fuzz/%.c $(LIB_A)
	$(say) CC tests/fuzz/$*.c
	mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(WARNINGS) -fsanitize=fuzzer $(filter %.c,$^) \
	    -o $@ $(LIB_A) $(ALL_LDFLAGS) $(FUZZ_LIBS) $(LIBS)

# The words of the language, for whoever mutates its texts.
FUZZ_DICT = $(B)/fuzz/cute.dict
$(FUZZ_DICT): $(srcdir)/src/lexer/token.def $(srcdir)/src/parser/attr.def \
    $(srcdir)/src/ir/type.def $(srcdir)/src/ir/builtins.def
	mkdir -p $(@D)
	sed -n -e 's/^WORD([^"]*\("[^"]*"\).*/\1/p' \
	    -e 's/^TOKEN([^"]*\("[^"a-z]*"\).*/\1/p' \
	    -e 's/^KIND([^"]*\("[^"]*"\).*/\1/p' \
	    -e 's/^ATTR([A-Z]*,[^a-z]*\([a-z_]*\).*/"\1("/p' \
	    -e 's/^BUILTIN(\([a-z_0-9]*\).*/"\1("/p' \
	    -e 's/^EACH(\([a-z_0-9]*\).*/"\1("/p' \
	    -e 's/^VALUE(\([a-z_0-9]*\).*/"\1"/p' $^ >$@

check-fuzz: $(FUZZERS) $(FUZZ_DICT)
	for f in $(FUZZERS); do \
		mkdir -p $$f.corpus && \
		$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
		    -dict=$(FUZZ_DICT) \
		    -artifact_prefix=$$f- $$f.corpus \
		    $(ABS_SRCDIR)/tests/fuzz/corpus 2>$$f.log || \
		{ tail -n 20 $$f.log; exit 1; }; \
		tail -n 1 $$f.log; \
	done

# ---- Installation -----------------------------------------------------------

D = $(DESTDIR)
man_of = $(D)$(MANDIR)/man$(subst .,,$(suffix $(1)))/$(notdir $(1))
FOR_BASH = $(D)$(DATAROOTDIR)/bash-completion/completions/cutec
FOR_ZSH = $(D)$(DATAROOTDIR)/zsh/site-functions/_cutec
INSTALLED = $(D)$(BINDIR)/cutec $(D)$(LIBDIR)/libcutejit.a \
	$(D)$(LIBDIR)/libcutejit.so $(D)$(LIBDIR)/libcutejit.so.$(SOVERSION) \
	$(D)$(INCLUDEDIR)/cutejit.h $(D)$(LIBDIR)/pkgconfig/cutejit.pc \
	$(FOR_BASH) $(FOR_ZSH) $(foreach m,$(MANUAL),$(call man_of,$(m)))

install: all
	mkdir -p $(sort $(dir $(INSTALLED)))
	install -m 755 $(B)/cutec $(D)$(BINDIR)/cutec
	$(B)/cutec completion bash >$(FOR_BASH)
	$(B)/cutec completion zsh >$(FOR_ZSH)
	install -m 644 $(LIB_A) $(D)$(LIBDIR)/libcutejit.a
	install -m 755 $(LIB_SO) $(D)$(LIBDIR)/libcutejit.so.$(SOVERSION)
	ln -sf libcutejit.so.$(SOVERSION) $(D)$(LIBDIR)/libcutejit.so
	install -m 644 $(HEADER) $(D)$(INCLUDEDIR)/cutejit.h
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@EXEC_PREFIX@|$(EXEC_PREFIX)|' \
	    -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS_PRIVATE@|$(LIBS)|' \
	    $(S)/cutejit.pc.in >$(D)$(LIBDIR)/pkgconfig/cutejit.pc
	$(foreach m,$(MANUAL),install -m 644 $(m) $(call man_of,$(m)) &&) :

uninstall:
	rm -f $(INSTALLED)

# ---- The rest ---------------------------------------------------------------

NAME = cutejit-$(VERSION)
dist:
	git -C $(srcdir) archive --prefix=$(NAME)/ HEAD | \
	    gzip -9n >$(NAME).tar.gz
	$(say) DIST $(NAME).tar.gz

clean:
	rm -rf $(B)

distclean: clean
	rm -f config.mk config.log
