// TFLite models as graphs, by files that the test writes.
// FlexBuffers' texts are not read as numbers, for which FlatBuffers has a
// library to link.
#define FLATBUFFERS_LOCALE_INDEPENDENT 0

#include <flatbuffers/flexbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/tflite_runner.h"

namespace tim::testing {
namespace {

using models::TfliteOptions;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

constexpr auto kSame = fbs::Padding::SAME;
constexpr auto kValid = fbs::Padding::VALID;

TEST(TfliteImporter, SmallNetworkRuns) {
  TfliteRun run(SmallTfliteFile());
  ASSERT_TRUE(run.model) << run.model.error;
  EXPECT_EQ(run.model.inputs[0].name, "x");
  EXPECT_EQ(run.model.inputs[0].dims, (models::Dims{1, 2, 2, 2}));
  EXPECT_EQ(run.model.outputs[0].dims, (models::Dims{1, 3}));
  // Pixels (0, 1), (1, -1), (2, 3), (4, 0): the first channel is 2.5, 0, 6
  // (of 8.5) and 4.5, the second 6 everywhere (of 10 to 6).
  EXPECT_THAT(run.Floats({0, 1, 1, -1, 2, 3, 4, 0}), ElementsAre(6, 6, 12));
}

// A network of one operator from floats to floats.
std::vector<uint8_t> OneOperator(int code, const std::vector<int32_t>& in,
                                 const std::vector<int32_t>& out,
                                 const std::vector<std::vector<int32_t>>& ints,
                                 fbs::Options type, auto options) {
  TfliteFile file;
  const int x = file.Activation("x", in);
  std::vector<int32_t> inputs = {x};
  for (const auto& list : ints) inputs.push_back(file.Ints(list));
  const int y = file.Activation("y", out);
  file.Operator(code, inputs, {y}, type, options(file.builder()));
  file.EndSubgraph({x}, {y});
  return file.Finish();
}

TEST(TfliteImporter, NegativeStridesGoBackwards) {
  const auto file = OneOperator(
      45, {2, 3}, {2, 3}, {{0, 2}, {2, -4}, {1, -1}},
      fbs::Options::StridedSlice,
      [](auto& builder) { return fbs::CreateStridedSlice(builder).Union(); });
  TfliteRun run(file);
  EXPECT_THAT(run.Floats({0, 1, 2, 3, 4, 5}), ElementsAre(2, 1, 0, 5, 4, 3));
}

TEST(TfliteImporter, MasksOfSlicesCountFromTheSlowestAxis) {
  // x[..., -1::-2, newaxis] of rows of 4, without row 0.
  const auto file = OneOperator(
      45, {2, 4}, {2, 1}, {{1, 3, 0}, {2, 0, 0}, {1, -2, 1}},
      fbs::Options::StridedSlice, [](auto& builder) {
        return fbs::CreateStridedSlice(builder, 0, 2, 0, 4, 1).Union();
      });
  TfliteRun run(file);
  EXPECT_THAT(run.Floats({0, 1, 2, 3, 4, 5, 6, 7}), ElementsAre(7, 5));
  EXPECT_EQ(run.model.outputs[0].dims, (models::Dims{2, 1}));
}

TEST(TfliteImporter, GeluTakesItsForm) {
  for (const bool approximate : {false, true}) {
    const auto file = OneOperator(
        150, {1}, {1}, {}, fbs::Options::Gelu, [approximate](auto& builder) {
          return fbs::CreateGelu(builder, approximate).Union();
        });
    TfliteRun run(file);
    EXPECT_THAT(
        run.Floats({1}),
        ElementsAre(FloatNear(approximate ? 0.8411920f : 0.8413447f, 1e-6f)));
  }
}

TEST(TfliteImporter, DifferencesOfCodesAreSquaredUnrounded) {
  TfliteFile file;
  const auto codes = [&file](const char* name, float scale) {
    FileTensor tensor;
    tensor.type = fbs::TensorType::INT8;
    tensor.shape = {3};
    tensor.name = name;
    tensor.scales = {scale};
    tensor.zero_points = {0};
    return file.Add(std::move(tensor));
  };
  const int a = codes("a", 0.1f);
  const int b = codes("b", 0.1f);
  const int y = codes("y", 1.0f);
  file.Operator(99, {a, b}, {y});
  file.EndSubgraph({a, b}, {y});
  TfliteRun run(file.Finish());
  // Differences of 2.4, 0.7 and -12: rounded to the output's steps of 1 their
  // squares would be 4, 1 and 127.
  EXPECT_THAT(run.Run<int8_t>(
                  {BytesOf<int8_t>({24, 7, -120}), BytesOf<int8_t>({0, 0, 0})}),
              ElementsAre(6, 0, 127));
}

TEST(TfliteImporter, ShapesFollowTheInputs) {
  // x is flattened by its own shape: [SHAPE(x)[0], -1].
  TfliteFile file;
  const int x = file.Activation("x", {1, 2, 2});
  FileTensor extents;
  extents.type = fbs::TensorType::INT32;
  extents.shape = {3};
  const int shape = file.Add(extents);
  file.Operator(77, {x}, {shape});
  extents.shape = {};
  const int batch = file.Add(extents);
  file.Operator(45, {shape, file.Ints({0}), file.Ints({1}), file.Ints({1})},
                {batch}, fbs::Options::StridedSlice,
                fbs::CreateStridedSlice(file.builder(), 0, 0, 0, 0, 1).Union());
  const int rest = file.Constant<int32_t>(fbs::TensorType::INT32, {}, {-1});
  extents.shape = {2};
  const int wanted = file.Add(extents);
  file.Operator(83, {batch, rest}, {wanted}, fbs::Options::Pack,
                fbs::CreatePack(file.builder(), 2, 0).Union());
  const int y = file.Activation("y", {1, 4});
  file.Operator(22, {x, wanted}, {y});
  file.EndSubgraph({x}, {y, shape});
  TfliteOptions options;
  options.shapes["x"] = {3, 2, 4};
  TfliteRun run(file.Finish(), options);
  ASSERT_TRUE(run.model) << run.model.error;
  EXPECT_EQ(run.model.outputs[0].dims, (models::Dims{3, 8}));
  run.Floats(std::vector<float>(24));
  EXPECT_THAT(run.Output<int32_t>(1), ElementsAre(3, 2, 4));
}

TEST(TfliteImporter, DepthwiseConvolutionTakesChannelsLast) {
  TfliteFile file;
  const int x = file.Activation("x", {1, 1, 3, 2});
  const int weights = file.Floats({1, 1, 2, 2}, {1, 10, 2, 20});
  const int y = file.Activation("y", {1, 1, 2, 2});
  file.Operator(
      4, {x, weights}, {y}, fbs::Options::DepthwiseConv2d,
      fbs::CreateDepthwiseConv2d(file.builder(), kValid, 1, 1, 1).Union());
  file.EndSubgraph({x}, {y});
  TfliteRun run(file.Finish());
  EXPECT_THAT(run.Floats({1, 2, 3, 4, 5, 6}), ElementsAre(7, 100, 13, 160));
}

TEST(TfliteImporter, TransposedConvolutionHasTheExtentsThatAreGiven) {
  TfliteFile file;
  const int x = file.Activation("x", {1, 1, 2, 1});
  const int shape = file.Ints({1, 1, 4, 1});
  const int weights = file.Floats({1, 1, 3, 1}, {1, 2, 3});
  const int y = file.Activation("y", {1, 1, 4, 1});
  file.Operator(67, {shape, weights, x}, {y}, fbs::Options::TransposedConv,
                fbs::CreateTransposedConv(file.builder(), kSame, 2, 1).Union());
  file.EndSubgraph({x}, {y});
  TfliteRun run(file.Finish());
  // Cells 0 to 4 are 1, 2, 3 + 10, 20, 30; SAME of 4 cells cuts one behind.
  EXPECT_THAT(run.Floats({1, 10}), ElementsAre(1, 2, 13, 20));
}

TEST(TfliteImporter, PerChannelWeightsOfInt8) {
  TfliteFile file;
  FileTensor codes;
  codes.type = fbs::TensorType::INT8;
  codes.shape = {1, 1, 1, 1};
  codes.name = "x";
  codes.scales = {0.5f};
  codes.zero_points = {-3};
  const int x = file.Add(codes);
  FileTensor kernel;
  kernel.type = fbs::TensorType::INT8;
  kernel.shape = {2, 1, 1, 1};
  kernel.data = BytesOf<int8_t>({10, -20});
  kernel.scales = {0.1f, 0.2f};
  kernel.zero_points = {0, 0};
  const int weights = file.Add(kernel);
  codes.shape = {1, 1, 1, 2};
  codes.name = "y";
  codes.scales = {1.0f};
  codes.zero_points = {1};
  const int y = file.Add(codes);
  file.Operator(3, {x, weights}, {y}, fbs::Options::Conv2d,
                fbs::CreateConv2d(file.builder(), kSame, 1, 1).Union());
  file.EndSubgraph({x}, {y});
  TfliteRun run(file.Finish());
  // The code 5 is 4; times 1 and -4.
  EXPECT_THAT(run.Run<int8_t>({BytesOf<int8_t>({5})}), ElementsAre(5, -15));
}

TEST(TfliteImporter, HalfAndHybridWeightsAreFloats) {
  TfliteFile file;
  const int x = file.Activation("x", {1, 2});
  const int halves = file.Constant<uint16_t>(fbs::TensorType::FLOAT16, {1, 2},
                                             {0x3c00, 0x4000});  // 1 and 2
  const int floats = file.Activation("floats", {1, 2});
  file.Operator(6, {halves}, {floats});
  const int between = file.Activation("between", {1, 1});
  file.Operator(9, {x, floats, -1}, {between});
  FileTensor codes;
  codes.type = fbs::TensorType::INT8;
  codes.shape = {2, 1};
  codes.data = BytesOf<int8_t>({4, -2});
  codes.scales = {0.25f};
  codes.zero_points = {0};
  const int matrix = file.Add(codes);
  const int y = file.Activation("y", {1, 2});
  file.Operator(9, {between, matrix, -1}, {y});
  file.EndSubgraph({x}, {y});
  TfliteRun run(file.Finish());
  EXPECT_THAT(run.Floats({3, 4}), ElementsAre(11, -5.5));
}

TEST(TfliteImporter, SparseWeightsAreDense) {
  TfliteFile file;
  auto& builder = file.builder();
  const int x = file.Activation("x", {1, 3});
  // Rows (0, 5, 0) and (7, 0, 0), compressed.
  const std::vector<int32_t> segments = {0, 1, 2};
  const std::vector<int32_t> indices = {1, 0};
  const std::vector<flatbuffers::Offset<fbs::SparseDimension>> dimensions = {
      fbs::CreateSparseDimension(builder, fbs::DimensionKind::DENSE, 2),
      fbs::CreateSparseDimension(
          builder, fbs::DimensionKind::SPARSE_CSR, 0, fbs::IndexList::Ints32,
          fbs::CreateInts32Direct(builder, &segments).Union(),
          fbs::IndexList::Ints32,
          fbs::CreateInts32Direct(builder, &indices).Union())};
  const std::vector<int32_t> order = {0, 1};
  FileTensor stored;
  stored.shape = {2, 3};
  stored.data = BytesOf<float>({5, 7});
  stored.sparsity =
      fbs::CreateSparsityDirect(builder, &order, nullptr, &dimensions);
  const int sparse = file.Add(stored);
  const int dense = file.Activation("dense", {2, 3});
  file.Operator(124, {sparse}, {dense});
  const int y = file.Activation("y", {1, 2});
  file.Operator(9, {x, dense, -1}, {y});
  file.EndSubgraph({x}, {y});
  TfliteRun run(file.Finish());
  EXPECT_THAT(run.Floats({1, 2, 3}), ElementsAre(10, 7));
}

TEST(TfliteImporter, StatesOfLayersStayFromRunToRun) {
  // One unit without an activation's limits: h' = relu(x + h).
  TfliteFile file;
  const int x = file.Activation("x", {1, 1});
  const int one = file.Floats({1, 1}, {1});
  const int bias = file.Floats({1}, {0});
  FileTensor state;
  state.shape = {1, 1};
  state.name = "h";
  state.is_variable = true;
  const int h = file.Add(state);
  const int y = file.Activation("y", {1, 1});
  file.Operator(24, {x, one, one, bias, h}, {y}, fbs::Options::Rnn,
                fbs::CreateRnn(file.builder(), fbs::Activation::RELU).Union());
  file.EndSubgraph({x}, {y});
  TfliteRun run(file.Finish());
  EXPECT_THAT(run.Floats({1}), ElementsAre(1));
  EXPECT_THAT(run.Floats({2}), ElementsAre(3));
  EXPECT_THAT(run.Floats({0.5}), ElementsAre(3.5));
}

TEST(TfliteImporter, StatesOfLstmStayFromRunToRun) {
  TfliteFile file;
  const int x = file.Activation("x", {1, 1, 1});
  const int zero = file.Floats({1, 1}, {0});
  const int one = file.Floats({1, 1}, {1});
  // All gates are open: their biases are large.
  const int open = file.Floats({1}, {100});
  const int none = file.Floats({1}, {0});
  FileTensor state;
  state.shape = {1, 1};
  state.is_variable = true;
  const int h = file.Add(state);
  const int c = file.Add(state);
  const int y = file.Activation("y", {1, 1, 1});
  file.Operator(
      44, {x,  zero, zero, one,  zero, zero, zero, zero, zero, -1,
           -1, -1,   open, open, none, open, -1,   -1,   h,    c},
      {y}, fbs::Options::SequenceLstm,
      fbs::CreateSequenceLstm(file.builder(), fbs::Activation::RELU).Union());
  file.EndSubgraph({x}, {y});
  TfliteRun run(file.Finish());
  EXPECT_THAT(run.Floats({1}), ElementsAre(FloatNear(1, 1e-5f)));
  EXPECT_THAT(run.Floats({2}), ElementsAre(FloatNear(3, 1e-5f)));
}

TEST(TfliteImporter, VariablesAreStates) {
  TfliteFile file;
  auto& builder = file.builder();
  const auto handle = [&file, &builder] {
    FileTensor tensor;
    tensor.type = fbs::TensorType::RESOURCE;
    const int made = file.Add(tensor);
    file.Operator(142, {}, {made}, fbs::Options::VarHandle,
                  fbs::CreateVarHandleDirect(builder, "", "count").Union());
    return made;
  };
  const int x = file.Activation("x", {1});
  file.Operator(129, {}, {}, fbs::Options::CallOnce,
                fbs::CreateCallOnce(builder, 1).Union());
  const int variable = handle();
  const int before = file.Activation("before", {1});
  file.Operator(143, {variable}, {before});
  const int y = file.Activation("y", {1});
  file.Operator(0, {x, before}, {y});
  file.Operator(144, {variable, y}, {});
  file.EndSubgraph({x}, {y});
  const int begin = handle();
  file.Operator(144, {begin, file.Floats({1}, {10})}, {});
  file.EndSubgraph({}, {});
  TfliteRun run(file.Finish());
  EXPECT_THAT(run.Floats({1}), ElementsAre(11));
  EXPECT_THAT(run.Floats({2}), ElementsAre(13));
}

TEST(TfliteImporter, DetectionsAreThoseOfTheCustomOperator) {
  TfliteFile file;
  const int boxes = file.Activation("boxes", {1, 2, 4});
  const int scores = file.Activation("scores", {1, 2, 2});
  const int anchors =
      file.Floats({2, 4}, {0.5, 0.5, 0.25, 0.5, 0.25, 0.25, 0.5, 0.5});
  const std::vector<int32_t> results = {
      file.Activation("at", {1, 2, 4}), file.Activation("classes", {1, 2}),
      file.Activation("how sure", {1, 2}), file.Activation("count", {1})};
  flexbuffers::Builder options;
  options.Map([&options] {
    options.Int("max_detections", 2);
    options.Int("max_classes_per_detection", 1);
    options.Int("num_classes", 1);
    options.Float("nms_score_threshold", 0.5f);
    options.Float("nms_iou_threshold", 0.5f);
    for (const char* name : {"y_scale", "x_scale", "h_scale", "w_scale"}) {
      options.Float(name, 1.0f);
    }
  });
  options.Finish();
  file.Custom("TFLite_Detection_PostProcess", {boxes, scores, anchors}, results,
              options.GetBuffer());
  file.EndSubgraph({boxes, scores}, results);
  TfliteRun run(file.Finish());
  // The background is column 0 of the scores; the second box is not sure.
  EXPECT_THAT(run.Run<float>({BytesOf(std::vector<float>(8)),
                              BytesOf<float>({0, 0.75f, 0, 0.25f})}),
              ElementsAre(0.375, 0.25, 0.625, 0.75, 0, 0, 0, 0));
  EXPECT_THAT(run.Output<float>(1), ElementsAre(0, 0));
  EXPECT_THAT(run.Output<float>(2), ElementsAre(0.75, 0));
  EXPECT_THAT(run.Output<float>(3), ElementsAre(1));
}

TEST(TfliteImporter, SignaturesNamePorts) {
  TfliteFile file;
  const int x = file.Activation("serving_x:0", {1});
  const int y = file.Activation("Identity", {1});
  file.Operator(101, {x}, {y});
  file.EndSubgraph({x}, {y});
  file.Signature("serve", 0, {{"x", 0}}, {{"y", 1}});
  const auto bytes = file.Finish();
  TfliteOptions options;
  options.signature = "serve";
  TfliteRun run(bytes, options);
  ASSERT_TRUE(run.model) << run.model.error;
  EXPECT_EQ(run.model.inputs[0].name, "x");
  EXPECT_EQ(run.model.outputs[0].name, "y");
  options.signature = "train";
  EXPECT_THAT(TfliteRun(bytes, options).model.error,
              HasSubstr("no signature 'train'; it has [serve]"));
}

TEST(TfliteImporter, RefusalsAreListedAtOnce) {
  TfliteFile file;
  const int x = file.Activation("x", {4});
  const int a = file.Activation("a", {4});
  file.Operator(103, {x}, {a});  // UNIQUE
  const int b = file.Activation("b", {4});
  file.Operator(28, {a}, {b});  // TANH of what is not taken
  const int c = file.Activation("c", {4});
  file.Operator(22, {b, x}, {c});  // RESHAPE by an input
  file.Custom("Mine", {c}, {file.Activation("d", {4})}, {});
  file.EndSubgraph({x}, {c});
  TfliteRun run(file.Finish());
  ASSERT_FALSE(run.model);
  ASSERT_EQ(run.model.refusals.size(), 3u) << run.model.error;
  EXPECT_EQ(run.model.refusals[0].op, "UNIQUE");
  EXPECT_EQ(run.model.refusals[1].op, "RESHAPE");
  EXPECT_EQ(run.model.refusals[1].node, "#2");
  EXPECT_EQ(run.model.refusals[1].about, "input 1");
  EXPECT_EQ(run.model.refusals[2].op, "Mine");
}

TEST(TfliteImporter, SupplierMakesWhatTheLibraryDoesNotTake) {
  TfliteFile file;
  const int x = file.Activation("x", {2});
  const int y = file.Activation("y", {2});
  file.Custom("Twice", {x}, {y}, {});
  file.EndSubgraph({x}, {y});
  TfliteOptions options;
  options.supplier = [](vx::Graph& graph, const models::SuppliedNode& node) {
    EXPECT_EQ(node.op, "Twice");
    const auto made = graph.CreateTensor(
        vx::TensorSpec(vx::DataType::FLOAT32, {}, vx::TRANSIENT));
    graph.CreateOperation<vx::ops::Add>()
        ->BindInputs({node.inputs[0], node.inputs[0]})
        .BindOutput(made);
    return std::vector<std::shared_ptr<vx::Tensor>>{made};
  };
  TfliteRun run(file.Finish(), options);
  EXPECT_THAT(run.Floats({1, 2}), ElementsAre(2, 4));
}

TEST(TfliteImporter, ValuesOfInputsAreConstants) {
  const std::vector<float> values = {0, 0, 0, 0, 0, 0, 0, 0};
  TfliteOptions options;
  options.values["x"] = {
      vx::DataType::FLOAT32,
      {1, 2, 2, 2},
      std::shared_ptr<const void>(values.data(), [](const void*) {})};
  TfliteRun run(SmallTfliteFile(), options);
  ASSERT_TRUE(run.model) << run.model.error;
  EXPECT_TRUE(run.model.inputs.empty());
  EXPECT_THAT(run.Run<float>({}), ElementsAre(0.5, 6, 6.5));
}

TEST(TfliteImporter, OptionsMustFitTheFile) {
  TfliteOptions options;
  options.shapes["z"] = {1};
  EXPECT_THAT(TfliteRun(SmallTfliteFile(), options).model.error,
              HasSubstr("'z', which is no input; the inputs are [x]"));
  options.shapes = {{"x", {1, 0, 2, 2}}};
  EXPECT_THAT(TfliteRun(SmallTfliteFile(), options).model.error,
              HasSubstr("the extent 0"));
  options.shapes.clear();
  options.dimensions["N"] = 2;
  EXPECT_THAT(TfliteRun(SmallTfliteFile(), options).model.error,
              HasSubstr("no names for extents"));
}

}  // namespace
}  // namespace tim::testing
