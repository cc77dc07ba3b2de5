#include "kernels/chain_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "device/opencl/chain/chain_source.h"
#include "kernels/chain_rule.h"
#include "kernels/kernel_sources.h"
#include "kernels/text/file_scope_names.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using namespace kernels;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(FileScopeNames, AreThoseWithABody) {
  const auto names = FileScopeNames(
      "#define F(x) g(x)\n"
      "static inline int one(int a) { if (a) { return two(a); } return 0; }\n"
      "/* three() {} */ __constant int kTable[] = {1, 2};\n"
      "__attribute__((noinline)) float4 four(const __global float* x,\n"
      "                                      int (n)) { return F(x[n]); }\n");
  ASSERT_OK(names);
  EXPECT_THAT(*names, ElementsAre("one", "four"));
}

TEST(FileScopeNames, AreThoseOfTypes) {
  const auto names = FileScopeNames(
      "#if A\ntypedef int sum;\n#else\ntypedef float sum;\n#endif\n"
      "typedef struct { int a; float b[2]; } pair;\n"
      "typedef struct __attribute__((packed)) { char c; }\n"
      "    __attribute__((aligned(1))) packed_char;\n"
      "typedef uchar bytes __attribute__((ext_vector_type(64)));\n"
      "inline pair of(sum x) { typedef int inner; return (pair){x, {0, 0}}; "
      "}\n");
  ASSERT_OK(names);
  EXPECT_THAT(*names, ElementsAre("sum", "pair", "packed_char", "bytes", "of"));
}

TEST(FileScopeNames, RefuseWhatOnlyThePreprocessorKnows) {
  EXPECT_ERROR(FileScopeNames("DEFINE(float)\nint f() { return 1; }"),
               "'DEFINE(...)'");
  EXPECT_ERROR(FileScopeNames("typedef int row[4];"), "a typedef with 'row ['");
  EXPECT_ERROR(FileScopeNames("typedef int (*call)(int);"),
               "a typedef with 'int ('");
  EXPECT_ERROR(FileScopeNames("typedef enum { A, B } choice;"),
               "a typedef with ' enum'");
  EXPECT_ERROR(FileScopeNames("typedef struct pair { int a; } pair_of;"),
               "a typedef with 'struct pair'");
  EXPECT_ERROR(FileScopeNames("typedef union pair { int a; } pair_of;"),
               "a typedef with 'union pair'");
  EXPECT_ERROR(FileScopeNames("typedef int number"), "without an end");
  EXPECT_ERROR(FileScopeNames("struct pair { int a; };"),
               "'struct' out of a typedef");
}

TEST(MacroNames, AreThoseOfDirectives) {
  EXPECT_THAT(MacroNames("#define A 1\n  #  define B(x) \\\n  x\nint c;\n"
                         "#ifdef D\n#define A 2\n#endif\n#defined E"),
              ElementsAre("A", "B"));
}

ir::KernelLaunch LaunchOf(const std::string& source) {
  ir::KernelLaunch launch;
  launch.source = source;
  return launch;
}

TEST(ChainText, KernelsOfNetworksCanBeChained) {
  for (const char* source :
       {"ops/convolution/conv2d_nchw16c.cl",
        "ops/convolution/conv2d_depthwise_nchw16c.cl",
        "ops/convolution/conv2d_1x1_depthwise_nchw16c.cl", "ops/gemm/gemm.cl",
        "ops/pooling/pool2d_nchw16c.cl", "ops/movement/reorder.cl"}) {
    EXPECT_OK(CheckChainText(LaunchOf(source))) << source;
  }
}

std::vector<std::string> WordsOf(std::string_view list) {
  std::vector<std::string> words;
  for (std::string_view word = TakeWord(&list); !word.empty();
       word = TakeWord(&list)) {
    words.emplace_back(word);
  }
  return words;
}

