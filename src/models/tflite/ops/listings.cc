// Operators whose results list what constants hold, and constants read anew.
#include <algorithm>
#include <cstring>

#include "models/tflite/node.h"
#include "tim/vx/ops/broadcast.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/reduce.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/scatternd_onnx_v16.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;
using vx::DataType;

bool IsPlain(const Value& value) {
  return value.quantization.Type() == vx::QuantType::NONE;
}

// Numbers as a constant of the type that the file gives output `index`.
Status SetInts(Node& node, size_t index, const std::vector<int64_t>& values,
               Dims dims) {
  const DataType type = node.declared[index].type;
  if (type != DataType::INT32 && type != DataType::INT64) {
    return node.Refuse(StrCat("output ", index), Describe(node.declared[index]),
                       "; INT32 and INT64 are taken");
  }
  TIM_RETURN_IF_ERROR(
      node.workspace->Spend(static_cast<int64_t>(values.size()) * 8));
  return node.SetOutput(
      index, node.builder().Cast(
                 node.builder().ConstantOf(values, std::move(dims)), type));
}

// Coordinates of what is not 0, in the order of the elements.
Status Where(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  const Value& input = node.inputs[0];
  if (input.constant == nullptr) {
    return node.Refuse("input 0",
                       "the number of its results depends on the "
                       "values of '",
                       input.name, "'; a constant is taken");
  }
  TIM_ASSIGN_OR_RETURN(const auto values, Floats(*input.constant));
  const auto rank = static_cast<int64_t>(input.rank());
  std::vector<int64_t> found;
  std::vector<int64_t> at(input.dims.size(), 0);
  TIM_RETURN_IF_ERROR(
      node.workspace->Spend(static_cast<int64_t>(values.size()) * rank * 8));
  for (const float value : values) {
    if (value != 0) found.insert(found.end(), at.begin(), at.end());
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < input.dims[axis]) break;
      at[axis] = 0;
    }
  }
  if (rank == 0 || found.empty()) {
    return node.Refuse("input 0", "of ", Describe(input), " none is found");
  }
  const auto rows = static_cast<int64_t>(found.size()) / rank;
  return SetInts(node, 0, found, {rows, rank});
}

// Values in the order in which they come first, and which of them each is.
Status Unique(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1, 2));
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 1));
  if (!IsPlain(node.inputs[0]) || (node.inputs[0].type != DataType::INT32 &&
                                   node.inputs[0].type != DataType::INT64)) {
    return node.Refuse("input 0", Describe(node.inputs[0]),
                       "; INT32 and INT64 are taken");
  }
  TIM_ASSIGN_OR_RETURN(const auto values, node.ConstantInts(0));
  std::map<int64_t, int64_t> places;
  std::vector<int64_t> listed;
  std::vector<int64_t> indices;
  for (const int64_t value : values) {
    const auto [place, is_new] =
        places.emplace(value, static_cast<int64_t>(listed.size()));
    if (is_new) listed.push_back(value);
    indices.push_back(place->second);
  }
  const auto count = static_cast<int64_t>(listed.size());
  TIM_RETURN_IF_ERROR(SetInts(node, 0, listed, {count}));
  return SetInts(node, 1, indices, node.inputs[0].dims);
}

// Inputs: coordinates, extents, values, and what stands elsewhere.
Status SparseToDense(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(4, 4));
  TIM_ASSIGN_OR_RETURN(const Dims dims, node.ConstantInts(1));
  TIM_ASSIGN_OR_RETURN(const auto at, node.ConstantInts(0));
  const auto rank = static_cast<int64_t>(dims.size());
  const Value& indices = node.inputs[0];
  const auto count =
      static_cast<int64_t>(at.size()) / std::max<int64_t>(rank, 1);
  const bool fits = indices.rank() == 2 ? indices.dims == Dims{count, rank}
                                        : indices.rank() < 2 && rank == 1;
  if (!fits || count < 1 || rank > 8 || node.inputs[3].ElementCount() != 1 ||
      (node.inputs[2].ElementCount() != 1 &&
       node.inputs[2].dims != Dims{count})) {
    return node.Refuse("inputs", Describe(indices), " and ",
                       Describe(node.inputs[2]), " in [", StrJoin(dims, ","),
                       "]");
  }
  for (size_t i = 0; i < at.size(); ++i) {
    const int64_t extent = dims[i % dims.size()];
    if (extent >= 1 && extent <= INT32_MAX && at[i] >= 0 && at[i] < extent) {
      continue;
    }
    return node.Refuse("input 0", "coordinate ", at[i], " of extent ", extent);
  }
  GraphBuilder& build = node.builder();
  const auto spread = [&](const Value& value, const Dims& to) {
    return build.Add<ops::Broadcast>({value}, node.WantedOf(0, to),
                                     std::vector<uint32_t>(GraphShape(to)));
  };
  TIM_ASSIGN_OR_RETURN(const Value base, spread(node.inputs[3], dims));
  TIM_ASSIGN_OR_RETURN(const Value places,
                       build.Reshape(indices, {count, rank}));
  TIM_ASSIGN_OR_RETURN(const Value values, spread(node.inputs[2], {count}));
  return node.SetOutput(0, build.Add<ops::ScatterND_ONNX_V16>(
                               {base, places, values}, node.WantedOf(0, dims)));
}

