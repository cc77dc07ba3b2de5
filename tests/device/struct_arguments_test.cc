// Kernels take structs by value, of their types only.
#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "device/opencl/opencl_device.h"
#include "ir/step.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/kernels/test_launcher.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using testing::RunLaunch;

class StructArguments : public testing::OpenClTest {};

std::vector<std::byte> BytesOf(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST_F(StructArguments, AreReadByTheirFields) {
  ir::KernelLaunch launch;
  launch.text =
      "typedef struct { int w; float scale; int step; } sizes;\n"
      "__kernel void add(__global float* a, int a_0, sizes s, int more) {\n"
      "  for (int i = 0; i < s.w; ++i) a[a_0 + i * s.step] += s.scale + more;\n"
      "}\n";
  launch.function = "add";
  launch.arguments = {
      ir::TensorArg{},
      ir::StructArg{.type = "sizes",
                    .fields = {{"w", 2}, {"scale", 0.5f}, {"step", 3}}},
      int32_t{10}};
  launch.range.local = {1, 0, 0};
  std::vector<std::byte> values = BytesOf({1, 2, 3, 4});
  ASSERT_OK(RunLaunch(launch, {{&values, true}}));
  EXPECT_EQ(values, BytesOf({11.5f, 2, 3, 14.5f}));
}

// PoCL takes an argument that is shorter than the parameter.
TEST_F(StructArguments, OfEmbeddedKernelsAreThoseOfTheirTypes) {
  ir::KernelLaunch launch;
  launch.source = "ops/gemm/gemm.cl";
  launch.function = "gemm_rows";
  launch.arguments = {ir::TensorArg{0}, ir::TensorArg{1},
                      ir::StructArg{.type = "gemm_factor",
                                    .fields = {{"items", 1},
                                               {"item_step", 1},
                                               {"depth_step", 1},
                                               {"batches", 1},
                                               {"batch_step", 1},
                                               {"repeat", 1}}},
                      int32_t{1}, int32_t{1}};
  launch.names = {"x", "rows", "source", "depth", "row_step"};
  launch.range.local = {1, 0, 0};
  std::vector<std::byte> x = BytesOf({3});
  std::vector<std::byte> rows = BytesOf({0});
  const auto run = [&] {
    return RunLaunch(launch, {{&x, false}, {&rows, true}});
  };
  ASSERT_OK(run());
  EXPECT_EQ(rows, x);
  auto& fields = std::get<ir::StructArg>(launch.arguments[2]).fields;
  std::swap(fields[0], fields[1]);
  EXPECT_ERROR(run(), "has the fields of a struct in another order");
  fields.pop_back();
  EXPECT_ERROR(run(), "nothing is given for int source.repeat");
}

}  // namespace
}  // namespace tim::device
