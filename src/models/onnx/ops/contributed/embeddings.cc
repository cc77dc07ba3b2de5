// Neighbours of attention in com.microsoft: embeddings, normalisation of sums,
// and positions as rotations.
#include <string>
#include <utility>
#include <vector>

#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/contributed/contributed.h"
#include "models/onnx/ops/normalizations/normalize.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/concat.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/gather.h"
#include "tim/vx/ops/reduce.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

// Rows of a table [count, width] by index.
Result<Value> Rows(GraphBuilder* builder, const Value& table,
                   const Value& indices) {
  if (table.rank() != 2 ||
      (indices.type != DataType::INT32 && indices.type != DataType::INT64)) {
    return InvalidArgument("rows of ", Describe(table), " by ",
                           Describe(indices));
  }
  Dims dims = indices.dims;
  dims.push_back(table.dims[1]);
  return builder->Add<vx::ops::Gather>(
      {table, indices}, Wanted::Of(table.type, std::move(dims)), 1);
}

Result<Value> Sum(GraphBuilder* builder, const Value& x, const Value& y) {
  TIM_ASSIGN_OR_RETURN(Value sum, Binary<vx::ops::Add>(builder, x.type, x, y));
  if (sum.dims == x.dims) return sum;
  return InvalidArgument(Describe(y), " does not broadcast to ", Describe(x));
}

// Operands: input, skip, gamma, beta (not of the simplified form), bias.
Status SkipNormalization(Node& node, bool simplified) {
  const size_t bias = simplified ? 3 : 4;
  TIM_RETURN_IF_ERROR(CheckOperands(node, 3, bias + 1));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"epsilon"}));
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.Has(i)) TIM_RETURN_IF_ERROR(CheckFloat(node, i));
  }
  GraphBuilder* builder = node.builder;
  TIM_ASSIGN_OR_RETURN(const float epsilon, node.Float("epsilon", 1e-12f));
  TIM_ASSIGN_OR_RETURN(Value sum, Sum(builder, node.inputs[0], node.inputs[1]));
  if (node.Has(bias)) {
    TIM_ASSIGN_OR_RETURN(sum, Sum(builder, sum, node.inputs[bias]));
  }
  if (sum.rank() < 1) return InvalidArgument("operand 0 has no axis");
  if (node.Wants(3)) TIM_RETURN_IF_ERROR(node.SetOutput(3, sum));
  const int axis = sum.rank() - 1;
  if (simplified) {
    if (node.Wants(1) || node.Wants(2)) {
      return Unimplemented("outputs 1 and 2, statistics");
    }
    return node.SetOutput(
        0, NormalizeByRms(builder, sum, node.inputs[2], axis, epsilon));
  }
  const bool statistics = node.Wants(1) || node.Wants(2);
  TIM_ASSIGN_OR_RETURN(
      const LayerNormalized made,
      NormalizeLayer(builder, sum, node.inputs[2], OptionalOperand(node, 3),
                     axis, epsilon,
                     statistics ? Statistics::kWanted : Statistics::kNone));
  if (node.Wants(1)) TIM_RETURN_IF_ERROR(node.SetOutput(1, made.mean));
  if (node.Wants(2)) TIM_RETURN_IF_ERROR(node.SetOutput(2, made.inverse));
  return node.SetOutput(0, made.y);
}

Status SkipLayerNormalization(Node& node) {
  return SkipNormalization(node, false);
}
Status SkipSimplifiedLayerNormalization(Node& node) {
  return SkipNormalization(node, true);
}

// Numbers of keys that each batch's mask has; 0 without a mask.
Result<Value> MaskIndex(Node& node) {
  const int64_t batch = node.inputs[0].dims[0];
  GraphBuilder* builder = node.builder;
  if (!node.Has(7)) {
    TIM_ASSIGN_OR_RETURN(const Value zeros,
                         FilledVector(*builder, 0.0f, batch));
    return builder->Cast(zeros, DataType::INT32);
  }
  const Value& mask = node.inputs[7];
  if (mask.dims != node.inputs[0].dims || mask.type != DataType::INT32) {
    return InvalidArgument("operand 7 is ", Describe(mask));
  }
  return builder->Add<vx::ops::ReduceSum>({mask},
                                          Wanted::Of(DataType::INT32, {batch}),
                                          std::vector<int32_t>{0}, false);
}

