// Attention and MultiHeadAttention of com.microsoft, without a past.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/contributed/contributed.h"
#include "models/onnx/ops/normalizations/normalize.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/products/product.h"
#include "tim/vx/ops/concat.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/logical.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/select.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

// Extents of attention.
struct Extents {
  int64_t batch = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t heads = 0;
};

// Addends of the scores, [batch or 1, heads or 1, queries or 1, keys].
struct Masks {
  float filter = -10000.0f;
  std::vector<Value> addends;
};

// 0 where `kept`, else the filter.
Result<Value> Filtered(GraphBuilder* builder, const Value& kept, float filter) {
  return builder->Add<vx::ops::Select>(
      {kept, ScalarOf(*builder, 0.0f), ScalarOf(*builder, filter)},
      Wanted::Of(DataType::FLOAT32, kept.dims));
}

// Keys from `first` on, where it is there, and below `end`: [batch] each.
Result<Value> KeysBetween(GraphBuilder* builder, const Value& first,
                          const Value& end, const Extents& extents) {
  TIM_ASSIGN_OR_RETURN(const Value indices,
                       CountingVector(*builder, extents.keys));
  const Dims column = {extents.batch, 1, 1, 1};
  TIM_ASSIGN_OR_RETURN(const Value below, builder->Reshape(end, column));
  TIM_ASSIGN_OR_RETURN(
      const Value kept,
      Binary<vx::ops::Less>(builder, DataType::BOOL8, indices, below));
  if (first.IsAbsent()) return kept;
  TIM_ASSIGN_OR_RETURN(const Value from, builder->Reshape(first, column));
  TIM_ASSIGN_OR_RETURN(
      const Value behind,
      Binary<vx::ops::GreaterOrEqual>(builder, DataType::BOOL8, indices, from));
  return Binary<vx::ops::LogicalAnd>(builder, DataType::BOOL8, kept, behind);
}

// A mask as exporters of BERT write it: lengths [batch], ends and beginnings
// [2 * batch], or a flag for each key, of all queries or of each.
Result<Value> KeptKeys(GraphBuilder* builder, const Value& mask,
                       const Extents& extents) {
  const int64_t batch = extents.batch;
  if (mask.type != DataType::INT32 && mask.type != DataType::INT64) {
    return Unimplemented("a mask ", Describe(mask), ", int32 is taken");
  }
  if (mask.dims == Dims{batch}) {
    return KeysBetween(builder, {}, mask, extents);
  }
  if (mask.dims == Dims{2 * batch}) {
    TIM_ASSIGN_OR_RETURN(const Value end, Sliced(builder, mask, {0}, {batch}));
    TIM_ASSIGN_OR_RETURN(const Value first,
                         Sliced(builder, mask, {batch}, {batch}));
    return KeysBetween(builder, first, end, extents);
  }
  Dims dims;
  if (mask.dims == Dims{batch, extents.keys}) {
    dims = {batch, 1, 1, extents.keys};
  } else if (mask.dims == Dims{batch, extents.queries, extents.keys}) {
    dims = {batch, 1, extents.queries, extents.keys};
  } else {
    return Unimplemented("a mask ", Describe(mask), ", taken are [", batch,
                         "], [", 2 * batch, "], [", batch, ",", extents.keys,
                         "] and [", batch, ",", extents.queries, ",",
                         extents.keys, "]");
  }
  TIM_ASSIGN_OR_RETURN(const Value flags, builder->Reshape(mask, dims));
  return Binary<vx::ops::Greater>(builder, DataType::BOOL8, flags,
                                  builder->ConstantOf<int32_t>({0}, {}));
}

// Later keys do not count.
Result<Value> CausalMask(const GraphBuilder& builder, float filter,
                         const Extents& extents) {
  TIM_ASSIGN_OR_RETURN(const int64_t count,
                       Product({extents.queries, extents.keys}, 0, 2));
  TIM_ASSIGN_OR_RETURN(const Value zeros, FilledVector(builder, 0.0f, count));
  TIM_ASSIGN_OR_RETURN(std::vector<float> mask, Floats(*zeros.constant));
  for (int64_t query = 0; query < extents.queries; ++query) {
    for (int64_t key = query + 1; key < extents.keys; ++key) {
      mask[query * extents.keys + key] = filter;
    }
  }
  return builder.ConstantOf(mask, {1, 1, extents.queries, extents.keys});
}

Result<Masks> MasksOf(const Node& node, size_t mask, size_t bias,
                      const Extents& extents) {
  Masks masks;
  TIM_ASSIGN_OR_RETURN(masks.filter,
                       node.Float("mask_filter_value", -10000.0f));
  TIM_ASSIGN_OR_RETURN(const int64_t causal, node.Int("unidirectional", 0));
  if (node.Has(mask)) {
    TIM_ASSIGN_OR_RETURN(const Value kept,
                         KeptKeys(node.builder, node.inputs[mask], extents));
    TIM_ASSIGN_OR_RETURN(Value filtered,
                         Filtered(node.builder, kept, masks.filter));
    masks.addends.push_back(std::move(filtered));
  }
  if (causal != 0) {
    TIM_ASSIGN_OR_RETURN(Value mask_of_order,
                         CausalMask(*node.builder, masks.filter, extents));
    masks.addends.push_back(std::move(mask_of_order));
  }
  if (node.Has(bias)) {
    TIM_RETURN_IF_ERROR(CheckFloat(node, bias));
    masks.addends.push_back(node.inputs[bias]);
  }
  return masks;
}

