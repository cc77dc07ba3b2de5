"""The suite's test programs."""

load("@tim_cl_distribution//:libraries.bzl", "LLD")
load("//tools/bazel:tim_cl.bzl", _tim_test = "tim_test")

# Each of some 600 programs has most of the library in it: gold takes 0.7 seconds
# for one, LLVM's linker 0.3.
_LINKER = ["-fuse-ld=lld"] if LLD else []

def tim_test(name, linkopts = [], **kwargs):
    """A test program: a source of its own."""
    _tim_test(
        name = name,
        linkopts = linkopts + _LINKER,
        **kwargs
    )

def tim_tests(srcs, size = "medium", shard_counts = {}, **kwargs):
    """One test per file: ops/softmax_test.cc makes the target ops/softmax_test.

    Args:
      srcs: the files.
      size: of every test.
      shard_counts: by file, where a test is run in several processes.
      **kwargs: of every test.
    """
    for src in srcs:
        tim_test(
            name = src[:-len(".cc")],
            srcs = [src],
            size = size,
            shard_count = shard_counts.get(src, 0) or None,
            **kwargs
        )
