// ONNX files: elements in all forms, external data, and files that are cut,
// changed or meant to harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/str_cat.h"
#include "tests/models/onnx_model_maker.h"
#include "tim/vx/context.h"

namespace tim::models::onnx {
namespace {

namespace fs = std::filesystem;

using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::TensorProto;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = x + w
ModelProto SumModel(const TensorProto& w) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"2"});
  *graph->add_initializer() = w;
  AddNode(graph, "Add", {"x", "w"}, {"y"});
  AddOutput(graph, "y", TensorProto::FLOAT);
  return model;
}

// y = x + Cast(w), w of any type.
ModelProto CastModel(const TensorProto& w) {
  ModelProto model = SumModel(w);
  GraphProto* graph = model.mutable_graph();
  SetAttribute(AddNode(graph, "Cast", {"w"}, {"f"}), "to",
               int64_t{TensorProto::FLOAT});
  graph->mutable_node(0)->set_input(1, "f");
  return model;
}

TensorProto Typed(int type) {
  TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_type(type);
  tensor.add_dims(2);
  return tensor;
}

TEST(OnnxFiles, ElementsOfTypedFieldsAreRead) {
  TensorProto w = Typed(TensorProto::FLOAT);
  w.add_float_data(1.5);
  w.add_float_data(-2);
  EXPECT_THAT(FloatsOf(Parse(SumModel(w)), {{1, 1}}), ElementsAre(2.5, -1));
  for (const int type : {TensorProto::INT32, TensorProto::INT8,
                         TensorProto::INT16, TensorProto::UINT8}) {
    w = Typed(type);
    w.add_int32_data(7);
    w.add_int32_data(100);
    EXPECT_THAT(FloatsOf(Parse(CastModel(w)), {{1, 1}}), ElementsAre(8, 101))
        << type;
  }
  w = Typed(TensorProto::INT64);
  w.add_int64_data(-7);
  w.add_int64_data(100);
  EXPECT_THAT(FloatsOf(Parse(CastModel(w)), {{1, 1}}), ElementsAre(-6, 101));
  w = Typed(TensorProto::FLOAT16);
  w.add_int32_data(0x3c00);
  w.add_int32_data(0xc000);
  EXPECT_THAT(FloatsOf(Parse(CastModel(w)), {{1, 1}}), ElementsAre(2, -1));
}

TEST(OnnxFiles, WiderTypesAreTakenAsFloat32WithAWarning) {
  TensorProto w = Typed(TensorProto::DOUBLE);
  w.add_double_data(0.5);
  w.add_double_data(-2);
  const Model made = Parse(SumModel(w));
  EXPECT_THAT(FloatsOf(made, {{1, 1}}), ElementsAre(1.5, -1));
  ASSERT_EQ(made.warnings.size(), 1u);
  EXPECT_THAT(made.warnings[0], HasSubstr("float64 is taken as float32"));
}

TEST(OnnxFiles, ElementsThatDoNotFitTheirExtentsAreErrors) {
  TensorProto w = Typed(TensorProto::FLOAT);
  w.add_float_data(1);
  EXPECT_THAT(Parse(SumModel(w)).error,
              HasSubstr("tensor 'w': it has 4 bytes of elements, its extents "
                        "[2] need 8"));
  w = FloatTensor("w", {-2}, {1, 2});
  EXPECT_THAT(Parse(SumModel(w)).error, HasSubstr("extent -2"));
  w = FloatTensor("w", {int64_t{1} << 40, int64_t{1} << 40}, {1, 2});
  EXPECT_THAT(Parse(SumModel(w)).error, HasSubstr("too large"));
  w = Typed(TensorProto::INT8);
  w.add_int32_data(7);
  w.add_int32_data(300);
  EXPECT_THAT(Parse(CastModel(w)).error, HasSubstr("300 does not fit"));
  w = Typed(TensorProto::STRING);
  EXPECT_THAT(Parse(SumModel(w)).error, HasSubstr("'w' (initializer)"));
}