// Operands: input_ids, segment_ids, word_embedding, position_embedding,
// segment_embedding, gamma, beta, mask, position_ids.
Status EmbedLayerNormalization(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 9));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"epsilon", "mask_index_type"}));
  for (const size_t i : {2, 3, 5, 6}) {
    if (!node.Has(i)) return InvalidArgument("operand ", i, " is missing");
    TIM_RETURN_IF_ERROR(CheckFloat(node, i));
  }
  GraphBuilder* builder = node.builder;
  const Value& ids = node.inputs[0];
  const Value& positions = node.inputs[3];
  if (ids.rank() != 2 || positions.rank() != 2) {
    return InvalidArgument("operands 0 and 3 are ", Describe(ids), " and ",
                           Describe(positions));
  }
  TIM_ASSIGN_OR_RETURN(const float epsilon, node.Float("epsilon", 1e-12f));
  TIM_ASSIGN_OR_RETURN(Value sum, Rows(builder, node.inputs[2], ids));
  Value position;
  if (node.Has(8)) {
    TIM_ASSIGN_OR_RETURN(position, Rows(builder, positions, node.inputs[8]));
  } else {
    TIM_ASSIGN_OR_RETURN(position, Sliced(builder, positions, {0, 0},
                                          {ids.dims[1], positions.dims[1]}));
  }
  TIM_ASSIGN_OR_RETURN(sum, Sum(builder, sum, position));
  if (node.Has(1) != node.Has(4)) {
    return InvalidArgument("operands 1 and 4: segments and their embedding");
  }
  if (node.Has(1)) {
    TIM_ASSIGN_OR_RETURN(const Value segment,
                         Rows(builder, node.inputs[4], node.inputs[1]));
    TIM_ASSIGN_OR_RETURN(sum, Sum(builder, sum, segment));
  }
  if (node.Wants(1)) {
    TIM_RETURN_IF_ERROR(node.SetOutput(1, MaskIndex(node)));
  }
  if (node.Wants(2)) TIM_RETURN_IF_ERROR(node.SetOutput(2, sum));
  TIM_ASSIGN_OR_RETURN(
      const LayerNormalized made,
      NormalizeLayer(builder, sum, node.inputs[5], node.inputs[6], 2, epsilon,
                     Statistics::kNone));
  return node.SetOutput(0, made.y);
}

Result<Value> Joined(GraphBuilder* builder, const std::vector<Value>& parts) {
  Dims dims = parts[0].dims;
  for (size_t i = 1; i < parts.size(); ++i) dims.back() += parts[i].dims.back();
  return builder->Add<vx::ops::Concat>(parts, Wanted::Of(parts[0].type, dims),
                                       uint32_t{0},
                                       static_cast<int>(parts.size()));
}

struct Rotation {
  Value cosine;  ///< [batch or 1, length, 1, half]
  Value sine;
};

Result<Rotation> RotationOf(Node& node, int64_t batch, int64_t length) {
  GraphBuilder* builder = node.builder;
  Value positions = node.inputs[1];
  if (positions.ElementCount() == 1) {
    TIM_ASSIGN_OR_RETURN(const Value indices, CountingVector(*builder, length));
    TIM_ASSIGN_OR_RETURN(const Value offset,
                         builder->Reshape(positions, {1, 1}));
    TIM_ASSIGN_OR_RETURN(
        positions,
        Binary<vx::ops::Add>(builder, DataType::INT32, offset, indices));
  } else if (positions.dims != Dims{batch, length}) {
    return InvalidArgument("operand 1 is ", Describe(positions));
  }
  const auto taken = [&](const Value& table) -> Result<Value> {
    TIM_ASSIGN_OR_RETURN(const Value rows, Rows(builder, table, positions));
    return builder->Reshape(rows,
                            {rows.dims[0], rows.dims[1], 1, rows.dims[2]});
  };
  Rotation rotation;
  TIM_ASSIGN_OR_RETURN(rotation.cosine, taken(node.inputs[2]));
  TIM_ASSIGN_OR_RETURN(rotation.sine, taken(node.inputs[3]));
  return rotation;
}

// x [batch, length, heads, 2 * half] rotated: halves, or pairs of neighbours.
Result<Value> Rotated(GraphBuilder* builder, const Value& x, const Rotation& by,
                      bool pairs) {
  Dims dims = x.dims;
  const int64_t half = dims.back() / 2;
  Dims starts(4, 0), steps(4, 1);
  steps[3] = pairs ? 2 : 1;
  dims.back() = half;
  TIM_ASSIGN_OR_RETURN(const Value a, Sliced(builder, x, starts, dims, steps));
  starts[3] = pairs ? 1 : half;
  TIM_ASSIGN_OR_RETURN(const Value b, Sliced(builder, x, starts, dims, steps));
  const auto product = [&](const Value& value, const Value& factor) {
    return Binary<vx::ops::Multiply>(builder, x.type, value, factor);
  };
  TIM_ASSIGN_OR_RETURN(const Value a_cosine, product(a, by.cosine));
  TIM_ASSIGN_OR_RETURN(const Value b_sine, product(b, by.sine));
  TIM_ASSIGN_OR_RETURN(const Value a_sine, product(a, by.sine));
  TIM_ASSIGN_OR_RETURN(const Value b_cosine, product(b, by.cosine));
  TIM_ASSIGN_OR_RETURN(Value first,
                       Binary<vx::ops::Sub>(builder, x.type, a_cosine, b_sine));
  TIM_ASSIGN_OR_RETURN(Value second,
                       Binary<vx::ops::Add>(builder, x.type, a_sine, b_cosine));
  if (!pairs) return Joined(builder, {first, second});
  dims.push_back(1);
  TIM_ASSIGN_OR_RETURN(first, builder->Reshape(first, dims));
  TIM_ASSIGN_OR_RETURN(second, builder->Reshape(second, dims));
  TIM_ASSIGN_OR_RETURN(const Value joined, Joined(builder, {first, second}));
  return builder->Reshape(joined, x.dims);
}

