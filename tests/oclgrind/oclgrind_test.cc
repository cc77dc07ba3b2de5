// Kernels of custom and composed operators, and those for GPUs, whose items
// share memory, in Oclgrind, which reports accesses out of bounds and data
// races.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/structure/source_tree.h"
#include "tests/support/long_tests.h"

namespace tim::structure {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Case {
  const char* program;
  const char* filter;  // what the simulator runs in seconds
};

constexpr Case kCases[] = {
    {"tests/custom_ops/detection_postprocess_test",
     "DetectionPostProcess.*AsPublished"},
    {"tests/custom_ops/feed_forward_test", "FeedForward.ConsistsOfBuiltIns"},
    {"tests/custom_ops/gemm_test", "Gemm.HandChecked:GemmErrors.*"},
    {"tests/custom_ops/hswish_test",
     "HSwish.HandChecked:HSwish.TwoInstancesInARow:HSwishErrors.*"},
    {"tests/custom_ops/non_max_suppression_test",
     "NonMaxSuppression.SelectsInSeveralChunks"},
    {"tests/custom_ops/softmax_cl_test", "SoftmaxCl.HandChecked"},
    {"tests/custom_ops/template_test", "*"},
    {"tests/custom_ops/yolo_decode_test", "YoloDecode.HandChecked"},
    {"tests/vx/user/custom_op_work_size_test", "CustomOpWorkSize.*"},
    {"tests/vx/recurrent/rnn_cell_test", "*TakesAndGivesQuantizedStates/1"},
    {"tests/vx/tim_vx_program_test", "*"},
};

constexpr Case kGpuCases[] = {
    {"tests/ops/convolution/conv2d_simt_test",
     "Conv2dSimt.DeclaredExtents:Conv2dDepthwiseSimt.HeightsAndWidths"},
    {"tests/ops/convolution_i8/conv2d_depthwise_simt_i8_test",
     "Conv2dDepthwiseSimtI8.FusedActivations"},
    {"tests/ops/convolution_i8/conv2d_simt_i8_test",
     "Conv2dSimtI8.DeclaredExtents"},
    {"tests/ops/gemm/fullyconnected_dot_simt_test", "*FusedOperators"},
    {"tests/ops/gemm/gemm_i8_test", "Kernels/GemmI8.Matmul/i8_simt"},
    {"tests/ops/gemm/gemm_simt_test", "Kernels/GpuGemm.Batches/simt"},
    {"tests/ops/normalization/softmax_simt_test",
     "SoftmaxSimt.InfinitiesAndNaNFollowEval"},
};

// What the simulator reports of a program, whose tests must pass.
std::string ReportOf(const std::string& program, const std::string& filter) {
  const std::string report = FreshFolder("oclgrind") + "/report.txt";
  // One core, as the simulator's compiler is not thread-safe; no other runtime
  // and no settings of the test around it.  The simulator's library is loaded
  // before that of a sanitizer, and it leaks.
  const CommandResult result = RunCommand(
      "core=$(sed -nE 's/^Cpus_allowed_list:\\s*([0-9]+).*/\\1/p' "
      "/proc/self/status); "
      "env -i PATH=\"$PATH\" "
      "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 TIMCL_CACHE_DIR='" +
      FreshFolder("programs") + "' " +
      (testing::RunsLongTests() ? "TIMCL_TEST_LONG=1 " : "") +
      "taskset -c \"$core\" oclgrind --data-races " + "--log '" + report +
      "' " + program + " --gtest_filter='" + filter + "'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("[  PASSED  ]"));
  return ReadText(report);
}

TEST(Oclgrind, ReportsNothingOfCustomAndComposedOperators) {
  for (const Case& test : kCases) {
    SCOPED_TRACE(test.program);
    EXPECT_THAT(ReportOf(test.program, test.filter), IsEmpty());
  }
}

TEST(Oclgrind, ReportsNothingOfKernelsForGpus) {
  for (const Case& test : kGpuCases) {
    SCOPED_TRACE(test.program);
    EXPECT_THAT(ReportOf(test.program, test.filter), IsEmpty());
  }
}

// The checks above can fail.
TEST(Oclgrind, ReportsAPlantedOverrun) {
  const std::string folder = FreshFolder("planted");
  WriteText(folder + "/overrun.cl",
            "__kernel void overrun(__global int* x) {\n"
            "  x[get_global_id(0) + 1] = 1;\n"
            "}\n");
  WriteText(folder + "/overrun.sim",
            "overrun.cl\noverrun\n4 1 1\n1 1 1\n<size=16 fill=0>\n");
  const CommandResult result =
      RunCommand("cd '" + folder + "' && oclgrind-kernel overrun.sim");
  EXPECT_THAT(result.output, HasSubstr("Invalid write of size 4"));
}

}  // namespace
}  // namespace tim::structure
