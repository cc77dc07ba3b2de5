#include "device/opencl/user/local_probe.h"

#include <gtest/gtest.h>

#include <string>

#include "device/opencl/program/program_set.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

class LocalProbe : public testing::OpenClTest {
 protected:
  // Of the kernel "f" in `text`.
  Result<int64_t> Count(const std::string& text,
                        const std::string& options = "") {
    ir::UserLaunch launch;
    launch.text = text;
    launch.function = "f";
    launch.options = options + " -Werror";
    launch.text = LocalProbeText(launch);
    if (launch.text.empty()) return 0;
    testing::EmptyStore store;
    ProgramSet set(context_, id_);
    TIM_ASSIGN_OR_RETURN(const cl::Program program,
                         set.Get(SourceOf(launch, "test"), store));
    return ProbedLocalBytes(program, id_);
  }

  void ExpectBytes(int64_t bytes, const std::string& body,
                   const std::string& head = "",
                   const std::string& options = "") {
    const auto count = Count(
        head + "__kernel void f(__global int* p) {\n" + body + "}\n", options);
    ASSERT_OK(count) << body;
    EXPECT_EQ(*count, bytes) << head << body;
  }
};

TEST_F(LocalProbe, DeclarationsAreAddedUp) {
  ExpectBytes(4, "  __local int a;\n");
  ExpectBytes(2048, "  local int a[512];\n  p[0] = 1;\n");
  ExpectBytes(4 * 6 * 5 + 64,
              "  __local float a[6][5]; p[0] = 1;\n"
              "  int __local b[8], c[8];\n");
  ExpectBytes(4096, "  volatile __local float4 a[(2 + 2) * 64];\n");
}

TEST_F(LocalProbe, TheCompilerKnowsMacrosAndTypes) {
  const std::string head =
      "#define N 16\n"
      "typedef struct { float4 a; int b[4]; } pair;\n"
      "enum { kCount = 3 };\n"
      "#define SHARED __local\n"
      "#define ARRAY(T, name, n) SHARED T name[n]\n";
  ExpectBytes(16 * 32, "  __local pair a[N];\n", head);
  ExpectBytes(12, "  SHARED int a[kCount];\n", head);
  ExpectBytes(64, "  ARRAY(int, a, N);\n", head);
  ExpectBytes(80, "  __local int a[M];\n", head, "-DM=N+4");
  ExpectBytes(4, "  T a;\n", head, "-D T=\"__local int\"");
  ExpectBytes(8, "#define HERE 2\n  __local int a[HERE];\n#undef HERE\n");
  ExpectBytes(8, "  __local struct { int a; int b; } c;\n  c.a = 1;\n");
}

TEST_F(LocalProbe, ThePreprocessorChooses) {
  const std::string body =
      "#ifdef LARGE\n"
      "  __local int a[100];\n"
      "#else\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 1; ++i) p[i] = i;\n"
      "  __local int a[10];\n"
      "#endif\n";
  ExpectBytes(40, body);
  ExpectBytes(400, body, "", "-DLARGE");
  const auto kernels = Count(
      "#ifdef X\n"
      "__kernel void f(__global int* p) { __local int a[1]; }\n"
      "#else\n"
      "__kernel void f(__global int* p) { __local int a[2]; }\n"
      "#endif\n"
      "__kernel void g(__global int* p) { __local int a[4]; }\n");
  ASSERT_OK(kernels);
  EXPECT_EQ(*kernels, 8);
}

TEST_F(LocalProbe, SizesMayPassFourBillion) {
  ExpectBytes((int64_t{5} << 32) + 7, "  __local char a[(5L << 32) + 7];\n");
}

TEST_F(LocalProbe, PointersAndCastsDeclareNone) {
  ExpectBytes(0, "  p[0] = 1;\n");
  ExpectBytes(0, "  barrier(CLK_LOCAL_MEM_FENCE);\n  // __local int a;\n");
  ExpectBytes(0, "  { int a[4]; a[0] = 1; p[0] = a[0]; }\n");
  ExpectBytes(4,
              "  __local int a;\n  __local int* b = &a;\n"
              "  __local int* c;\n  c = (__local int*)b;\n  *c = 1;\n");
  EXPECT_EQ(*Count("void g(__local int* a) { a[0] = 1; }\n"
                   "__kernel void f(__local int* a);\n"
                   "__kernel void f(__local int* a) { g(a); }\n"
                   "__kernel void h(__global int* p) { __local int a[4]; }\n"),
            0);
}

}  // namespace
}  // namespace tim::device