TEST(ChainText, HasHeadersOfOneMeaningOnce) {
  const auto text = ChainTextOf(LaunchOf("ops/pooling/pool2d_nchw16c.cl"));
  ASSERT_OK(text);
  EXPECT_THAT(WordsOf(text->names), Contains("pool2d_nchw16c"));
  EXPECT_THAT(WordsOf(text->names), Not(Contains("tim_reciprocal")));
  EXPECT_THAT(WordsOf(text->macros), Contains("TILE"));
  EXPECT_THAT(WordsOf(text->macros),
              Not(Contains("TIM_ONCE_KERNELS_EXACT_MATH_CLH")));
  EXPECT_THAT(text->functions, HasSubstr("tim_reciprocal"));
  EXPECT_THAT(text->functions, Not(HasSubstr("__kernel void pool2d_nchw16c(")));
  EXPECT_FALSE(text->contracts);
}

TEST(ChainText, OfTheLibraryIsWhatTheBuildHasRead) {
  for (const std::span<const KernelSource> files :
       {EmbeddedSources(), EmbeddedHeaders()}) {
    for (const KernelSource& file : files) {
      const TextFacts read = FactsOf(file.text);
      EXPECT_EQ(file.facts.names, read.names) << file.name;
      EXPECT_EQ(file.facts.macros, read.macros) << file.name;
      EXPECT_EQ(file.facts.refusal, read.refusal) << file.name;
      EXPECT_EQ(file.facts.contracts, read.contracts) << file.name;
      ASSERT_EQ(file.facts.kernels.size(), read.kernels.size()) << file.name;
      for (const KernelPlace& kernel : file.facts.kernels) {
        const std::string_view text = file.text;
        EXPECT_TRUE(text.substr(kernel.begin).starts_with("__kernel void "));
        EXPECT_EQ(text[kernel.parameters - 1], '(') << file.name;
      }
    }
  }
}

// A chain defines names of functions before the text, so that compilers warn of
// a macro with such a name, on the client's stderr.
TEST(ChainText, HasNoFunctionThatIsAMacroElsewhere) {
  for (const std::span<const KernelSource> files :
       {EmbeddedSources(), EmbeddedHeaders()}) {
    for (const KernelSource& file : files) {
      if (!file.facts.refusal.empty()) continue;
      const std::vector<std::string> macros = WordsOf(file.facts.macros);
      for (const std::string& name : WordsOf(file.facts.names)) {
        EXPECT_THAT(macros, Not(Contains(name))) << file.name;
      }
    }
  }
}

// What comes at run time: an expression's.
ir::KernelLaunch TextLaunch(const std::string& text) {
  ir::KernelLaunch launch;
  launch.source = "somebody's";
  launch.text = StrCat(kernels::kOwnTextLine, text);
  launch.function = "f";
  launch.range.local[0] = 1;
  return launch;
}

TEST(ChainText, IsMadeOfOtherTextsToo) {
  const auto text = ChainTextOf(
      TextLaunch("#define TWICE(x) ((x) + (x))\ntypedef float real;\n"
                 "static real half_of(real x) { return x / 2; }\n"
                 "kernel void f(__global real* x, int x_offset) {\n"
                 "  const int kernel_w = get_global_id(0);\n"
                 "  x[kernel_w] = TWICE(half_of(x[kernel_w]));\n}\n"));
  ASSERT_OK(text);
  EXPECT_THAT(WordsOf(text->names), ElementsAre("real", "half_of", "f"));
  EXPECT_THAT(WordsOf(text->macros), ElementsAre("TWICE"));
  EXPECT_THAT(text->functions,
              HasSubstr("static __attribute__((unused)) void f(size_t tim_x, "
                        "size_t tim_y, size_t tim_z, __global real* x,"));
  EXPECT_TRUE(text->contracts);
}

