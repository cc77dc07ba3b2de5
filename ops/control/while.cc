// While: state = body(state) as long as condition(state), at most max_trips
// times; the last outputs of the body are slices, which scans collect.
#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "ir/evaluate.h"
#include "ir/node_descs.h"
#include "ir/op_registry.h"
#include "ops/control/graphs.h"

namespace tim::ops {
namespace {

constexpr int kMostOperands = 1024;
// Trips that a loop without a limit is taken to make, for estimates.
constexpr double kUsualTrips = 8;

ir::Arity OutputArity(const ir::AttributeMap& attributes) {
  const auto* graph = std::get_if<std::shared_ptr<const ir::Graph>>(
      attributes.Find(ir::kBodyGraph));
  const bool known = graph != nullptr && *graph != nullptr;
  const int count = known ? static_cast<int>((*graph)->outputs().size()) : 1;
  return {count, count};
}

Status CheckAttributes(const ir::InferContext& context) {
  const int64_t trips = context.attributes().Int(ir::kMaxTrips);
  const int64_t scans = context.attributes().Int(ir::kScanOutputs);
  if (scans < 0 || scans + static_cast<int64_t>(context.inputs.size()) !=
                       static_cast<int64_t>(context.outputs.size())) {
    return InvalidArgument("attribute 'scan_outputs' is ", scans, "; with ",
                           context.inputs.size(), " inputs and ",
                           context.outputs.size(),
                           " outputs it must be their difference");
  }
  if (trips < -1 || trips > ir::kMostKernelElements) {
    return InvalidArgument("attribute 'max_trips' is ", trips,
                           ", expected -1 (no limit) or more");
  }
  if (scans > 0 && trips < 1) {
    return InvalidArgument("attribute 'max_trips' is ", trips,
                           "; scans have that many slices, expected >= 1");
  }
  return OkStatus();
}

// Slices along a new axis, the slowest.
Status InferScan(const ir::Value& slice, int64_t trips,
                 ir::InferContext::Output* output) {
  output->desc = slice.desc;
  output->desc.layout = ir::Layout::Dense();
  output->desc.shape = ir::Shape();
  if (!slice.is_scalar && !slice.desc.shape.ranked()) return OkStatus();
  std::vector<int64_t> dims;
  if (!slice.is_scalar) dims = slice.desc.shape.dims();
  const int axis = static_cast<int>(dims.size());
  dims.push_back(trips);
  if (slice.desc.quantization.kind == ir::QuantizationKind::kPerChannel &&
      slice.desc.quantization.axis >= axis) {
    return InvalidArgument("a slice is quantized along axis ",
                           slice.desc.quantization.axis);
  }
  output->desc.shape = ir::Shape(std::move(dims));
  return OkStatus();
}

Status InferWhile(ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(CheckAttributes(context));
  const ir::Graph& condition = GraphOf(context.node, ir::kConditionGraph);
  const ir::Graph& body = GraphOf(context.node, ir::kBodyGraph);
  if (condition.outputs().size() != 1) {
    return InvalidArgument("graph 'condition' has ", condition.outputs().size(),
                           " outputs, expected 1");
  }
  TIM_RETURN_IF_ERROR(CheckCondition("the output of graph 'condition'",
                                     OutputOf(condition, 0).desc));
  const size_t state = context.inputs.size();
  for (size_t i = 0; i < state; ++i) {
    const ir::Value& after = OutputOf(body, i);
    const ir::TensorDesc& before = *context.inputs[i].desc;
    TIM_RETURN_IF_ERROR(
        CheckSame("state", i, "before a trip", before, "after it", after.desc));
    context.outputs[i].desc = before;
    context.outputs[i].desc.layout = ir::Layout::Dense();
    context.outputs[i].is_scalar = context.inputs[i].is_scalar;
  }
  const int64_t trips = context.attributes().Int(ir::kMaxTrips);
  for (size_t i = state; i < context.outputs.size(); ++i) {
    const Status status =
        InferScan(OutputOf(body, i), trips, &context.outputs[i]);
    if (!status.ok()) return status.WithContext(StrCat("output ", i));
  }
  return OkStatus();
}

// State of one trip, and slices.
class Trip {
 public:
  Status Allocate(const ir::Graph& body) {
    buffers_.resize(body.outputs().size());
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const ir::TensorDesc& desc = OutputOf(body, i).desc;
      TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
      buffers_[i].resize(static_cast<size_t>(bytes));
      written_.push_back({&desc, buffers_[i].data()});
      read_.push_back({&desc, buffers_[i].data()});
    }
    return OkStatus();
  }
  std::span<const ir::MutableTensor> written() const { return written_; }
  std::span<const ir::ConstTensor> state(size_t count) const {
    return std::span(read_).first(count);
  }
  const std::vector<std::byte>& bytes(size_t i) const { return buffers_[i]; }

