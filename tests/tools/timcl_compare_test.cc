// `timcl compare`: planted wrong layers are found and named.
#include <gmock/gmock.h>

#include "bench/models/catalog.h"
#include "bench/networks/graph_of_network.h"
#include "bench/networks/values.h"
#include "tests/tools/timcl_program.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::tool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The JSON of a call that finds a difference.
nlohmann::json Differing(const std::string& arguments) {
  const CommandResult result = Timcl(arguments + " --json");
  EXPECT_EQ(result.exit_status, 1) << result.output;
  return nlohmann::json::parse(result.output, nullptr, false);
}

// Writes the network, and once more with other weights in layer `wrong`, whose
// tensor's name is returned.
std::string WritePlanted(bench::Network network, size_t wrong,
                         const std::string& folder) {
  const auto write = [&](const std::string& name) {
    const bench::NetworkGraph graph =
        bench::GraphOfNetwork(*testing::HostContext(), network);
    const std::string tensor = vx::NameOf(*graph.results[wrong]);
    WriteGraph(*graph.graph, folder + "/" + name);
    return tensor;
  };
  write("right.bin");
  network.layers[wrong].parameters[0].stream += 1000;
  return write("wrong.bin");
}

// A convolution in the middle.
size_t MiddleConvolution(const bench::Network& network) {
  size_t middle = network.layers.size() / 2;
  while (network.layers[middle].kind != bench::LayerKind::kConv2d) ++middle;
  return middle;
}

class PlantedLayer : public ::testing::TestWithParam<bench::ElementType> {};

TEST_P(PlantedLayer, IsFoundInMobilenet) {
  const auto network = bench::MakeNetwork("mobilenet_v2", 32, GetParam());
  ASSERT_TRUE(network.ok()) << network.status().message();
  const std::string folder = FreshFolder("planted");
  const std::string tensor =
      WritePlanted(*network, MiddleConvolution(*network), folder);
  const std::string command = "compare '" + folder + "/wrong.bin' '" + folder +
                              "/right.bin' --device host";
  const auto json = Differing(command);
  EXPECT_EQ(json["first_different"]["tensor"], tensor) << json;
  const bool codes = GetParam() != bench::ElementType::kFloat32;
  EXPECT_EQ(json["first_different"].contains("codes"), codes);
  EXPECT_LT(json["first_different"]["equal"], 0.9);
  bool before = true;
  size_t agree = 0;
  for (const auto& layer : json["layers"]) {
    before = before && layer["tensor"] != tensor;
    if (!before) break;
    ++agree;
    EXPECT_EQ(layer["equal"], 1) << layer;
  }
  EXPECT_GT(agree, 20u);
  EXPECT_LT(agree, json["layers"].size());
  const CommandResult text = Timcl(command);
  EXPECT_EQ(text.exit_status, 1);
  EXPECT_THAT(text.output,
              HasSubstr("the first layer that differs: " +
                        json["first_different"]["node"].get<std::string>() +
                        " ('" + tensor + "')"));
}

INSTANTIATE_TEST_SUITE_P(Types, PlantedLayer,
                         ::testing::Values(bench::ElementType::kFloat32,
                                           bench::ElementType::kUint8),
                         [](const auto& info) {
                           return std::string(bench::NameOf(info.param));
                         });