TEST(ChainText, OfWhatAProgramHasOnceIsRefused) {
  const auto refusal = [](const std::string& text) {
    return CheckChainable(TextLaunch(text));
  };
  constexpr char kKernel[] = "__kernel void f(__global int* x, int o) {}\n";
  EXPECT_OK(refusal(kKernel));
  ir::KernelLaunch of_others = TextLaunch(kKernel);
  of_others.text = kKernel;
  EXPECT_ERROR(CheckChainable(of_others), "a text of others in a chain");
  EXPECT_ERROR(refusal(StrCat("__constant int t[] = {1};\n", kKernel)),
               "'__constant' in a chain");
  EXPECT_ERROR(refusal(StrCat("#include <a.h>\n", kKernel)),
               "'#include' in a chain");
  EXPECT_ERROR(
      refusal(StrCat("int g() { return get_global_id(0); }\n", kKernel)),
      "'get_global_id' out of a kernel");
  EXPECT_ERROR(refusal("__kernel void f() {}"), "without parameters");
  EXPECT_ERROR(refusal("__kernel void f(void) {}"), "without parameters");
  EXPECT_ERROR(refusal("__kernel __attribute__((reqd_work_group_size(1, 1, 1)))"
                       " void f(__global int* x) {}"),
               "a kernel with attributes");
  EXPECT_ERROR(
      refusal("__kernel void f(__global int* x) { x[0] = get_work_dim(); }"),
      "'get_work_dim' in a chain");
  ir::KernelLaunch open = TextLaunch(kKernel);
  open.range.local[0] = 0;
  EXPECT_ERROR(CheckChainable(open), "work-groups of the driver's choice");
  ir::KernelLaunch large = TextLaunch(kKernel);
  large.range.global[0] = 4096;
  EXPECT_OK(CheckChainable(large));
  large.range.global[0] = 4097;
  EXPECT_ERROR(CheckChainable(large), "more than 4096 work-groups in a chain");
}

// Those that a chain refuses are launched one by one, and so is what stands
// between them: nothing tells but the time.
TEST(ChainText, IsOfAllKernelsForCpus) {
  const std::set<std::string> refused = {
      "kernels/chain.cl",
      "kernels/custom_images.cl",  // of users' images, which no chain has
  };
  std::set<std::string> found;
  for (const kernels::KernelSource& source : kernels::EmbeddedSources()) {
    const std::string name = source.name;
    const bool for_gpus = name.find("_simt") != std::string::npos;
    if (for_gpus || source.facts.refusal.empty()) continue;
    EXPECT_TRUE(refused.contains(name)) << name << ": " << source.facts.refusal;
    found.insert(name);
  }
  EXPECT_EQ(found, refused);
}

TEST(RunsChains, OnCpusWhoseProcessorsOrderStores) {
  ir::DeviceInfo info;
  info.kind = "opencl";
  info.device_class = ir::DeviceClass::kCpu;
  info.orders_stores = true;
  EXPECT_TRUE(RunsChains(info));
  info.device_class = ir::DeviceClass::kGpu;
  EXPECT_FALSE(RunsChains(info));
}

TEST(RunsChains, NowhereElse) {
  // As PoCL describes a CPU of Arm.
  ir::DeviceInfo info;
  info.kind = "opencl";
  info.name = "pthread-cortex-a72";
  info.vendor = "ARM";
  info.device_class = ir::DeviceClass::kCpu;
  info.unified_memory = true;
  info.compute_units = 4;
  EXPECT_FALSE(RunsChains(info));
}

ir::KernelLaunch Launch() {
  ir::KernelLaunch launch;
  launch.source = "ops/gemm/gemm.cl";
  launch.function = "gemm";
  launch.options = "-DROWS=4 -DBIAS";
  return launch;
}

