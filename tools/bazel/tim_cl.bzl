"""Our own C++ libraries, programs and tests: options and include folders."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

def tim_root():
    """The repository's folder as a compiler or a tool sees it."""
    name = native.repository_name().lstrip("@")
    return "external/" + name if name else "."

def tim_warnings():
    """What compilers say of our own code; an error with --config=werror."""
    return ["-Wall", "-Wextra"] + select({
        "//tools/bazel:warnings_as_errors": ["-Werror"],
        "//conditions:default": [],
    })

def _options():
    root = tim_root()
    folders = [root, root + "/src", root + "/include"]
    return ["-std=c++20", "-O2"] + tim_warnings() + [
        "-ffp-contract=off",
    ] + ["-iquote" + folder for folder in folders]

def tim_library(name, copts = [], **kwargs):
    """A library for static links: what layers hide is within reach there."""
    cc_library(
        name = name,
        copts = _options() + copts,
        linkstatic = 1,
        **kwargs
    )

def tim_generated_headers():
    """Copts with which headers of tim_tables are included as their siblings."""
    return ["-iquote$(GENDIR)/%s/src" % tim_root()]

def tim_tables(name, srcs, folder = ""):
    """graph.fbs makes graph_generated.h, by FlatBuffers' compiler.

    Args:
      name: of the target.
      srcs: schemas.
      folder: of the package, in which all of them lie, with a slash.
    """
    missing = "flatc was not found; Debian's package is flatbuffers-compiler, see tools/install_deps.sh"
    native.genrule(
        name = name,
        srcs = srcs,
        outs = [src[:-len(".fbs")] + "_generated.h" for src in srcs],
        cmd = "command -v flatc >/dev/null || { echo \"%s\" >&2; exit 1; }; " % missing +
              "flatc --cpp --cpp-std c++17 --scoped-enums -o $(RULEDIR)/%s $(SRCS)" % folder,
    )

# As Bazel's own toolchain for g++ and _options() have them.  Where the options
# of a source differ, under a sanitizer for one, g++ reads the header itself.
_PRECOMPILED_OPTIONS = [
    "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=1 -DNDEBUG -g0 -fPIC",
    "-fstack-protector -fno-omit-frame-pointer",
    "-ffunction-sections -fdata-sections -fno-canonical-system-headers",
    "-Wno-builtin-macro-redefined",
    "'-D__DATE__=\"redacted\"' '-D__TIMESTAMP__=\"redacted\"'",
    "'-D__TIME__=\"redacted\"'",
    "-std=c++20 -O2 -ffp-contract=off",
]

def tim_precompiled(name, header, copts = []):
    """A header that many sources include, and the same as g++ reads it at once.

    Args:
      name: of the target, and of the header without its ".h".
      header: the file, which includes the standard library and system headers.
      copts: options of the sources, besides those of all.
    """
    copy = "precompiled/%s.h" % name
    native.genrule(
        name = name + "_compiled",
        srcs = [header],
        outs = [copy, copy + ".gch"],
        cmd = "cp $(SRCS) $(RULEDIR)/%s; $(CC) %s -x c++-header $(RULEDIR)/%s -o $(RULEDIR)/%s.gch" %
              (copy, " ".join(_PRECOMPILED_OPTIONS + copts), copy, copy),
        toolchains = ["@bazel_tools//tools/cpp:current_cc_toolchain"],
    )
    cc_library(
        name = name,
        textual_hdrs = [copy, copy + ".gch"],
    )

def _include_precompiled(label):
    """Copts with which a source begins with the header of tim_precompiled."""
    package, name = label.lstrip("/").split(":")
    return [
        "-include",
        "$(GENDIR)/%s/%s/precompiled/%s.h" % (tim_root(), package, name),
    ]

# g++ 12 sees strings of precompiled headers moved beyond their ends.
_NO_FALSE_ALARMS = [
    "-Wno-array-bounds",
    "-Wno-restrict",
    "-Wno-stringop-overflow",
    "-Wno-stringop-overread",
]

LAYER_OPTIONS = ["-fvisibility=hidden", "-fvisibility-inlines-hidden"]

def tim_layer(
        name,
        folder = "",
        generated = [],
        copts = [],
        deps = [],
        precompiled = "//tools/bazel:library_headers",
        **kwargs):
    """The library of one folder: every .cc and .h under it, subfolders too.

    A shared library made of it exports what the public headers mark.

    Args:
      name: of the target.
      folder: of the package, with a slash; empty: the whole package.
      generated: sources made by other targets.
      copts: options besides those of all layers.
      deps: of the library.
      precompiled: a tim_precompiled whose header g++ reads before each source.
        Every source includes what it uses all the same: other compilers read
        none.
      **kwargs: of the library.
    """
    with_precompiled = {
        "//tools/bazel:clang": [],
        "//conditions:default": _include_precompiled(precompiled) +
                                _NO_FALSE_ALARMS,
    }
    tim_library(
        name = name,
        srcs = native.glob([folder + "**/*.cc"], allow_empty = True) + generated,
        hdrs = native.glob([folder + "**/*.h"], allow_empty = True),
        copts = LAYER_OPTIONS + copts + select(with_precompiled),
        deps = deps + select({
            "//tools/bazel:clang": [],
            "//conditions:default": [precompiled],
        }),
        **kwargs
    )

def tim_binary(name, copts = [], **kwargs):
    cc_binary(
        name = name,
        copts = _options() + copts,
        **kwargs
    )

# A test's source is compiled once and run once: g++ takes a fifth less time for
# it than with -O1.
TEST_OPTIONS = ["-Og"]

# g++ collects no garbage before it has 1 GB of it, as most tests never do.
_NO_COLLECTIONS = ["--param=ggc-min-heapsize=1000000"]

def tim_test(name, copts = [], linkopts = [], deps = [], **kwargs):
    """A test program: a source of its own."""
    cc_test(
        name = name,
        copts = _options() + TEST_OPTIONS +
                _include_precompiled("//tools/bazel:test_headers") +
                select({
                    "//tools/bazel:clang": [],
                    "//conditions:default": _NO_COLLECTIONS,
                }) + copts,
        deps = deps + ["//tools/bazel:test_headers"],
        linkopts = linkopts + ["-lgtest_main", "-lgmock", "-lgtest", "-lpthread"],
        linkstatic = 1,
        **kwargs
    )
