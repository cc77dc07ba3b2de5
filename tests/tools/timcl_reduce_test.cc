// `timcl compare --reduce`: graphs with states and with custom operations.
#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

#include "tests/support/vx/test_op.h"
#include "tests/tools/compared_files.h"

namespace tim::tool {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using TensorPtr = std::shared_ptr<vx::Tensor>;

TensorPtr Constant(vx::Graph& graph, const std::vector<float>& values) {
  return graph.CreateTensor(
      testing::Floats({static_cast<uint32_t>(values.size())}, vx::CONSTANT),
      values.data());
}

TensorPtr Value(vx::Graph& graph, vx::TensorAttribute attribute) {
  return graph.CreateTensor(testing::Floats({2}, attribute));
}

TensorPtr State(vx::Graph& graph, const std::vector<float>& values) {
  vx::TensorSpec spec = testing::Floats({2}, vx::VARIABLE);
  spec.SetName("memory");
  return graph.CreateTensor(spec, values.data());
}

// The call that compares both files and cuts out what differs.
std::string Reducing(const std::string& wrong, const std::string& right,
                     const std::string& device, const std::string& folder) {
  return "compare '" + wrong + "' '" + right + "' --device " + device +
         " --reduce '" + folder + "/part'";
}

std::vector<float> FloatsIn(const nlohmann::json& file) {
  const std::string text = ReadText(file);
  const auto array = ParseNpy(text);
  if (!array.ok()) {
    ADD_FAILURE() << array.status().message();
    return {};
  }
  std::vector<float> values(array->data.size() / sizeof(float));
  std::memcpy(values.data(), array->data.data(), array->data.size());
  return values;
}

// y = factor * state, as it was before the run, and state += addend.
std::string WriteState(const std::string& path, float factor, float addend,
                       const std::vector<float>& start = {3, 5}) {
  const auto graph = testing::HostGraph();
  const auto x = Value(*graph, vx::INPUT);
  const auto state = State(*graph, start);
  const auto product = Value(*graph, vx::TRANSIENT);
  const auto y = Value(*graph, vx::OUTPUT);
  (*graph->CreateOperation<vx::ops::Multiply>())
      .BindInputs({state, Constant(*graph, {factor, factor})})
      .BindOutput(product);
  (*graph->CreateOperation<vx::ops::Add>())
      .BindInputs({product, x})
      .BindOutput(y);
  (*graph->CreateOperation<vx::ops::Sub>())
      .BindInputs({state, Constant(*graph, {-addend, -addend})})
      .BindOutput(state);
  return WriteGraph(*graph, path);
}

TEST(TimclReduce, MakesTheStateThatALayerReadsAnInput) {
  const std::string folder = FreshFolder("reduced");
  const std::string right = WriteState(folder + "/right.bin", 1, 7);
  const std::string wrong = WriteState(folder + "/wrong.bin", 2, 7);
  const auto json = Differing(Reducing(wrong, right, "host", folder));
  const auto& reduced = json["reduced"];
  ASSERT_EQ(reduced["nodes"].size(), 1u) << json;
  EXPECT_THAT(reduced["nodes"][0], StartsWith("Multiply"));
  ASSERT_EQ(reduced["inputs"].size(), 1u) << json;
  EXPECT_THAT(FloatsIn(reduced["inputs"][0]), ElementsAre(3, 5));
  EXPECT_EQ(Repeated(json)["first_different"], json["first_different"]);
}

TEST(TimclReduce, CutsOutTheLayerThatWritesAState) {
  const std::string folder = FreshFolder("reduced");
  const std::string right = WriteState(folder + "/right.bin", 1, 7);
  const std::string wrong = WriteState(folder + "/wrong.bin", 1, 8);
  const auto json = Differing(Reducing(wrong, right, "host", folder));
  const auto& reduced = json["reduced"];
  ASSERT_EQ(reduced["nodes"].size(), 1u) << json;
  EXPECT_THAT(reduced["nodes"][0], StartsWith("Sub"));
  ASSERT_EQ(reduced["inputs"].size(), 1u) << json;
  EXPECT_THAT(FloatsIn(reduced["inputs"][0]), ElementsAre(3, 5));
  EXPECT_EQ(Repeated(json)["first_different"], json["first_different"]);
}

// No layer is at fault there.
TEST(TimclReduce, RefusesStatesThatBeginWithOtherValues) {
  const std::string folder = FreshFolder("reduced");
  const std::string right = WriteState(folder + "/right.bin", 1, 7);
  const std::string wrong = WriteState(folder + "/wrong.bin", 1, 7, {3, 6});
  const CommandResult result = Timcl(Reducing(wrong, right, "host", folder));
  EXPECT_EQ(result.exit_status, 4) << result.output;
  EXPECT_THAT(result.output, HasSubstr("'memory' has other values in the "
                                       "second graph before the run"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/part"));
}

testing::OpPlan Scaling(float factor) {
  testing::OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                float factor) {\n"
      "  y[get_global_id(0)] = factor * x[get_global_id(0)];\n"
      "}\n";
  plan.scalars = testing::Scalars(factor);
  return plan;
}

// y = -mask * f(|x|), with a custom operation f.
std::string WriteCustom(const std::string& path, const testing::OpPlan& plan,
                        const std::vector<float>& mask) {
  const auto graph = testing::OpenClGraph();
  const auto x = Value(*graph, vx::INPUT);
  const auto absolute = Value(*graph, vx::TRANSIENT);
  const auto scaled = Value(*graph, vx::TRANSIENT);
  const auto masked = Value(*graph, vx::TRANSIENT);
  const auto y = Value(*graph, vx::OUTPUT);
  (*graph->CreateOperation<vx::ops::Abs>()).BindInput(x).BindOutput(absolute);
  (*graph->CreateOperation<testing::TestOp>(plan))
      .BindInput(absolute)
      .BindOutput(scaled);
  (*graph->CreateOperation<vx::ops::Multiply>())
      .BindInputs({scaled, Constant(*graph, mask)})
      .BindOutput(masked);
  (*graph->CreateOperation<vx::ops::Neg>()).BindInput(masked).BindOutput(y);
  return WriteGraph(*graph, path);
}

TEST(TimclReduce, CutsOutACustomOperation) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const std::string folder = FreshFolder("reduced");
  const std::string right =
      WriteCustom(folder + "/right.bin", Scaling(2), {1, 1});
  const std::string wrong =
      WriteCustom(folder + "/wrong.bin", Scaling(3), {1, 1});
  const auto json = Differing(Reducing(wrong, right, "opencl", folder));
  const auto& reduced = json["reduced"];
  ASSERT_EQ(reduced["nodes"].size(), 1u) << json;
  EXPECT_THAT(reduced["nodes"][0], HasSubstr("TestOp"));
  ASSERT_EQ(reduced["inputs"].size(), 1u) << json;
  for (const float value : FloatsIn(reduced["inputs"][0])) EXPECT_GE(value, 0);
  EXPECT_EQ(Repeated(json)["first_different"], json["first_different"]);
}

// y[i] = x[i] + addend.
testing::OpPlan Adding(float addend) {
  testing::OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y,\n"
      "                float addend) {\n"
      "  y[get_global_id(0)] = x[get_global_id(0)] + addend;\n"
      "}\n";
  plan.scalars = testing::Scalars(addend);
  return plan;
}

// The sum is small beside element 0, until that is taken away.
TEST(TimclReduce, GrowsByACustomOperation) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const std::string folder = FreshFolder("reduced");
  WriteText(folder + "/x.raw", Bytes({10000, 1}));
  const std::string right =
      WriteCustom(folder + "/right.bin", Adding(0), {0, 1});
  const std::string wrong =
      WriteCustom(folder + "/wrong.bin", Adding(1), {0, 1});
  const auto json = Differing(Reducing(wrong, right, "opencl", folder) +
                              " --input '" + folder + "/x.raw'");
  // One kernel makes both.
  EXPECT_THAT(json["first_different"]["first_step"],
              AllOf(StartsWith("Multiply"), HasSubstr("+Neg")))
      << json;
  const auto& nodes = json["reduced"]["nodes"];
  ASSERT_EQ(nodes.size(), 3u) << json;
  EXPECT_THAT(nodes[0], HasSubstr("TestOp"));
  EXPECT_THAT(nodes[1], StartsWith("Multiply"));
  EXPECT_THAT(nodes[2], StartsWith("Neg"));
  EXPECT_EQ(Repeated(json)["layers"].size(), 2u);
}

// The kernel writes half of its state, and the part has the other half, too.
TEST(TimclReduce, CutsOutACustomOperationThatKeepsPartOfAState) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const std::string folder = FreshFolder("reduced");
  const auto write = [&](const char* name, float factor) {
    testing::OpPlan plan = Scaling(factor);
    plan.enqueue = testing::Sizes(1, {1}, {0});
    const auto graph = testing::OpenClGraph();
    const auto x = Value(*graph, vx::INPUT);
    const auto state = State(*graph, {3, 5});
    const auto y = Value(*graph, vx::OUTPUT);
    (*graph->CreateOperation<testing::TestOp>(plan))
        .BindInput(x)
        .BindOutput(state);
    (*graph->CreateOperation<vx::ops::Neg>()).BindInput(x).BindOutput(y);
    return WriteGraph(*graph, folder + name);
  };
  const std::string right = write("/right.bin", 100);
  const std::string wrong = write("/wrong.bin", 300);
  const auto json = Differing(Reducing(wrong, right, "opencl", folder));
  const auto& reduced = json["reduced"];
  ASSERT_EQ(reduced["nodes"].size(), 1u) << json;
  EXPECT_THAT(reduced["nodes"][0], HasSubstr("TestOp"));
  ASSERT_EQ(reduced["inputs"].size(), 2u) << json;
  EXPECT_THAT(FloatsIn(reduced["inputs"][1]), ElementsAre(3, 5));
  EXPECT_EQ(Repeated(json)["first_different"], json["first_different"]);
}

}  // namespace
}  // namespace tim::tool
