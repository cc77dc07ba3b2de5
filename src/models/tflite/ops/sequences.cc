// Sequences turned round, slices written into tensors, and sums of segments.
#include <algorithm>
#include <limits>

#include "models/tflite/node.h"
#include "tim/vx/ops/broadcast.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/gather.h"
#include "tim/vx/ops/scatternd.h"
#include "tim/vx/ops/scatternd_onnx_v16.h"
#include "tim/vx/ops/stridedslice.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;
using vx::DataType;
using Scatter = ops::ScatterND_ONNX_V16;

constexpr int64_t kMostRows = int64_t{1} << 24;

// Memory of a constant, before its values are made.
Status SpendInts(Node& node, int64_t count) {
  return node.workspace->Spend(count * static_cast<int64_t>(sizeof(int32_t)));
}

// Numbers of the rows of sequences of `time` steps, in their new order.
Result<HostArray> TurnedRows(Node& node, const std::vector<int64_t>& lengths,
                             int64_t time) {
  const int64_t count = static_cast<int64_t>(lengths.size()) * time;
  TIM_RETURN_IF_ERROR(SpendInts(node, count));
  std::vector<int32_t> rows;
  rows.reserve(static_cast<size_t>(count));
  for (const int64_t length : lengths) {
    if (length < 0 || length > time) {
      return node.Refuse("input 1", "the length ", length, " of sequences of ",
                         time);
    }
    const auto first = static_cast<int64_t>(rows.size());
    for (int64_t step = 0; step < time; ++step) {
      const int64_t from = step < length ? length - 1 - step : step;
      rows.push_back(static_cast<int32_t>(first + from));
    }
  }
  return ArrayOf(rows, {count});
}

// Indices that turn `batch` sequences whose lengths are input 1, made once for
// all trips of a loop.
Result<Value> TurnedIndices(Node& node, int64_t batch, int64_t time) {
  TIM_ASSIGN_OR_RETURN(const auto lengths, node.ConstantInts(1));
  if (static_cast<int64_t>(lengths.size()) != batch || batch * time < 1 ||
      batch * time > kMostRows) {
    return node.Refuse("input 1", lengths.size(), " lengths for ", batch,
                       " sequences of ", time);
  }
  TIM_ASSIGN_OR_RETURN(
      const auto rows,
      node.workspace->Derived(
          node.inputs[1].constant, StrCat("turned ", time),
          [&](const HostArray&) { return TurnedRows(node, lengths, time); }));
  return node.builder().Constant(*rows);
}

Status ReverseSequence(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const auto* options,
                       node.Options<fbs::ReverseSequence>());
  const Value& input = node.inputs[0];
  const int rank = input.rank();
  TIM_ASSIGN_OR_RETURN(const int along,
                       node.Axis("seq_dim", options->sequence_axis(), rank));
  TIM_ASSIGN_OR_RETURN(const int batch,
                       node.Axis("batch_dim", options->batch_axis(), rank));
  if (along == batch) {
    return node.Refuse("seq_dim", "it is batch_dim, ", batch);
  }
  std::vector<int> order = {batch, along};
  for (int i = 0; i < rank; ++i) {
    if (i != batch && i != along) order.push_back(i);
  }
  std::vector<int> back(order.size());
  for (int i = 0; i < rank; ++i) back[static_cast<size_t>(order[i])] = i;
  TIM_ASSIGN_OR_RETURN(
      const Value indices,
      TurnedIndices(node, input.dims[batch], input.dims[along]));
  const int64_t count = indices.ElementCount();
  GraphBuilder& build = node.builder();
  TIM_ASSIGN_OR_RETURN(const Value front, build.Transpose(input, order));
  const Dims flat = {count, input.ElementCount() / count};
  TIM_ASSIGN_OR_RETURN(const Value from, build.Reshape(front, flat));
  TIM_ASSIGN_OR_RETURN(
      const Value turned,
      build.Add<ops::Gather>({from, indices}, node.WantedOf(0, flat), 1, 0));
  TIM_ASSIGN_OR_RETURN(const Value whole, build.Reshape(turned, front.dims));
  return node.SetOutput(0, build.Transpose(whole, back));
}

// Places that an update is written to: its first axes, up to the last one that
// it does not fill, are walked; the others are whole.
struct Placing {
  int64_t axes = 0;
  std::vector<int32_t> rows;  ///< Coordinates within the update, in its order.
  Dims row_dims;              ///< [rows, axes]
  std::vector<int32_t> most;  ///< Greatest begin of each axis.
};

