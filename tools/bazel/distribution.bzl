"""External repositories: the distribution's packages where they are installed,
pinned releases elsewhere.

Debian's bazel-bootstrap is built without the files that Bazel otherwise
downloads; its rule packages lie under /usr/share/bazel. Where that folder is
missing, Bazel is an upstream release, which brings or fetches its own Java and
protobuf rules: only what TIM-CL loads itself is pinned here.

Optional libraries are looked for, too: what needs one is built where it is.
"""

_FOLDER = "/usr/share/bazel"

_DISTRIBUTION = """
load("@{tim_cl}//tools/bazel:distribution.bzl", "distribution_rules", "empty_coverage_tools")

def tim_cl_repositories():
    distribution_rules(
        name = "rules_cc",
        path = "{folder}/rules/cc",
        # These two ask for a toolchain function that Bazel 4 does not have.
        old_cpp_toolchain = [
            "cc/private/rules_impl/cc_flags_supplier.bzl",
            "cc/private/rules_impl/compiler_flag.bzl",
        ],
    )
    distribution_rules(name = "rules_java", path = "{folder}/rules/java")
    distribution_rules(name = "rules_proto", path = "{folder}/rules/proto")
    distribution_rules(name = "bazel_skylib", path = "{folder}/tools/skylib")
    distribution_rules(name = "platforms", path = "{folder}/platforms")
    empty_coverage_tools(name = "remote_coverage_tools")
"""

_RELEASES = """
load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")
load("@bazel_tools//tools/build_defs/repo:utils.bzl", "maybe")

def tim_cl_repositories():
    maybe(
        http_archive,
        name = "rules_cc",
        sha256 = "af6cc82d87db94585bceeda2561cb8a9d55ad435318ccb4ddfee18a43580fb5d",
        strip_prefix = "rules_cc-0.0.4",
        urls = ["https://github.com/bazelbuild/rules_cc/releases/download/0.0.4/rules_cc-0.0.4.tar.gz"],
    )
    maybe(
        http_archive,
        name = "bazel_skylib",
        sha256 = "74d544d96f4a5bb630d465ca8bbcfe231e3594e5aae57e1edbf17a6eb3ca2506",
        urls = ["https://github.com/bazelbuild/bazel-skylib/releases/download/1.3.0/bazel-skylib-1.3.0.tar.gz"],
    )
    maybe(
        http_archive,
        name = "platforms",
        sha256 = "5308fc1d8865406a49427ba24a9ab53087f17f5266a7aabbfc28823f3916e1ca",
        urls = ["https://github.com/bazelbuild/platforms/releases/download/0.0.6/platforms-0.0.6.tar.gz"],
    )
"""

# oneDNN's own header that says its version, of which samples/plugins/onednn
# takes the second one.
_ONEDNN_VERSION = "/usr/include/oneapi/dnnl/dnnl_version.h"

def _has_onednn(ctx):
    header = ctx.path(_ONEDNN_VERSION)
    return header.exists and "#define DNNL_VERSION_MAJOR 2" in ctx.read(header)

def _detect_distribution_impl(ctx):
    ctx.file("BUILD", "")
    has_lld = ctx.which("ld.lld") != None
    ctx.file("libraries.bzl", "ONEDNN = %s\nLLD = %s\n" % (_has_onednn(ctx), has_lld))
    installed = ctx.path(_FOLDER + "/rules/cc").exists
    if installed:
        # A client may have given this repository another name.
        tim_cl = Label("//tools/bazel:distribution.bzl").workspace_name or "tim_cl"
        ctx.file("repositories.bzl", _DISTRIBUTION.format(folder = _FOLDER, tim_cl = tim_cl))
    else:
        ctx.file("repositories.bzl", _RELEASES)

detect_distribution = repository_rule(
    implementation = _detect_distribution_impl,
    doc = "Writes repositories.bzl, whose tim_cl_repositories() fits this machine, and libraries.bzl, which says what optional libraries and tools it has.",
    local = True,
)

def _distribution_rules_impl(ctx):
    folder = ctx.path(ctx.attr.path)
    if not folder.exists:
        fail("%s does not exist: run tools/install_deps.sh" % ctx.attr.path)
    for entry in folder.readdir():
        copied = ctx.execute(["cp", "-rL", str(entry), "."])
        if copied.return_code != 0:
            fail(copied.stderr)
    for file in ctx.attr.old_cpp_toolchain:
        text = ctx.read(file)
        text = text.replace(', "use_cpp_toolchain"', "")
        text = text.replace("use_cpp_toolchain()", '["@bazel_tools//tools/cpp:toolchain_type"]')
        ctx.file(file, text)

distribution_rules = repository_rule(
    implementation = _distribution_rules_impl,
    doc = "A copy of a rule folder that a package of the distribution installed.",
    local = True,
    attrs = {
        "path": attr.string(mandatory = True),
        "old_cpp_toolchain": attr.string_list(),
    },
)

def _empty_coverage_tools_impl(ctx):
    ctx.file("BUILD", "\n".join([
        'filegroup(name = "%s", visibility = ["//visibility:public"])' % name
        for name in ["coverage_output_generator", "coverage_report_generator"]
    ]))

empty_coverage_tools = repository_rule(
    implementation = _empty_coverage_tools_impl,
    doc = "Stands for the Java coverage tools, which every test refers to.",
    local = True,
)