// The same bytes in another type.
Status Bitcast(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  const Value& input = node.inputs[0];
  const DataType type = node.declared[0].type;
  if (!IsPlain(input) || !IsPlain(node.declared[0])) {
    return node.Refuse("input 0", "it is quantized; plain numbers are taken");
  }
  if (type == input.type) return node.SetOutput(0, input);
  if (input.constant == nullptr) {
    return node.Refuse("output 0", "bits of ", Describe(input), " as ",
                       TypeName(type), "; constants are taken");
  }
  const int64_t from = ByteSizeOf(input.type, {1});
  const int64_t to = ByteSizeOf(type, {1});
  Dims dims = input.dims;
  if (from > to) dims.push_back(from / to);
  if (from < to) {
    if (dims.empty() || dims.back() != to / from) {
      return node.Refuse("input 0", Describe(input), " as ", TypeName(type));
    }
    dims.pop_back();
  }
  HostArray array = *input.constant;
  array.type = type;
  array.dims = dims;
  TIM_RETURN_IF_ERROR(CheckWhole(array));
  // Memory that is aligned for a narrow type may not be for a wide one.
  auto copy = std::make_shared<std::vector<int64_t>>(array.bytes / 8 + 1);
  TIM_RETURN_IF_ERROR(node.workspace->Spend(static_cast<int64_t>(array.bytes)));
  if (array.bytes != 0) {
    std::memcpy(copy->data(), array.data.get(), array.bytes);
  }
  array.data = std::shared_ptr<const void>(copy, copy->data());
  return node.SetOutput(0, node.builder().Constant(std::move(array)));
}

// Bits of a that move by b are a / 2^b, rounded down.
Status RightShift(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  if (!IsPlain(node.inputs[0]) || !IsPlain(node.inputs[1]) ||
      node.inputs[0].type == DataType::FLOAT32 ||
      node.inputs[0].type == DataType::FLOAT16) {
    return node.Refuse("inputs", Describe(node.inputs[0]),
                       "; plain integers are taken");
  }
  const int64_t bits = 8 * ByteSizeOf(node.inputs[0].type, {1});
  TIM_ASSIGN_OR_RETURN(const auto shifts, node.ConstantInts(1));
  std::vector<int64_t> divisors;
  for (const int64_t shift : shifts) {
    if (shift < 0 || shift > 30 || bits > 32) {
      return node.Refuse("input 1", Describe(node.inputs[0]), " by ", shift,
                         " bits; 0 to 30 of up to 32 are taken");
    }
    // Shifts by as many bits as a type has and more leave the sign alone.
    divisors.push_back(int64_t{1} << std::min(shift, bits - 1));
  }
  TIM_RETURN_IF_ERROR(
      node.workspace->Spend(static_cast<int64_t>(divisors.size()) * 8));
  const Value by = node.builder().ConstantOf(divisors, node.inputs[1].dims);
  return node.SetOutput(0, node.builder().Add<ops::FloorDiv>(
                               {node.inputs[0], by}, node.WantedOf(0)));
}

// Number of boundaries, which ascend, that are not above the value.
Status Bucketize(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Bucketize>());
  const auto listed = Items(options->boundaries());
  const std::vector<float> boundaries(listed.begin(), listed.end());
  if (boundaries.empty() || boundaries.size() > 1024 ||
      !std::is_sorted(boundaries.begin(), boundaries.end())) {
    return node.Refuse("boundaries", "there are ", boundaries.size(),
                       "; 1 to 1024 that ascend are taken");
  }
  GraphBuilder& build = node.builder();
  const auto count = static_cast<int64_t>(boundaries.size());
  TIM_ASSIGN_OR_RETURN(const Value number,
                       build.Cast(node.inputs[0], DataType::FLOAT32));
  Dims column = number.dims;
  column.push_back(1);
  TIM_ASSIGN_OR_RETURN(const Value numbers, build.Reshape(number, column));
  TIM_ASSIGN_OR_RETURN(const Value reaches,
                       build.Add<ops::GreaterOrEqual>(
                           {numbers, build.ConstantOf(boundaries, {count})},
                           Wanted::Of(DataType::BOOL8)));
  TIM_ASSIGN_OR_RETURN(const Value ones, build.Cast(reaches, DataType::INT32));
  const std::vector<int32_t> fastest = {0};
  return node.SetOutput(
      0, build.Add<ops::ReduceSum>({ones}, node.WantedOf(0, number.dims),
                                   fastest, false));
}

}  // namespace

void AddListings(OperatorTable* table) {
  OperatorTable& to = *table;
  to["WHERE"] = Where;
  to["UNIQUE"] = Unique;
  to["SPARSE_TO_DENSE"] = SparseToDense;
  to["BITCAST"] = Bitcast;
  to["RIGHT_SHIFT"] = RightShift;
  to["BUCKETIZE"] = Bucketize;
}

}  // namespace tim::models::tflite
