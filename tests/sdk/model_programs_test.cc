// A program that SourceRecorder writes, built against the SDK outside of the
// tree: it computes what the recorded graph does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "models/build/graph_builder.h"
#include "models/build/source_recorder.h"
#include "tests/sdk/unpacked_sdk.h"
#include "tests/structure/source_tree.h"
#include "tim/vx/context.h"
#include "tim/vx/ops.h"

namespace tim::structure {
namespace {

using models::GraphBuilder;
using models::SourceRecorder;
using models::Value;
using models::Wanted;
using testing::HasSubstr;

// Scalars, INT64, quantization, absent operands and shared weights.
void Record(const std::string& path) {
  SourceRecorder recorder;
  const auto context = vx::Context::Create();
  GraphBuilder builder(context->CreateGraph(), &recorder);
  recorder.UseLayoutInference();
  const Value image =
      *builder.AddInput("image", vx::DataType::FLOAT32, {1, 1, 3, 3});
  const Value counts = *builder.AddInput("counts", vx::DataType::INT64, {2});
  const Value kernel = builder.ConstantOf<float>({1, 2, 3, 4}, {1, 1, 2, 2});
  const Value features = *builder.Add<vx::ops::Conv2d>(
      {image, kernel, Value()}, Wanted::Any(), vx::PadType::VALID,
      std::array<uint32_t, 2>{1, 1}, std::array<uint32_t, 2>{1, 1});
  const Value sum = *builder.Add<vx::ops::ReduceSum>(
      {features}, Wanted::Any(), std::vector<int32_t>{0, 1, 2, 3}, false);
  const Value more = *builder.Add<vx::ops::Add>(
      {counts, builder.ConstantOf<int64_t>({5, 6}, {2})}, Wanted::Like(counts));
  const Value codes = *builder.Add<vx::ops::DataConvert>(
      {features},
      Wanted::Of(vx::DataType::UINT8, features.dims,
                 vx::Quantization(vx::QuantType::ASYMMETRIC, 0.5f, 1)));
  ASSERT_TRUE(builder.AddOutput("sum", sum).ok());
  ASSERT_TRUE(builder.AddOutput("more", more).ok());
  ASSERT_TRUE(builder.AddOutput("codes", codes).ok());
  const Status written = recorder.Write(path);
  ASSERT_TRUE(written.ok()) << written.message();
}

template <typename T>
void WriteElements(const std::string& path, const std::string& before,
                   const std::vector<T>& elements) {
  std::ofstream file(path, std::ios::binary);
  file << before;
  file.write(reinterpret_cast<const char*>(elements.data()),
             static_cast<std::streamsize>(elements.size() * sizeof(T)));
}

TEST(ModelPrograms, ComputeWhatTheGraphDoes) {
  const std::string folder = FreshFolder("program");
  const std::string program = folder + "/model";
  ASSERT_NO_FATAL_FAILURE(Record(program + ".cc"));
  const CommandResult compiled = RunCommand(
      "export PKG_CONFIG_PATH='" + UnpackedSdk() +
      "/lib/pkgconfig' && g++ -std=c++14 -Wall -Wextra -Werror '" + program +
      ".cc' -o '" + program + "' $(pkg-config --cflags --libs tim-cl)");
  ASSERT_EQ(compiled.exit_status, 0) << compiled.output;
  // An .npy file of version 1.0, whose header's length is a byte here.
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 3, 3), }";
  header.resize(117, ' ');
  header += '\n';
  WriteElements<float>(folder + "/image.npy",
                       std::string("\x93NUMPY\x01\x00", 8) +
                           static_cast<char>(header.size()) + '\0' + header,
                       {1, 0, 0, 0, 0, 0, 0, 0, 1});
  WriteElements<int64_t>(folder + "/counts.bin", "", {10, -20});
  const std::string run =
      "LD_LIBRARY_PATH='" + UnpackedSdk() + "/lib' '" + program + "' ";
  const CommandResult filled =
      RunCommand(run + "'image=" + folder + "/image.npy' 'counts=" + folder +
                 "/counts.bin'");
  EXPECT_EQ(filled.exit_status, 0) << filled.output;
  // The first cell meets 1, the last one 4.
  EXPECT_THAT(filled.output, HasSubstr("sum [1]: 5\n"));
  EXPECT_THAT(filled.output, HasSubstr("more [2]: 15 -14\n"));
  EXPECT_THAT(filled.output, HasSubstr("codes [1,1,2,2]: 1 0 0 4\n"));
  const CommandResult zeros = RunCommand(run);
  EXPECT_THAT(zeros.output, HasSubstr("more [2]: 5 6\n"));
  EXPECT_NE(RunCommand(run + "nobody=/dev/null").exit_status, 0);
  EXPECT_NE(RunCommand(run + "image=/dev/null").exit_status, 0);
  EXPECT_NE(RunCommand(run + "--weights /dev/null").exit_status, 0);
}

}  // namespace
}  // namespace tim::structure