TEST(CheckChainable, RefusesWhatAChainCannotRun) {
  EXPECT_OK(CheckChainable(Launch()));
  ir::KernelLaunch launch = Launch();
  launch.range.dimensions = 3;
  launch.range.global = {1 << 20, 1 << 6, 1};
  launch.range.local = {4, 1, 1};
  EXPECT_OK(CheckChainable(launch));
  launch.range.global[2] = 2;
  EXPECT_ERROR(CheckChainable(launch), "more than 16777216 work-groups");
  launch.range.global = {int64_t{1} << 40, int64_t{1} << 40, 1};
  EXPECT_ERROR(CheckChainable(launch), "more than 16777216 work-groups");
  launch = Launch();
  launch.arguments = {ir::LocalArg{64}};
  EXPECT_ERROR(CheckChainable(launch), "local memory");
  launch = Launch();
  launch.options = "-DROWS=4 -cl-fast-relaxed-math";
  EXPECT_ERROR(CheckChainable(launch), "the option -cl-fast-relaxed-math");
  launch = Launch();
  launch.source = "";
  EXPECT_ERROR(CheckChainable(launch), "no embedded kernel");
  launch.source = "kernels/chain.cl";
  EXPECT_ERROR(CheckChainable(launch), "'get_group_id' in a chain");
  launch.source = "ops/elementwise/elementwise.cl";
  launch.options = "-DPLAIN -DTIM_WRAP";
  EXPECT_ERROR(CheckChainable(launch), "the policy TIM_WRAP in a chain");
  launch.options = "-DTIM_TO_ZERO";
  EXPECT_ERROR(CheckChainable(launch), "the policy TIM_TO_ZERO in a chain");
}

TEST(CheckChainable, TakesWhatSharesHeaders) {
  for (const char* source :
       {"ops/elements/unary.cl", "ops/elementwise/data_convert.cl",
        "ops/elementwise/elementwise.cl", "ops/movement/pad.cl",
        "ops/pooling/pool2d.cl", "ops/movement/reorder.cl",
        "ops/normalization/softmax.cl", "ops/movement/transpose.cl",
        "ops/elements/unary_table.cl"}) {
    ir::KernelLaunch launch = Launch();
    launch.source = source;
    launch.options = "-DIN0=U8 -DOUT=F32";
    EXPECT_OK(CheckChainable(launch));
  }
}

TEST(ChainSource, LaunchesOfTheSameFunctionShareIt) {
  ir::KernelLaunch other = Launch();
  other.options = "-DROWS=8";
  ir::KernelLaunch larger = Launch();
  larger.range.global = {9, 9, 9};
  const ir::KernelLaunch one = Launch();
  const ir::KernelLaunch* const launches[] = {&one, &other, &larger};
  const auto chain = ChainSourceOf(launches, 4);
  ASSERT_OK(chain);
  EXPECT_EQ(chain->functions[0], chain->functions[2]);
  EXPECT_NE(chain->functions[0], chain->functions[1]);
  // The order of launches is not part of the program.
  const ir::KernelLaunch* const turned[] = {&other, &one};
  const auto same = ChainSourceOf(turned, 4);
  ASSERT_OK(same);
  EXPECT_EQ(same->text, chain->text);
}

TEST(ChainSource, StructsAreMadeOfTheirWords) {
  ir::KernelLaunch launch = TextLaunch(
      "typedef struct { int w; float scale; } sizes;\n"
      "__kernel void f(__global int* x, int o, sizes s, int n) {}\n");
  launch.arguments = {
      ir::TensorArg{},
      ir::StructArg{.type = "sizes", .fields = {{"w", 3}, {"scale", 0.5f}}},
      int32_t{5}};
  ir::KernelLaunch other = launch;
  std::get<ir::StructArg>(other.arguments[1]).fields.pop_back();
  const ir::KernelLaunch* const launches[] = {&launch, &other};
  const auto chain = ChainSourceOf(launches, 1);
  ASSERT_OK(chain);
  const int words = kChainArguments;
  EXPECT_EQ(chain->row, words + 5);
  // A name of the text, which has one for each copy.
  for (const int index : {0, 1}) {
    EXPECT_THAT(chain->text,
                HasSubstr(StrCat("  sizes_", index, " tim_2 = {")));
  }
  EXPECT_THAT(chain->text,
              HasSubstr(StrCat(" tim_2 = {row[", words + 2, "], as_float(row[",
                               words + 3, "])};\n  int tim_3 = row[", words + 4,
                               "];\n")));
  // A plan of strangers may give a kernel what it does not take.
  EXPECT_NE(chain->functions[0], chain->functions[1]);
}

}  // namespace
}  // namespace tim::device
