#include "bench/operators/bandwidth_cases.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <random>

#include "tim/vx/ops.h"

namespace tim::bench {
namespace {

using vx::DataType;
using vx::Graph;
using vx::ShapeType;
using TensorPtr = std::shared_ptr<vx::Tensor>;

constexpr double kMatrixBytes = 16 << 20;
const ShapeType kMatrix = {1024, 4096};

TensorPtr Make(Graph& graph, const ShapeType& shape, vx::TensorAttribute role,
               DataType type = DataType::FLOAT32) {
  return graph.CreateTensor(vx::TensorSpec(type, shape, role));
}

// What `build` of a case does: inputs of `shapes`, one result.
template <typename Op, typename... Args>
std::function<void(Graph&)> Build(std::vector<ShapeType> shapes,
                                  ShapeType result, Args... args) {
  return [=](Graph& graph) {
    const auto operation = graph.CreateOperation<Op>(args...);
    for (const ShapeType& shape : shapes) {
      operation->BindInput(Make(graph, shape, vx::INPUT));
    }
    operation->BindOutput(Make(graph, result, vx::OUTPUT));
  };
}

BandwidthCase OfMatrix(const std::string& name, const std::string& operation,
                       double matrices, std::function<void(Graph&)> build) {
  return {name + "_1024x4096", operation, matrices * kMatrixBytes,
          std::move(build)};
}

BandwidthCase Select() {
  return OfMatrix("select", "Select", 3.25, [](Graph& graph) {
    const auto operation = graph.CreateOperation<vx::ops::Select>();
    operation->BindInput(Make(graph, kMatrix, vx::INPUT, DataType::BOOL8));
    operation->BindInput(Make(graph, kMatrix, vx::INPUT));
    operation->BindInput(Make(graph, kMatrix, vx::INPUT));
    operation->BindOutput(Make(graph, kMatrix, vx::OUTPUT));
  });
}

BandwidthCase GatherRows() {
  constexpr uint32_t kWidth = 256;
  constexpr uint32_t kRows = 16384;
  const auto build = [](Graph& graph) {
    std::mt19937 random(1);
    std::vector<int32_t> rows(kRows);
    for (int32_t& row : rows) row = static_cast<int32_t>(random() % kRows);
    const auto operation = graph.CreateOperation<vx::ops::Gather>(1);
    operation->BindInput(Make(graph, {kWidth, kRows}, vx::INPUT));
    operation->BindInput(graph.CreateTensor(
        vx::TensorSpec(DataType::INT32, {kRows}, vx::CONSTANT), rows.data()));
    operation->BindOutput(Make(graph, {kWidth, kRows}, vx::OUTPUT));
  };
  return {"gather_rows_256x16384", "Gather", 2 * kMatrixBytes, build};
}

BandwidthCase Topk() {
  const auto build = [](Graph& graph) {
    const auto operation = graph.CreateOperation<vx::ops::Topk>(8);
    operation->BindInput(Make(graph, {100000, 40}, vx::INPUT));
    operation->BindOutput(Make(graph, {8, 40}, vx::OUTPUT));
    operation->BindOutput(Make(graph, {8, 40}, vx::OUTPUT, DataType::INT32));
  };
  return {"topk_8_of_100000", "Topk", 16e6, build};
}

}  // namespace

std::vector<BandwidthCase> BandwidthCases() {
  using namespace vx::ops;  // NOLINT: the rows below are of its classes
  const auto fastest = std::vector<int32_t>{0};
  const auto slowest = std::vector<int32_t>{1};
  return {
      OfMatrix("relu", "Relu", 2, Build<Relu>({kMatrix}, kMatrix)),
      OfMatrix("add", "Add", 3, Build<Add>({kMatrix, kMatrix}, kMatrix)),
      Select(),
      OfMatrix("transpose", "Transpose", 2,
               Build<Transpose>({kMatrix}, {4096, 1024},
                                std::vector<uint32_t>{1, 0})),
      OfMatrix(
          "slice", "Slice", 2,
          Build<Slice>({{1536, 4096}}, kMatrix, 2, std::vector<int32_t>{256, 0},
                       std::vector<int32_t>{1024, 4096})),
      OfMatrix("concat", "Concat", 2,
               Build<Concat>({{512, 4096}, {512, 4096}}, kMatrix, 0, 2)),
      OfMatrix("tile", "Tile", 1.25,
               Build<Tile>({{512, 2048}}, kMatrix, std::vector<int32_t>{2, 2})),
      OfMatrix("reduce_fastest", "ReduceSum", 1,
               Build<ReduceSum>({kMatrix}, {4096}, fastest, false)),
      OfMatrix("reduce_slowest", "ReduceSum", 1,
               Build<ReduceSum>({kMatrix}, {1024}, slowest, false)),
      OfMatrix("softmax", "Softmax", 2,
               Build<Softmax>({kMatrix}, kMatrix, 1.0f, 0)),
      OfMatrix(
          "layer_norm", "LayerNormalization", 2,
          Build<LayerNormalization>({kMatrix, {1024}, {1024}}, kMatrix, 0)),
      OfMatrix("cumsum", "CumSum", 2, Build<CumSum>({kMatrix}, kMatrix, 0)),
      GatherRows(),
      Topk(),
  };
}

}  // namespace tim::bench
