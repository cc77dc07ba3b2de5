// TFLite models that a fuzzer changes: an image's network, one of shapes and
// slices with a state, one of variables with a subgraph that sets them, and one
// of a loop and a branch over slices and segments.
#include "tests/fuzz/corpus.h"
#include "tests/models/tflite_file.h"

namespace tim::testing {
namespace {

std::vector<std::byte> Bytes(const std::vector<uint8_t>& file) {
  const auto* begin = reinterpret_cast<const std::byte*>(file.data());
  return {begin, begin + file.size()};
}

FileTensor Extents(std::vector<int32_t> shape) {
  FileTensor tensor;
  tensor.type = fbs::TensorType::INT32;
  tensor.shape = std::move(shape);
  return tensor;
}

std::vector<uint8_t> ShapesAndStates() {
  TfliteFile file;
  auto& builder = file.builder();
  const int x = file.Activation("x", {2, 2});
  const int shape = file.Add(Extents({2}));
  file.Operator(77, {x}, {shape});
  const int batch = file.Add(Extents({}));
  file.Operator(45, {shape, file.Ints({0}), file.Ints({1}), file.Ints({1})},
                {batch}, fbs::Options::StridedSlice,
                fbs::CreateStridedSlice(builder, 0, 0, 0, 0, 1).Union());
  const int rest = file.Constant<int32_t>(fbs::TensorType::INT32, {}, {-1});
  const int wanted = file.Add(Extents({2}));
  file.Operator(83, {batch, rest}, {wanted}, fbs::Options::Pack,
                fbs::CreatePack(builder, 2, 0).Union());
  const int rows = file.Activation("rows", {2, 2});
  file.Operator(22, {x, wanted}, {rows});
  const int weights = file.Floats({2, 2}, {1, 0, 0, 1});
  FileTensor state;
  state.shape = {2, 2};
  state.is_variable = true;
  const int h = file.Add(state);
  const int layer = file.Activation("layer", {2, 2});
  file.Operator(24, {rows, weights, weights, file.Floats({2}, {0, 0}), h},
                {layer}, fbs::Options::Rnn,
                fbs::CreateRnn(builder, fbs::Activation::TANH).Union());
  const int y = file.Activation("y", {2, 2});
  file.Operator(
      45, {layer, file.Ints({0, -1}), file.Ints({2, -3}), file.Ints({1, -1})},
      {y}, fbs::Options::StridedSlice,
      fbs::CreateStridedSlice(builder).Union());
  file.EndSubgraph({x}, {y, shape});
  file.Signature("serve", 0, {{"x", 0}}, {{"y", 11}});
  return file.Finish();
}

int Handle(TfliteFile& file) {
  FileTensor tensor;
  tensor.type = fbs::TensorType::RESOURCE;
  const int made = file.Add(tensor);
  file.Operator(142, {}, {made}, fbs::Options::VarHandle,
                fbs::CreateVarHandleDirect(file.builder(), "", "v").Union());
  return made;
}

std::vector<uint8_t> Variables() {
  TfliteFile file;
  const int x = file.Activation("x", {2});
  file.Operator(129, {}, {}, fbs::Options::CallOnce,
                fbs::CreateCallOnce(file.builder(), 1).Union());
  const int variable = Handle(file);
  const int before = file.Activation("before", {2});
  file.Operator(143, {variable}, {before});
  const int y = file.Activation("y", {2});
  file.Operator(0, {x, before}, {y});
  file.Operator(144, {variable, y}, {});
  file.EndSubgraph({x}, {y});
  const int begin = Handle(file);
  file.Operator(144, {begin, file.Floats({2}, {1, 2})}, {});
  file.EndSubgraph({}, {});
  return file.Finish();
}

// The body of a loop that turns, writes and sums rows.
void AddBody(TfliteFile& file) {
  auto& builder = file.builder();
  const int i = file.Add(Extents({}));
  const int x = file.Activation("x", {2, 2});
  const int next = file.Add(Extents({}));
  file.Operator(0, {i, file.Constant<int32_t>(fbs::TensorType::INT32, {}, {1})},
                {next});
  const int turned = file.Activation("turned", {2, 2});
  file.Operator(112, {x, file.Ints({2, 1})}, {turned},
                fbs::Options::ReverseSequence,
                fbs::CreateReverseSequence(builder, 1, 0).Union());
  const int written = file.Activation("written", {2, 2});
  file.Operator(151, {turned, file.Floats({1, 2}, {1, 2}), file.Ints({1, 0})},
                {written});
  const int sums = file.Activation("sums", {2, 2});
  file.Operator(155, {written, file.Ints({1, 0}), file.Ints({2})}, {sums});
  file.EndSubgraph({i, x}, {next, sums});
}

std::vector<uint8_t> ControlFlow() {
  TfliteFile file;
  auto& builder = file.builder();
  FileTensor flag;
  flag.type = fbs::TensorType::BOOL;
  const int x = file.Activation("x", {2, 2});
  const int truth = file.Add(flag);
  const int begin = file.Constant<int32_t>(fbs::TensorType::INT32, {}, {0});
  const int count = file.Add(Extents({}));
  const int looped = file.Activation("looped", {2, 2});
  file.Operator(119, {begin, x}, {count, looped}, fbs::Options::While,
                fbs::CreateWhile(builder, 1, 2).Union());
  const int y = file.Activation("y", {2, 2});
  file.Operator(118, {truth, looped}, {y}, fbs::Options::If,
                fbs::CreateIf(builder, 3, 4).Union());
  file.EndSubgraph({x, truth}, {y, count});
  const int tested = file.Add(Extents({}));
  const int unused = file.Activation("x", {2, 2});
  const int is_less = file.Add(flag);
  file.Operator(
      58, {tested, file.Constant<int32_t>(fbs::TensorType::INT32, {}, {2})},
      {is_less});
  file.EndSubgraph({tested, unused}, {is_less});
  AddBody(file);
  for (const int code : {59, 101}) {
    const int from = file.Activation("x", {2, 2});
    const int made = file.Activation("y", {2, 2});
    file.Operator(code, {from}, {made});
    file.EndSubgraph({from}, {made});
  }
  return file.Finish();
}

}  // namespace

std::vector<std::vector<std::byte>> Corpus() {
  return {Bytes(SmallTfliteFile()), Bytes(ShapesAndStates()),
          Bytes(Variables()), Bytes(ControlFlow())};
}

}  // namespace tim::testing