Result<Placing> PlacingOf(Node& node, const Dims& to, const Dims& update) {
  Placing made;
  int64_t count = 1;
  for (size_t i = 0; i < to.size(); ++i) {
    if (update[i] < 1 || update[i] > to[i]) {
      return node.Refuse("input 1", Describe(node.inputs[1]), " for ",
                         Describe(node.inputs[0]));
    }
    made.most.push_back(static_cast<int32_t>(to[i] - update[i]));
    if (update[i] != to[i]) made.axes = static_cast<int64_t>(i) + 1;
  }
  made.axes = std::max<int64_t>(made.axes, 1);
  for (int64_t i = 0; i < made.axes; ++i) count *= update[i];
  if (count > kMostRows) return node.Refuse("input 1", count, " slices");
  TIM_RETURN_IF_ERROR(SpendInts(node, count * made.axes));
  std::vector<int32_t> at(static_cast<size_t>(made.axes), 0);
  for (int64_t row = 0; row < count; ++row) {
    made.rows.insert(made.rows.end(), at.begin(), at.end());
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < update[axis]) break;
      at[axis] = 0;
    }
  }
  made.row_dims = {count, made.axes};
  return made;
}

// Begins are moved so far that the update lies inside.
Result<Value> Coordinates(Node& node, Placing placing) {
  const Value& begin = node.inputs[2];
  const auto width = static_cast<size_t>(placing.axes);
  if (begin.constant != nullptr) {
    TIM_ASSIGN_OR_RETURN(const auto given, node.ConstantInts(2));
    for (size_t i = 0; i < placing.rows.size(); ++i) {
      placing.rows[i] += static_cast<int32_t>(
          std::clamp<int64_t>(given[i % width], 0, placing.most[i % width]));
    }
    return node.builder().ConstantOf(placing.rows, placing.row_dims);
  }
  GraphBuilder& build = node.builder();
  const Wanted wanted = Wanted::Of(DataType::INT32);
  const std::vector<int32_t> zero = {0};
  const std::vector<int32_t> one = {1};
  const std::vector<int32_t> end = {static_cast<int32_t>(width)};
  placing.most.resize(width);
  TIM_ASSIGN_OR_RETURN(
      const Value first,
      build.Add<ops::StridedSlice>({begin}, wanted, zero, end, one, 0, 0, 0));
  TIM_ASSIGN_OR_RETURN(
      const Value low,
      build.Add<ops::Maximum>({first, build.ConstantOf(zero, {1})}, wanted));
  TIM_ASSIGN_OR_RETURN(
      const Value high,
      build.Add<ops::Minimum>(
          {low, build.ConstantOf(placing.most, {placing.axes})}, wanted));
  const Value rows = build.ConstantOf(placing.rows, placing.row_dims);
  return build.Add<ops::Add>({rows, high}, wanted);
}

Status DynamicUpdateSlice(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3));
  const Value& to = node.inputs[0];
  const Value& update = node.inputs[1];
  const Value& begin = node.inputs[2];
  if (to.rank() == 0 || update.rank() != to.rank() ||
      begin.dims != Dims{to.rank()}) {
    return node.Refuse("inputs", Describe(update), " at ", Describe(begin),
                       " of ", Describe(to));
  }
  if (begin.type != DataType::INT32 && begin.type != DataType::INT64) {
    return node.Refuse("input 2", Describe(begin),
                       "; INT32 and INT64 are taken");
  }
  TIM_ASSIGN_OR_RETURN(Placing placing, PlacingOf(node, to.dims, update.dims));
  TIM_ASSIGN_OR_RETURN(const Value coordinates,
                       Coordinates(node, std::move(placing)));
  return node.SetOutput(0,
                        node.builder().Add<Scatter>({to, coordinates, update},
                                                    node.WantedOf(0, to.dims)));
}

// Segment numbers, one for each slice, as coordinates of one element.
Result<Value> SegmentCoordinates(Node& node, const Value& ids) {
  Dims dims = ids.dims;
  dims.push_back(1);
  return node.builder().Reshape(ids, dims);
}

Result<Dims> SegmentDims(Node& node, int64_t segments) {
  const Value& data = node.inputs[0];
  const Value& ids = node.inputs[1];
  const bool fits =
      ids.rank() >= 1 && ids.rank() <= data.rank() &&
      std::equal(ids.dims.begin(), ids.dims.end(), data.dims.begin());
  if (!fits || segments < 1 || segments > INT32_MAX) {
    return node.Refuse("input 1", Describe(ids), " for ", Describe(data),
                       " in ", segments, " segments");
  }
  if (data.quantization.Type() != vx::QuantType::NONE) {
    return node.Refuse("input 0", "it is quantized; plain numbers are taken");
  }
  Dims dims = {segments};
  dims.insert(dims.end(), data.dims.begin() + ids.rank(), data.dims.end());
  return dims;
}