// [batch, length, heads * size] as [batch, heads, length, size].
Result<Value> ByHeads(GraphBuilder* builder, const Value& x, int64_t heads) {
  TIM_ASSIGN_OR_RETURN(
      const Value parted,
      builder->Reshape(x, {x.dims[0], x.dims[1], heads, x.dims[2] / heads}));
  return builder->Transpose(parted, {0, 2, 1, 3});
}

// softmax(q * k^T * scale + masks) * v, heads joined again.
Result<Value> Attend(GraphBuilder* builder, const Value& q, const Value& k,
                     const Value& v, float scale, const Masks& masks) {
  TIM_ASSIGN_OR_RETURN(
      Value scores,
      Multiplied(builder, q, k, {.transpose_b = true}, Wanted::Of(q.type)));
  if (scale == 0.0f) scale = 1.0f / std::sqrt(static_cast<float>(q.dims[3]));
  TIM_ASSIGN_OR_RETURN(scores, Scaled(builder, scores, scale));
  const Dims dims = scores.dims;
  for (const Value& addend : masks.addends) {
    TIM_ASSIGN_OR_RETURN(scores,
                         Binary<vx::ops::Add>(builder, q.type, scores, addend));
    if (scores.dims != dims) {
      return InvalidArgument("a mask or bias ", Describe(addend),
                             " for scores [", StrJoin(dims, ","), "]");
    }
  }
  TIM_ASSIGN_OR_RETURN(scores, SoftmaxAlong(builder, scores, 3));
  TIM_ASSIGN_OR_RETURN(Value made,
                       Multiplied(builder, scores, v, {}, Wanted::Of(q.type)));
  TIM_ASSIGN_OR_RETURN(made, builder->Transpose(made, {0, 2, 1, 3}));
  return builder->Reshape(made, {dims[0], dims[2], v.dims[1] * v.dims[3]});
}

Result<int64_t> HeadsOf(const Node& node) {
  TIM_ASSIGN_OR_RETURN(const int64_t heads, node.Int("num_heads", 0));
  if (heads >= 1) return heads;
  return InvalidArgument("attribute 'num_heads' is ", heads,
                         ", expected at least 1");
}

Status CheckZero(const Node& node, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    TIM_ASSIGN_OR_RETURN(const int64_t value, node.Int(name, 0));
    if (value != 0) {
      return Unimplemented("attribute '", name, "' is ", value, ", taken is 0");
    }
  }
  return OkStatus();
}

// Widths of queries, keys and values in the joint weights of Attention.
Result<Dims> WidthsOf(const Node& node, int64_t total, int64_t heads) {
  TIM_ASSIGN_OR_RETURN(const Dims widths,
                       node.Ints("qkv_hidden_sizes", Dims(3, total / 3)));
  if (widths.size() != 3 || widths[0] != widths[1] || widths[0] < 1 ||
      widths[2] < 1 || widths[0] > total || widths[2] > total ||
      widths[0] + widths[1] + widths[2] != total || widths[0] % heads != 0 ||
      widths[2] % heads != 0) {
    return InvalidArgument("widths of queries, keys and values that are not ",
                           total, " in ", heads, " heads");
  }
  return widths;
}

// Keys and values of all heads, [2, batch, heads, length, size].
Result<Value> Present(GraphBuilder* builder, const Value& k, const Value& v) {
  if (k.dims != v.dims) {
    return Unimplemented("output 1 of keys ", Describe(k), " and values ",
                         Describe(v));
  }
  Dims dims = k.dims;
  dims.insert(dims.begin(), 1);
  TIM_ASSIGN_OR_RETURN(const Value keys, builder->Reshape(k, dims));
  TIM_ASSIGN_OR_RETURN(const Value values, builder->Reshape(v, dims));
  dims[0] = 2;
  return builder->Add<vx::ops::Concat>({keys, values}, Wanted::Of(k.type, dims),
                                       uint32_t{4}, 2);
}

