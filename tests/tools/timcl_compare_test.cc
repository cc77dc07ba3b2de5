// `timcl compare`: planted wrong layers are found and named.
#include <gmock/gmock.h>

#include <filesystem>
#include <vector>

#include "bench/models/catalog.h"
#include "bench/networks/graph_of_network.h"
#include "bench/networks/values.h"
#include "tests/support/long_tests.h"
#include "tests/tools/compared_files.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::tool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

// A network of full size as a device runs it: fused, and cut down to the layer.
TEST(PlantedLayerInALongRun, IsCutOutOfMobilenetOnADevice) {
  if (!testing::RunsLongTests()) GTEST_SKIP() << "TIMCL_TEST_LONG is not set";
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  for (const bench::ElementType type :
       {bench::ElementType::kFloat32, bench::ElementType::kUint8}) {
    const auto network = bench::MakeNetwork("mobilenet_v2", 224, type);
    ASSERT_TRUE(network.ok()) << network.status().message();
    const std::string folder = FreshFolder("planted");
    const std::string tensor =
        WritePlanted(*network, MiddleConvolution(*network), folder);
    const auto json = Differing("compare '" + folder + "/wrong.bin' '" +
                                folder + "/right.bin' --device opencl" +
                                " --reduce '" + folder + "/part'");
    const auto& exact = json["first_different_unfused"].is_null()
                            ? json["first_different"]
                            : json["first_different_unfused"];
    EXPECT_EQ(exact["tensor"], tensor) << json["first_different"];
    EXPECT_EQ(json["reduced"]["nodes"], nlohmann::json({exact["node"]}));
    // Besides, tensors may become blocks of channels and dense again.
    const nlohmann::json repeated = Repeated(json);
    std::vector<nlohmann::json> layers;
    for (const auto& layer : repeated["layers"]) {
      if (!layer["node"].get<std::string>().starts_with("reorder(")) {
        layers.push_back(layer["node"]);
      }
    }
    EXPECT_EQ(layers, std::vector<nlohmann::json>{exact["node"]})
        << repeated["layers"];
  }
}

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

TEST(TimclReduce, CutsOutTheNodeThatDiffers) {
  const std::string folder = FreshFolder("it's reduced");
  const std::string right = WriteProduct(folder + "/right.bin", 1);
  const std::string wrong = WriteProduct(folder + "/wrong.bin", -4);
  const std::string quoted = "it'\\''s";
  const auto in_shell = [&](std::string path) {
    path.replace(path.find("it's"), 4, quoted);
    return "'" + path + "' ";
  };
  const std::string command = "compare " + in_shell(wrong) + in_shell(right) +
                              "--device host --reduce " +
                              in_shell(folder + "/new/part");
  const auto json = Differing(command);
  const auto& reduced = json["reduced"];
  ASSERT_EQ(reduced["nodes"].size(), 1u) << json;
  EXPECT_THAT(reduced["nodes"][0], ::testing::StartsWith("FullyConnected"));
  EXPECT_EQ(reduced["graphs"].size(), 2u);
  ASSERT_EQ(reduced["inputs"].size(), 1u);
  const std::string file = ReadText(reduced["inputs"][0]);
  const auto input = ParseNpy(file);
  ASSERT_TRUE(input.ok()) << input.status().message();
  EXPECT_EQ(input->shape, (std::vector<int64_t>{3, 4}));
  const auto again = Repeated(json);
  ASSERT_EQ(again["layers"].size(), 1u) << again;
  EXPECT_EQ(again["first_different"], json["first_different"]);
  EXPECT_THAT(Timcl(command).output,
              AllOf(HasSubstr("reduced to FullyConnected"),
                    HasSubstr("this repeats it:\ntimcl compare ")));
}