Status SetSums(Node& node, const Dims& dims) {
  TIM_ASSIGN_OR_RETURN(const Value coordinates,
                       SegmentCoordinates(node, node.inputs[1]));
  return node.SetOutput(
      0, node.builder().Add<ops::ScatterND>(
             {coordinates, node.inputs[0]}, node.WantedOf(0, dims),
             std::vector<uint32_t>(GraphShape(dims))));
}

// The number of segments follows from their numbers.
Status SegmentSum(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_RETURN_IF_ERROR(node.ExpectRank(1, 1));
  TIM_ASSIGN_OR_RETURN(const auto ids, node.ConstantInts(1));
  if (ids.empty() || ids[0] < 0 || ids.back() >= INT32_MAX ||
      !std::is_sorted(ids.begin(), ids.end())) {
    return node.Refuse("input 1",
                       "the numbers of segments do not ascend from 0 on");
  }
  TIM_ASSIGN_OR_RETURN(const Dims dims, SegmentDims(node, ids.back() + 1));
  return SetSums(node, dims);
}

// Segments without a slice are 0.
Status UnsortedSum(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3));
  TIM_ASSIGN_OR_RETURN(const int64_t segments, node.ConstantInt(2));
  TIM_ASSIGN_OR_RETURN(const Dims dims, SegmentDims(node, segments));
  return SetSums(node, dims);
}

// Value that a segment begins with.
Result<Value> Neutral(Node& node, Scatter::ReductionType reduction) {
  const DataType type = node.inputs[0].type;
  const auto of = [reduction](auto least, auto most) {
    if (reduction == Scatter::REDUCTION_MAX) return least;
    return reduction == Scatter::REDUCTION_MIN ? most : decltype(least){1};
  };
  using Float = std::numeric_limits<float>;
  using Int = std::numeric_limits<int32_t>;
  if (type == DataType::FLOAT32) {
    return node.builder().ConstantOf<float>({of(Float::lowest(), Float::max())},
                                            {1});
  }
  if (type == DataType::INT32) {
    return node.builder().ConstantOf<int32_t>({of(Int::min(), Int::max())},
                                              {1});
  }
  return node.Refuse("input 0", Describe(node.inputs[0]),
                     "; FLOAT32 and INT32 are taken");
}

// Negative numbers of segments are left out; there they would count from the
// end.
template <Scatter::ReductionType reduction>
Status UnsortedReduction(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3));
  TIM_ASSIGN_OR_RETURN(const int64_t segments, node.ConstantInt(2));
  TIM_ASSIGN_OR_RETURN(const auto listed, node.ConstantInts(1));
  TIM_ASSIGN_OR_RETURN(const Dims dims, SegmentDims(node, segments));
  TIM_RETURN_IF_ERROR(SpendInts(node, static_cast<int64_t>(listed.size())));
  std::vector<int32_t> ids;
  for (const int64_t id : listed) {
    const bool counts = id >= 0 && id < segments;
    ids.push_back(static_cast<int32_t>(counts ? id : segments));
  }
  const Value numbers = node.builder().ConstantOf(ids, node.inputs[1].dims);
  TIM_ASSIGN_OR_RETURN(const Value coordinates,
                       SegmentCoordinates(node, numbers));
  TIM_ASSIGN_OR_RETURN(const Value neutral, Neutral(node, reduction));
  TIM_ASSIGN_OR_RETURN(const Value begun,
                       node.builder().Add<ops::Broadcast>(
                           {neutral}, node.WantedOf(0, dims),
                           std::vector<uint32_t>(GraphShape(dims))));
  return node.SetOutput(
      0, node.builder().Add<Scatter>({begun, coordinates, node.inputs[0]},
                                     node.WantedOf(0, dims), reduction));
}

}  // namespace

void AddSequences(OperatorTable* table) {
  OperatorTable& to = *table;
  to["REVERSE_SEQUENCE"] = ReverseSequence;
  to["DYNAMIC_UPDATE_SLICE"] = DynamicUpdateSlice;
  to["SEGMENT_SUM"] = SegmentSum;
  to["UNSORTED_SEGMENT_SUM"] = UnsortedSum;
  to["UNSORTED_SEGMENT_PROD"] = UnsortedReduction<Scatter::REDUCTION_MUL>;
  to["UNSORTED_SEGMENT_MAX"] = UnsortedReduction<Scatter::REDUCTION_MAX>;
  to["UNSORTED_SEGMENT_MIN"] = UnsortedReduction<Scatter::REDUCTION_MIN>;
}

}  // namespace tim::models::tflite