TEST(OnnxFiles, SparseInitialisersBecomeDense) {
  ModelProto model = SumModel(FloatTensor("w", {2}, {1, 2}));
  GraphProto* graph = model.mutable_graph();
  graph->clear_initializer();
  auto* sparse = graph->add_sparse_initializer();
  *sparse->mutable_values() = FloatTensor("w", {1}, {5});
  *sparse->mutable_indices() = IntTensor("", {1}, {1});
  sparse->add_dims(2);
  EXPECT_THAT(FloatsOf(Parse(model), {{1, 1}}), ElementsAre(1, 6));
  *sparse->mutable_indices() = IntTensor("", {1, 1}, {0});
  EXPECT_THAT(FloatsOf(Parse(model), {{1, 1}}), ElementsAre(6, 1));
  *sparse->mutable_indices() = IntTensor("", {1}, {2});
  EXPECT_THAT(Parse(model).error, HasSubstr("outside of its extents"));
  sparse->set_dims(0, int64_t{1} << 50);
  EXPECT_THAT(Parse(model).error, HasSubstr("too large"));
}

// A folder of its own with a model and its external data.
class OnnxExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "onnx_external_data";
    fs::create_directories(folder_);
    const std::vector<float> floats = {0, 3, 4};
    std::ofstream(folder_ / "weights.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(floats.data()), 12);
    w_ = Typed(TensorProto::FLOAT);
    w_.set_data_location(TensorProto::EXTERNAL);
    Set("location", "weights.bin");
    Set("offset", "4");
    Set("length", "8");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Set(const std::string& key, const std::string& value) {
    for (auto& entry : *w_.mutable_external_data()) {
      if (entry.key() == key) return entry.set_value(value);
    }
    auto* entry = w_.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }

  Model Load() {
    const std::string path = (folder_ / "model.onnx").string();
    std::ofstream(path, std::ios::binary) << SumModel(w_).SerializeAsString();
    return LoadOnnx(vx::Context::Create(), path);
  }

  fs::path folder_;
  TensorProto w_;
};

TEST_F(OnnxExternalData, LieBesideTheFile) {
  EXPECT_THAT(FloatsOf(Load(), {{1, 1}}), ElementsAre(4, 5));
}

TEST_F(OnnxExternalData, LieWhereTheCallerSays) {
  OnnxOptions options;
  EXPECT_THAT(Parse(SumModel(w_), options).error,
              HasSubstr("external_data_folder"));
  options.external_data_folder = folder_.string();
  EXPECT_THAT(FloatsOf(Parse(SumModel(w_), options), {{1, 1}}),
              ElementsAre(4, 5));
}