// Operands: input, position_ids, cos_cache, sin_cache.
Status RotaryEmbedding(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 4, 4));
  TIM_RETURN_IF_ERROR(
      CheckAttributes(node, {"interleaved", "is_packed_batching", "num_heads",
                             "rotary_embedding_dim", "scale"}));
  for (const size_t i : {0, 2, 3}) TIM_RETURN_IF_ERROR(CheckFloat(node, i));
  GraphBuilder* builder = node.builder;
  const Value& x = node.inputs[0];
  const Value& table = node.inputs[2];
  TIM_ASSIGN_OR_RETURN(const int64_t pairs, node.Int("interleaved", 0));
  TIM_ASSIGN_OR_RETURN(const int64_t packed, node.Int("is_packed_batching", 0));
  TIM_ASSIGN_OR_RETURN(const int64_t heads, node.Int("num_heads", 0));
  TIM_ASSIGN_OR_RETURN(const float scale, node.Float("scale", 1.0f));
  if (packed != 0 || scale != 1.0f || (x.rank() != 3 && x.rank() != 4) ||
      table.rank() != 2 || node.inputs[3].dims != table.dims) {
    return Unimplemented("operand 0 ", Describe(x), " with tables ",
                         Describe(table), " and ", Describe(node.inputs[3]),
                         ", or attributes 'is_packed_batching' other than 0 "
                         "or 'scale' other than 1");
  }
  const int64_t turned = 2 * table.dims[1];
  Value parted;
  if (x.rank() == 4) {
    TIM_ASSIGN_OR_RETURN(parted, builder->Transpose(x, {0, 2, 1, 3}));
  } else {
    const int64_t count = heads > 0 ? heads : x.dims[2] / turned;
    if (count < 1 || x.dims[2] % count != 0) {
      return InvalidArgument("operand 0 is ", Describe(x), " in ", count,
                             " heads");
    }
    TIM_ASSIGN_OR_RETURN(
        parted,
        builder->Reshape(x, {x.dims[0], x.dims[1], count, x.dims[2] / count}));
  }
  const int64_t size = parted.dims[3];
  if (turned > size) {
    return InvalidArgument("heads of ", size, " with a rotation of ", turned);
  }
  TIM_ASSIGN_OR_RETURN(const Rotation by,
                       RotationOf(node, parted.dims[0], parted.dims[1]));
  Dims dims = parted.dims;
  dims[3] = turned;
  TIM_ASSIGN_OR_RETURN(Value made, Sliced(builder, parted, {0, 0, 0, 0}, dims));
  TIM_ASSIGN_OR_RETURN(made, Rotated(builder, made, by, pairs != 0));
  if (turned < size) {
    dims[3] = size - turned;
    TIM_ASSIGN_OR_RETURN(const Value rest,
                         Sliced(builder, parted, {0, 0, 0, turned}, dims));
    TIM_ASSIGN_OR_RETURN(made, Joined(builder, {made, rest}));
  }
  if (x.rank() == 4) {
    return node.SetOutput(0, builder->Transpose(made, {0, 2, 1, 3}));
  }
  return node.SetOutput(0, builder->Reshape(made, x.dims));
}

}  // namespace

void AddEmbeddings(OperatorTable* table) {
  constexpr char kDomain[] = "com.microsoft";
  table->Add(kDomain, "SkipLayerNormalization", 1, SkipLayerNormalization);
  table->Add(kDomain, "SkipSimplifiedLayerNormalization", 1,
             SkipSimplifiedLayerNormalization);
  table->Add(kDomain, "EmbedLayerNormalization", 1, EmbedLayerNormalization);
  table->Add(kDomain, "RotaryEmbedding", 1, RotaryEmbedding);
}

}  // namespace tim::models::onnx