// Inputs of the part are what the layers before it give, in the second run.
TEST(TimclReduce, CutsOneFileForTwoDevices) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const std::string folder = FreshFolder("reduced");
  const auto graph = testing::HostGraph();
  std::vector<float> weights(512 * 2);
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = 1.0f / static_cast<float>(3 * i + 1);
  }
  const auto x = graph->CreateTensor(testing::Floats({512, 1}, vx::INPUT));
  const auto w = graph->CreateTensor(testing::Floats({512, 2}, vx::CONSTANT),
                                     weights.data());
  const auto a = graph->CreateTensor(testing::Floats({512, 1}, vx::TRANSIENT));
  const auto b = graph->CreateTensor(testing::Floats({2, 1}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(testing::Floats({2, 1}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Abs>()).BindInput(x).BindOutput(a);
  (*graph->CreateOperation<vx::ops::FullyConnected>(0, 2))
      .BindInputs({a, w})
      .BindOutput(b);
  (*graph->CreateOperation<vx::ops::Neg>()).BindInput(b).BindOutput(y);
  const std::string file = WriteGraph(*graph, folder + "/graph.bin");
  // Sums of floats in another order differ in the last bits.
  const auto json = Differing("compare '" + file +
                              "' --device opencl --tolerance 0 --reduce '" +
                              folder + "/part'");
  const auto& reduced = json["reduced"];
  ASSERT_EQ(reduced["nodes"].size(), 1u) << json;
  EXPECT_THAT(reduced["nodes"][0], ::testing::StartsWith("FullyConnected"));
  EXPECT_EQ(reduced["graphs"], nlohmann::json({folder + "/part/graph.bin"}));
  const std::string input = ReadText(reduced["inputs"][0]);
  const auto array = ParseNpy(input);
  ASSERT_TRUE(array.ok()) << array.status().message();
  ASSERT_EQ(array->data.size(), 512 * sizeof(float));
  for (size_t i = 3; i < array->data.size(); i += 4) {
    EXPECT_EQ(array->data[i] & 0x80, 0) << "the sign of element " << i / 4;
  }
  EXPECT_EQ(Repeated(json)["first_different"]["differs"], true);
}

// y = -(relu(x) + c) * {0, 1}; the sum is large in the element that is left
// out.
std::string WriteSum(const std::string& path, float c) {
  const auto graph = testing::HostGraph();
  const std::vector<float> addends = {100, c};
  const std::vector<float> factors = {0, 1};
  const auto x = graph->CreateTensor(testing::Floats({2}, vx::INPUT));
  const auto addend =
      graph->CreateTensor(testing::Floats({2}, vx::CONSTANT), addends.data());
  const auto mask =
      graph->CreateTensor(testing::Floats({2}, vx::CONSTANT), factors.data());
  const auto relu = graph->CreateTensor(testing::Floats({2}, vx::TRANSIENT));
  const auto sum = graph->CreateTensor(testing::Floats({2}, vx::TRANSIENT));
  const auto part = graph->CreateTensor(testing::Floats({2}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(testing::Floats({2}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(x).BindOutput(relu);
  (*graph->CreateOperation<vx::ops::Add>())
      .BindInputs({relu, addend})
      .BindOutput(sum);
  (*graph->CreateOperation<vx::ops::Multiply>())
      .BindInputs({sum, mask})
      .BindOutput(part);
  (*graph->CreateOperation<vx::ops::Neg>()).BindInput(part).BindOutput(y);
  return WriteGraph(*graph, path);
}

TEST(TimclReduce, GrowsUntilThePartDiffersAndNoFurther) {
  const std::string folder = FreshFolder("reduced");
  const std::string right = WriteSum(folder + "/right.bin", 0);
  const std::string wrong = WriteSum(folder + "/wrong.bin", 0.05f);
  const auto json = Differing("compare '" + wrong + "' '" + right +
                              "' --device host --reduce '" + folder + "/part'");
  EXPECT_THAT(json["first_different"]["node"],
              ::testing::StartsWith("Multiply"));
  const auto& nodes = json["reduced"]["nodes"];
  ASSERT_EQ(nodes.size(), 2u) << json;
  EXPECT_THAT(nodes[0], ::testing::StartsWith("Add"));
  EXPECT_THAT(nodes[1], ::testing::StartsWith("Multiply"));
  EXPECT_EQ(Repeated(json)["layers"].size(), 2u);
}

TEST(TimclReduce, WritesNothingWhereNothingDiffers) {
  const std::string folder = FreshFolder("reduced");
  const std::string one = WriteProduct(folder + "/one.bin", 1);
  const std::string two = WriteProduct(folder + "/two.bin", 1);
  const auto json = TimclJson("compare '" + one + "' '" + two +
                              "' --device host --reduce '" + folder + "/part'");
  EXPECT_EQ(json["reduced"], nullptr);
  EXPECT_FALSE(std::filesystem::exists(folder + "/part"));
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
  expect(file + "--other-device opencl:77", 4, "this machine has");
  expect(file + "--tolerance -1", 2,
         "--tolerance: '-1' is no number from 0 on");
  expect(file + "--tolerance nan", 2, "'nan' is no number from 0 on");
  expect(file + "--codes -1", 2, "--codes: '-1' is no number from 0 on");
  expect(file + "--input x=y", 2, "there is no input 'x'");
  const std::string wrong = WriteProduct(folder + "/wrong.bin", -4);
  const std::string both = file + "'" + wrong + "' --device host --reduce ";
  expect(both + "'" + wrong + "'", 3, "it is a file; name a folder");
  expect(both + "'" + wrong + "/part'", 3, "cannot make the folder");
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