// Operands: input [batch, length, width], weights [width, q + k + v], bias,
// mask, past, bias of the scores.
Status Attention(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 6));
  TIM_RETURN_IF_ERROR(
      CheckAttributes(node, {"do_rotary", "mask_filter_value", "num_heads",
                             "past_present_share_buffer", "qkv_hidden_sizes",
                             "scale", "unidirectional"}));
  TIM_RETURN_IF_ERROR(
      CheckZero(node, {"do_rotary", "past_present_share_buffer"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 1));
  if (node.Has(4)) return Unimplemented("operand 4, past");
  GraphBuilder* builder = node.builder;
  const Value& x = node.inputs[0];
  const Value& weights = node.inputs[1];
  if (x.rank() != 3 || weights.rank() != 2) {
    return InvalidArgument("operands ", Describe(x), " and ",
                           Describe(weights));
  }
  TIM_ASSIGN_OR_RETURN(const int64_t heads, HeadsOf(node));
  TIM_ASSIGN_OR_RETURN(const Dims widths,
                       WidthsOf(node, weights.dims[1], heads));
  TIM_ASSIGN_OR_RETURN(const float scale, node.Float("scale", 0.0f));
  const Extents extents = {x.dims[0], x.dims[1], x.dims[1], heads};
  TIM_ASSIGN_OR_RETURN(const Value joint,
                       Multiplied(builder, x, weights, {}, Wanted::Of(x.type),
                                  OptionalOperand(node, 2)));
  std::vector<Value> parts;
  int64_t begin = 0;
  for (const int64_t width : widths) {
    TIM_ASSIGN_OR_RETURN(
        const Value part,
        Sliced(builder, joint, {0, 0, begin}, {x.dims[0], x.dims[1], width}));
    TIM_ASSIGN_OR_RETURN(Value by_heads, ByHeads(builder, part, heads));
    parts.push_back(std::move(by_heads));
    begin += width;
  }
  TIM_ASSIGN_OR_RETURN(const Masks masks, MasksOf(node, 3, 5, extents));
  if (node.Wants(1)) {
    TIM_RETURN_IF_ERROR(
        node.SetOutput(1, Present(builder, parts[1], parts[2])));
  }
  return node.SetOutput(
      0, Attend(builder, parts[0], parts[1], parts[2], scale, masks));
}

// An operand of MultiHeadAttention: [batch, length, width], to which its part
// of the bias is added, or [batch, heads, length, size].
Result<Value> HeadsOfOperand(Node& node, size_t index, int64_t heads,
                             int64_t* bias_begin) {
  Value x = node.inputs[index];
  TIM_RETURN_IF_ERROR(CheckFloat(node, index));
  if (x.rank() == 4 && x.dims[1] == heads && index > 0) return x;
  if (x.rank() != 3 || x.dims[2] % heads != 0) {
    return Unimplemented("operand ", index, " is ", Describe(x),
                         ", three axes are taken, or four of keys and values");
  }
  if (node.Has(3)) {
    const int64_t width = x.dims[2];
    if (node.inputs[3].rank() != 1) {
      return InvalidArgument("operand 3 is ", Describe(node.inputs[3]));
    }
    TIM_ASSIGN_OR_RETURN(const Value bias, Sliced(node.builder, node.inputs[3],
                                                  {*bias_begin}, {width}));
    *bias_begin += width;
    TIM_ASSIGN_OR_RETURN(x,
                         Binary<vx::ops::Add>(node.builder, x.type, x, bias));
  }
  return ByHeads(node.builder, x, heads);
}

// Operands: query, key, value, bias, key_padding_mask, bias of the scores.
Status MultiHeadAttention(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 3, 6));
  TIM_RETURN_IF_ERROR(CheckAttributes(
      node, {"mask_filter_value", "num_heads", "scale", "unidirectional"}));
  TIM_ASSIGN_OR_RETURN(const int64_t heads, HeadsOf(node));
  TIM_ASSIGN_OR_RETURN(const float scale, node.Float("scale", 0.0f));
  std::vector<Value> parts;
  int64_t bias_begin = 0;
  for (size_t i = 0; i < 3; ++i) {
    TIM_ASSIGN_OR_RETURN(Value part,
                         HeadsOfOperand(node, i, heads, &bias_begin));
    parts.push_back(std::move(part));
  }
  const Dims& q = parts[0].dims;
  const Dims& k = parts[1].dims;
  if (k[0] != q[0] || k[3] != q[3] || parts[2].dims[0] != q[0] ||
      parts[2].dims[2] != k[2]) {
    return InvalidArgument("heads of queries ", Describe(parts[0]), ", keys ",
                           Describe(parts[1]), " and values ",
                           Describe(parts[2]));
  }
  const Extents extents = {q[0], q[2], k[2], heads};
  TIM_ASSIGN_OR_RETURN(const Masks masks, MasksOf(node, 4, 5, extents));
  for (size_t i = 1; i < 3; ++i) {
    if (node.Wants(i)) TIM_RETURN_IF_ERROR(node.SetOutput(i, parts[i]));
  }
  return node.SetOutput(
      0, Attend(node.builder, parts[0], parts[1], parts[2], scale, masks));
}

}  // namespace

void AddAttention(OperatorTable* table) {
  table->Add("com.microsoft", "Attention", 1, Attention);
  table->Add("com.microsoft", "MultiHeadAttention", 1, MultiHeadAttention);
}

}  // namespace tim::models::onnx