// Nodes make 320 MiB of constants before one reads external data of 8 MiB.
TEST_F(OnnxExternalData, AllowForConstantsOfNodesBeforeThem) {
  ModelProto model = SumModel(w_);
  GraphProto* graph = model.mutable_graph();
  *graph->add_initializer() = IntTensor("extents", {2}, {10'240, 4096});
  for (const char* zeros : {"a", "b"}) {
    AddNode(graph, "ConstantOfShape", {"extents"}, {zeros});
    AddOutput(graph, zeros, TensorProto::FLOAT);
  }
  auto* nodes = graph->mutable_node();
  nodes->SwapElements(0, nodes->size() - 1);
  OnnxOptions options;
  options.external_data_folder = folder_.string();
  EXPECT_THAT(Parse(model, options).error, HasSubstr("take more than"));
  fs::resize_file(folder_ / "weights.bin", 8 << 20);
  EXPECT_EQ(Parse(model, options).error, "");
}

TEST_F(OnnxExternalData, FilesThatAreMissingAreNamed) {
  Set("location", "nothing.bin");
  const std::string error = Load().error;
  EXPECT_THAT(error, HasSubstr("tensor 'w'"));
  EXPECT_THAT(error, HasSubstr("nothing.bin"));
  EXPECT_THAT(error, HasSubstr("model.onnx"));
}

TEST_F(OnnxExternalData, PartsOutsideOfTheFileAreErrors) {
  Set("offset", "8");
  EXPECT_THAT(Load().error, HasSubstr("which has 12 bytes"));
  Set("offset", "9223372036854775807");
  EXPECT_THAT(Load().error, HasSubstr("which has 12 bytes"));
  Set("offset", "-4");
  EXPECT_THAT(Load().error, HasSubstr("'-4', is no number"));
  Set("offset", "4");
  Set("length", "4");
  EXPECT_THAT(Load().error, HasSubstr("have 4 bytes"));
}

TEST_F(OnnxExternalData, FilesOutsideOfTheFolderAreNotRead) {
  for (const char* location :
       {"../weights.bin", "/etc/passwd", "a/../../weights.bin", ""}) {
    Set("location", location);
    EXPECT_THAT(Load().error, HasSubstr("not inside of the folder"));
  }
}

TEST(OnnxFiles, FilesThatAreNoModelsAreErrors) {
  const auto context = vx::Context::Create();
  EXPECT_THAT(LoadOnnx(context, "no/such.onnx").error,
              HasSubstr("no/such.onnx"));
  EXPECT_THAT(ParseOnnx(context, nullptr, 0).error, HasSubstr("no bytes"));
  EXPECT_THAT(ParseOnnx(context, "hello, world", 12).error,
              HasSubstr("damaged"));
  EXPECT_THAT(ParseOnnx(context, "\x08\x08", 2).error, HasSubstr("no graph"));
  EXPECT_THAT(ParseOnnx(nullptr, "\x08\x08", 2).error,
              HasSubstr("context is null"));
}

// A model with most of what a file can have.
std::string RichModel() {
  ModelProto model = SumModel(FloatTensor("w", {2}, {1, 2}));
  GraphProto* graph = model.mutable_graph();
  *graph->add_initializer() = IntTensor("count", {}, {3});
  auto* loop = AddNode(graph, "Loop", {"count", "", "y"}, {"z"});
  GraphProto* body = AddGraph(loop, "body");
  for (const char* name : {"i", "c", "s"}) AddBodyInput(body, name);
  AddNode(body, "Mul", {"s", "w"}, {"t"});
  AddBodyOutput(body, "c");
  AddBodyOutput(body, "t");
  AddNode(graph, "Shape", {"z"}, {"shape"});
  AddNode(graph, "Expand", {"z", "shape"}, {"q"});
  AddOutput(graph, "q", TensorProto::FLOAT);
  return model.SerializeAsString();
}

TEST(OnnxFiles, EveryCutOfAFileIsAnErrorOrAModel) {
  const auto context = vx::Context::Create();
  const std::string bytes = RichModel();
  ASSERT_TRUE(ParseOnnx(context, bytes.data(), bytes.size()));
  for (size_t size = 1; size < bytes.size(); ++size) {
    const Model made = ParseOnnx(context, bytes.data(), size);
    EXPECT_NE(made.graph == nullptr, made.error.empty()) << size;
  }
}

TEST(OnnxFiles, ChangedBitsAreAnErrorOrAModel) {
  const auto context = vx::Context::Create();
  const std::string bytes = RichModel();
  size_t errors = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; bit += 3) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const Model made = ParseOnnx(context, changed.data(), changed.size());
    EXPECT_NE(made.graph == nullptr, made.error.empty()) << bit;
    errors += made ? 0 : 1;
  }
  EXPECT_GT(errors, 0u);
}

TEST(OnnxFiles, HundredsOfShapeNodesAreReadInMilliseconds) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"2", "3"});
  *graph->add_initializer() = IntTensor("one", {1}, {1});
  AddNode(graph, "Shape", {"x"}, {"s0"});
  for (int i = 0; i < 300; ++i) {
    AddNode(graph, i % 2 == 0 ? "Add" : "Sub", {StrCat("s", i), "one"},
            {StrCat("s", i + 1)});
  }
  AddNode(graph, "Reshape", {"x", "s300"}, {"y"});
  AddOutput(graph, "y", TensorProto::FLOAT);
  const auto start = std::chrono::steady_clock::now();
  const Model made = Parse(model);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(made) << made.error;
  EXPECT_EQ(made.outputs[0].dims, (Dims{2, 3}));
  // Far from what 300 graphs on the host would take.
  EXPECT_LT(took.count(), 0.1);
}

// A mask of 400 MB, and 128 MiB that a file of some hundred bytes may ask for.
TEST(OnnxFiles, ConstantsOfExtentsAloneAreBounded) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"4096", "4096"});
  AddNode(graph, "Dropout", {"x"}, {"y", "mask"});
  AddOutput(graph, "mask", TensorProto::BOOL);
  EXPECT_EQ(Parse(model).error, "");
  for (int axis = 0; axis < 2; ++axis) {
    graph->mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(axis)
        ->set_dim_value(20'000);
  }
  EXPECT_THAT(Parse(model).error, HasSubstr("a constant of the extents"));
  model = EmptyModel();
  graph = model.mutable_graph();
  *graph->add_initializer() = IntTensor("extents", {4}, {1, 1, 4096, 4096});
  for (const char* zeros : {"a", "b"}) {
    AddNode(graph, "ConstantOfShape", {"extents"}, {zeros});
    AddOutput(graph, zeros, TensorProto::FLOAT);
  }
  EXPECT_EQ(Parse(model).error, "");
}

}  // namespace
}  // namespace tim::models::onnx
