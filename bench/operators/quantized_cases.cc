#include "bench/operators/quantized_cases.h"

#include <array>
#include <cstdint>
#include <memory>

#include "tim/vx/ops.h"

namespace tim::bench {
namespace {

using vx::DataType;
using vx::Graph;
using vx::ShapeType;
using TensorPtr = std::shared_ptr<vx::Tensor>;
using Operation = std::shared_ptr<vx::Operation>;

constexpr double kMiB = 1 << 20;
const ShapeType kImage = {128, 128, 1024, 1};  // 16 MiB
const ShapeType kHalf = {128, 128, 512, 1};
const ShapeType kQuarter = {64, 64, 1024, 1};
const ShapeType kChannels = {1, 1, 1024, 1};
const ShapeType kSmallImages = {7, 7, 2048, 167};
const ShapeType kMeans = {1, 1, 2048, 167};

enum class Form { kDense, kBlocked };

// Makes the operands of one operation.
class Maker {
 public:
  Maker(Graph& graph, Form form) : graph_(graph), form_(form) {}

  TensorPtr Input(const ShapeType& shape, DataType type = DataType::UINT8) {
    const TensorPtr input = Make(shape, vx::INPUT, type);
    if (!IsImage(shape, type)) return input;
    return Pooled(input, Make(shape, vx::TRANSIENT, type));
  }

  // What the operation writes.
  TensorPtr Output(const ShapeType& shape, DataType type = DataType::UINT8) {
    if (!IsImage(shape, type)) return Make(shape, vx::OUTPUT, type);
    const TensorPtr result = Make(shape, vx::TRANSIENT, type);
    Pooled(result, Make(shape, vx::OUTPUT, type));
    return result;
  }

  TensorPtr Make(const ShapeType& shape, vx::TensorAttribute role,
                 DataType type) {
    if (type != DataType::UINT8) {
      return graph_.CreateTensor(vx::TensorSpec(type, shape, role));
    }
    ++made_;
    const vx::Quantization codes(vx::QuantType::ASYMMETRIC,
                                 0.02f + 0.003f * static_cast<float>(made_),
                                 100 + made_);
    return graph_.CreateTensor(vx::TensorSpec(type, shape, role, codes));
  }

 private:
  bool IsImage(const ShapeType& shape, DataType type) const {
    return form_ == Form::kBlocked && type == DataType::UINT8 && shape[0] > 1;
  }

  // Of the same shape.
  TensorPtr Pooled(const TensorPtr& from, const TensorPtr& to) {
    using Pair = std::array<uint32_t, 2>;
    const auto pool = graph_.CreateOperation<vx::ops::Pool2d>(
        vx::PoolType::MAX, std::array<uint32_t, 4>{1, 1, 1, 1}, Pair{3, 3},
        Pair{1, 1});
    pool->BindInput(from).BindOutput(to);
    return to;
  }