// relu(x w + b): one kernel on OpenCL devices, two steps on the host.
std::string WriteProduct(const std::string& path, float weight) {
  const auto graph = testing::HostGraph();
  const std::vector<float> weights = {weight, 0, 0, 1, 1, 0, 0, 1};
  const std::vector<float> biases = {0.5f, -0.5f};
  const auto x = graph->CreateTensor(testing::Floats({4, 3}, vx::INPUT));
  const auto w = graph->CreateTensor(testing::Floats({4, 2}, vx::CONSTANT),
                                     weights.data());
  const auto b =
      graph->CreateTensor(testing::Floats({2}, vx::CONSTANT), biases.data());
  const auto sum = graph->CreateTensor(testing::Floats({2, 3}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(testing::Floats({2, 3}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::FullyConnected>(0, 2))
      .BindInputs({x, w, b})
      .BindOutput(sum);
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(sum).BindOutput(y);
  return WriteGraph(*graph, path);
}

TEST(TimclCompare, ComparesADeviceWithTheHost) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const std::string folder = FreshFolder("compare");
  const std::string right = WriteProduct(folder + "/right.bin", 1);
  const auto json = TimclJson("compare '" + right + "' --device opencl");
  EXPECT_EQ(json["first_different"], nullptr);
  EXPECT_EQ(json["second"]["device"], TimclJson("devices").back()["name"]);
  ASSERT_EQ(json["layers"].size(), 1u) << json;
  ASSERT_EQ(json["only_second"].size(), 1u) << json;
  EXPECT_EQ(json["only_second"][0]["fused_into"],
            json["layers"][0]["first_step"]);
  const CommandResult text = Timcl("compare '" + right + "' --device opencl");
  EXPECT_EQ(text.exit_status, 0);
  EXPECT_THAT(text.output,
              AllOf(HasSubstr("fused away in the first run: FullyConnected"),
                    HasSubstr("all 1 layers agree"), Not(HasSubstr("\033"))));
}

TEST(TimclCompare, LooksIntoAFusedStepThatDiffers) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const std::string folder = FreshFolder("compare");
  const std::string right = WriteProduct(folder + "/right.bin", 1);
  const std::string wrong = WriteProduct(folder + "/wrong.bin", -4);
  const std::string command =
      "compare '" + wrong + "' '" + right + "' --device opencl";
  const auto json = Differing(command);
  EXPECT_THAT(json["first_different"]["first_step"], HasSubstr("+Relu"));
  EXPECT_THAT(json["first_different_unfused"]["node"],
              ::testing::StartsWith("FullyConnected"));
  EXPECT_THAT(Timcl(command).output,
              HasSubstr("not fused, the first is FullyConnected"));
  // A large tolerance has room for it.
  EXPECT_EQ(Timcl(command + " --tolerance 100").exit_status, 0);
}

TEST(TimclCompare, RefusesWhatCannotBeCompared) {
  const std::string folder = FreshFolder("compare");
  const std::string product = WriteProduct(folder + "/product.bin", 1);
  const std::string relu = WriteRelu(folder);
  const auto expect = [](const std::string& arguments, int status,
                         const std::string& message) {
    const CommandResult result = Timcl("compare " + arguments);
    EXPECT_EQ(result.exit_status, status) << result.output;
    EXPECT_THAT(result.output, HasSubstr(message));
  };
  const std::string file = "'" + product + "' ";
  expect(file + "--device host", 2, "both runs are the same");
  expect(file + "'" + relu + "' --device host", 2, "in the first graph");
  expect(file + "'" + folder + "'", 3, "it is a folder");
  expect(file + "'" + folder + "/none'", 3, "cannot be read");
  expect("'" + folder + "/none'", 3, "cannot be read");
  expect(file + "--set FAST=1", 2, "'FAST=1' sets no variable");
  expect(file + "--other-set TIMCL_CHAIN", 2, "sets no variable");
  expect(file + "--other-set TIMCL_CHAIN=7", 2,
         "TIMCL_CHAIN='7' is ignored: expected 0 or 1");
  expect(file + "--other-device opencl:77", 4, "is not there");
  expect(file + "--tolerance -1", 2, "--tolerance");
  expect(file + "--input x=y", 2, "there is no input 'x'");
}

TEST(TimclCompare, ComparesTwoSetsOfOptions) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const std::string folder = FreshFolder("compare");
  const std::string file = WriteProduct(folder + "/product.bin", 1);
  const auto json = TimclJson(
      "compare '" + file + "' --device opencl --other-set TIMCL_KERNELS=gpu");
  EXPECT_EQ(json["first"]["device"], json["second"]["device"]);
  EXPECT_EQ(json["layers"].size(), 1u);
}

}  // namespace
}  // namespace tim::tool