 private:
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<ir::MutableTensor> written_;
  std::vector<ir::ConstTensor> read_;
};

Result<bool> Condition(const ir::Graph& graph,
                       std::span<const ir::ConstTensor> state) {
  uint8_t go = 0;
  const ir::MutableTensor out[] = {{&OutputOf(graph, 0).desc, &go}};
  TIM_RETURN_IF_ERROR(ir::Evaluate(graph, state, out));
  return go != 0;
}

Status ClearScans(const ir::EvalContext& context, size_t first) {
  for (size_t i = first; i < context.outputs.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         ir::ByteSize(*context.outputs[i].desc));
    std::memset(context.outputs[i].data, 0, static_cast<size_t>(bytes));
  }
  return OkStatus();
}

Status EvalWhile(const ir::EvalContext& context) {
  const ir::Graph& condition = GraphOf(context.node, ir::kConditionGraph);
  const ir::Graph& body = GraphOf(context.node, ir::kBodyGraph);
  const int64_t most = context.attributes().Int(ir::kMaxTrips);
  const size_t count = context.inputs.size();
  TIM_RETURN_IF_ERROR(ClearScans(context, count));
  Trip trips[2];
  for (Trip& trip : trips) TIM_RETURN_IF_ERROR(trip.Allocate(body));
  std::span<const ir::ConstTensor> state = context.inputs;
  for (int64_t i = 0; most < 0 || i < most; ++i) {
    TIM_ASSIGN_OR_RETURN(const bool go, Condition(condition, state));
    if (!go) break;
    const Trip& trip = trips[i % 2];
    TIM_RETURN_IF_ERROR(ir::Evaluate(body, state, trip.written()));
    for (size_t scan = count; scan < context.outputs.size(); ++scan) {
      const auto& slice = trip.bytes(scan);
      std::memcpy(static_cast<std::byte*>(context.outputs[scan].data) +
                      static_cast<size_t>(i) * slice.size(),
                  slice.data(), slice.size());
    }
    state = trip.state(count);
  }
  for (size_t i = 0; i < count; ++i) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         ir::ByteSize(*context.outputs[i].desc));
    std::memcpy(context.outputs[i].data, state[i].data,
                static_cast<size_t>(bytes));
  }
  return OkStatus();
}

int64_t WhileMemory(const ir::NodeView& view) {
  const ir::Graph& body = GraphOf(view.node, ir::kBodyGraph);
  int64_t bytes = 0;
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    const auto size = ir::ByteSize(OutputOf(body, i).desc);
    if (size.ok()) bytes += 2 * *size;
  }
  return bytes + std::max(EvalBytesOf(body),
                          EvalBytesOf(GraphOf(view.node, ir::kConditionGraph)));
}

ir::ComputeEstimate WhileCompute(const ir::NodeView& view) {
  const int64_t most = view.node.attributes.Int(ir::kMaxTrips);
  const double trips = most < 0 ? kUsualTrips : static_cast<double>(most);
  const auto condition =
      ir::EstimateOf(GraphOf(view.node, ir::kConditionGraph));
  const auto body = ir::EstimateOf(GraphOf(view.node, ir::kBodyGraph));
  return {
      .flops = trips * (condition.flops + body.flops),
      .bytes_read = trips * (condition.bytes_read + body.bytes_read),
      .bytes_written = trips * (condition.bytes_written + body.bytes_written)};
}

ir::OpSchema WhileSchema() {
  return {
      .name = "While",
      .inputs = {1, kMostOperands},
      .outputs = {1, kMostOperands},
      .output_arity = OutputArity,
      .attributes = {{ir::kConditionGraph, ir::AttributeType::kGraph},
                     {ir::kBodyGraph, ir::AttributeType::kGraph},
                     {ir::kMaxTrips, ir::AttributeType::kInt, int64_t{-1}},
                     {ir::kScanOutputs, ir::AttributeType::kInt, int64_t{0}}},
      .control = ir::ControlKind::kWhile,
      .infer_shapes = InferWhile,
      .eval = EvalWhile,
      .memory_estimate = WhileMemory,
      .compute_estimate = WhileCompute};
}

}  // namespace

TIM_OPERATOR(while) { registry.Add(WhileSchema()); }

}  // namespace tim::ops