  Graph& graph_;
  Form form_;
  int made_ = 0;
};

template <typename Op, typename... Args>
std::function<Operation(Graph&)> Of(Args... args) {
  return [=](Graph& graph) -> Operation {
    return graph.CreateOperation<Op>(args...);
  };
}

struct Row {
  std::string name;
  std::string operation;
  double mebibytes = 0;
  std::function<Operation(Graph&)> create;
  std::vector<ShapeType> inputs = {kImage};
  ShapeType output = kImage;
  DataType from = DataType::UINT8;
  DataType to = DataType::UINT8;
};

BandwidthCase CaseOf(const Row& row, Form form) {
  const auto build = [row, form](Graph& graph) {
    Maker maker(graph, form);
    const Operation operation = row.create(graph);
    for (const ShapeType& shape : row.inputs) {
      operation->BindInput(maker.Input(shape, row.from));
    }
    operation->BindOutput(maker.Output(row.output, row.to));
  };
  const char* suffix = form == Form::kDense ? "_dense" : "_blocked";
  return {"u8_" + row.name + suffix, row.operation, row.mebibytes * kMiB,
          build};
}

// Pools, which lie in blocks by themselves.
BandwidthCase PoolCase(const std::string& name, double mebibytes,
                       std::function<Operation(Graph&)> create,
                       const ShapeType& from, const ShapeType& to) {
  const auto build = [create, from, to](Graph& graph) {
    Maker maker(graph, Form::kDense);
    create(graph)->BindInput(maker.Input(from)).BindOutput(maker.Output(to));
  };
  return {"u8_" + name, "Pool2d", mebibytes * kMiB, build};
}

std::vector<Row> Rows() {
  using namespace vx::ops;  // NOLINT: the rows below are of its classes
  const float twice = 2.0f;
  const std::vector<int32_t> image = {0, 1};
  return {
      {"add", "Add", 48, Of<Add>(), {kImage, kImage}},
      {"scale", "Multiply", 32, Of<Multiply>(), {kImage, kChannels}},
      {"relu6", "Relu6", 32, Of<Relu6>()},
      {"hard_swish", "HardSwish", 32, Of<HardSwish>()},
      {"sigmoid", "Sigmoid", 32, Of<Sigmoid>()},
      {"convert", "DataConvert", 32, Of<DataConvert>()},
      {"concat", "Concat", 32, Of<Concat>(2u, 2), {kHalf, kHalf}},
      {"resize_nearest",
       "Resize",
       20,
       Of<Resize>(vx::ResizeType::NEAREST_NEIGHBOR, twice, false, false, 0, 0),
       {kQuarter}},
      {"resize_bilinear",
       "Resize",
       20,
       Of<Resize>(vx::ResizeType::BILINEAR, twice, false, false, 0, 0),
       {kQuarter}},
      {"mean",
       "ReduceMean",
       16,
       Of<ReduceMean>(image, true),
       {kSmallImages},
       kMeans},
      {"quantize",
       "DataConvert",
       20,
       Of<DataConvert>(),
       {kQuarter},
       kQuarter,
       DataType::FLOAT32},
      {"dequantize",
       "DataConvert",
       20,
       Of<DataConvert>(),
       {kQuarter},
       kQuarter,
       DataType::UINT8,
       DataType::FLOAT32},
  };
}

// A share of 1024 is about 2^-10: at a scale of 2^-8, as models have it, all
// codes would be equal.
BandwidthCase Softmax() {
  const auto build = [](Graph& graph) {
    const ShapeType rows = {1024, 16384};
    const vx::Quantization shares(vx::QuantType::ASYMMETRIC, 1.0f / 65536, 0);
    graph.CreateOperation<vx::ops::Softmax>(1.0f, 0)
        ->BindInput(Maker(graph, Form::kDense).Input(rows))
        .BindOutput(graph.CreateTensor(
            vx::TensorSpec(DataType::UINT8, rows, vx::OUTPUT, shares)));
  };
  return {"u8_softmax_dense", "Softmax", 32 * kMiB, build};
}

}  // namespace

std::vector<BandwidthCase> QuantizedCases() {
  using Pair = std::array<uint32_t, 2>;
  using vx::ops::Pool2d;
  std::vector<BandwidthCase> out;
  for (const Row& row : Rows()) {
    out.push_back(CaseOf(row, Form::kDense));
    out.push_back(CaseOf(row, Form::kBlocked));
  }
  out.push_back(PoolCase(
      "max_pool", 20,
      Of<Pool2d>(vx::PoolType::MAX, vx::PadType::SAME, Pair{3, 3}, Pair{2, 2}),
      kImage, kQuarter));
  out.push_back(PoolCase("avg_pool", 32,
                         Of<Pool2d>(vx::PoolType::AVG_ANDROID,
                                    vx::PadType::SAME, Pair{3, 3}, Pair{1, 1}),
                         kImage, kImage));
  out.push_back(PoolCase("global_avg_pool", 16,
                         Of<Pool2d>(vx::PoolType::AVG, Pair{7, 7}),
                         kSmallImages, kMeans));
  out.push_back(Softmax());
  return out;
}

}  // namespace tim::bench
