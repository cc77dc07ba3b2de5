// Computes with the few integers that shapes are made of.
#include "models/tflite/fold.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "base/checked_math.h"
#include "models/tflite/slice_plan.h"

namespace tim::models::tflite {
namespace {

constexpr int64_t kMostElements = 1 << 16;

struct Ints {
  std::vector<int64_t> values;
  Dims dims;
};

using MaybeInts = Result<std::optional<Ints>>;

bool IsPlainInteger(const Value& value) {
  switch (value.type) {
    case vx::DataType::BOOL8:
    case vx::DataType::INT32:
    case vx::DataType::INT64:
    case vx::DataType::INT16:
    case vx::DataType::INT8:
    case vx::DataType::UINT8:
      return value.quantization.Type() == vx::QuantType::NONE;
    default:
      return false;
  }
}

// Results in the output's type; nothing where one does not fit.
std::optional<HostArray> InType(const Ints& ints, vx::DataType type) {
  if (type == vx::DataType::INT64) return ArrayOf(ints.values, ints.dims);
  if (type == vx::DataType::BOOL8) {
    std::vector<uint8_t> flags;
    for (const int64_t value : ints.values) flags.push_back(value != 0);
    HostArray array = ArrayOf(flags, ints.dims);
    array.type = type;
    return array;
  }
  if (type != vx::DataType::INT32) return std::nullopt;
  std::vector<int32_t> narrow;
  for (const int64_t value : ints.values) {
    if (value < INT32_MIN || value > INT32_MAX) return std::nullopt;
    narrow.push_back(static_cast<int32_t>(value));
  }
  return ArrayOf(narrow, ints.dims);
}

// Steps through a constant by the strides of `plan`, the last axis first.
Ints Sliced(const Ints& from, const SlicePlan& plan) {
  Ints out;
  out.dims = plan.dims;
  const size_t rank = plan.counts.size();
  std::vector<int64_t> index(rank, 0);
  const int64_t count = std::accumulate(plan.counts.begin(), plan.counts.end(),
                                        int64_t{1}, std::multiplies<>());
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      place = place * from.dims[axis] + plan.begins[axis] +
              index[axis] * plan.strides[axis];
    }
    out.values.push_back(from.values[static_cast<size_t>(place)]);
    for (size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < plan.counts[axis]) break;
      index[axis] = 0;
    }
  }
  return out;
}

// Comparisons, and what is made of their results; nothing: another operator.
std::optional<int64_t> Compared(const std::string& op, int64_t a, int64_t b) {
  if (op == "LESS") return a < b;
  if (op == "LESS_EQUAL") return a <= b;
  if (op == "GREATER") return a > b;
  if (op == "GREATER_EQUAL") return a >= b;
  if (op == "EQUAL") return a == b;
  if (op == "NOT_EQUAL") return a != b;
  if (op == "LOGICAL_AND") return a != 0 && b != 0;
  if (op == "LOGICAL_OR") return a != 0 || b != 0;
  return std::nullopt;
}

// Arithmetic of plain integers, as the operators have it; nothing where one
// overflows or divides by 0.
std::optional<int64_t> Combined(const std::string& op, int64_t a, int64_t b) {
  if (const auto compared = Compared(op, a, b)) return compared;
  if (op == "ADD") return CheckedAdd(a, b);
  if (op == "SUB") {
    return b == INT64_MIN ? std::nullopt : CheckedAdd(a, -b);
  }
  if (op == "MUL") return CheckedMul(a, b);
  if (op == "MINIMUM") return std::min(a, b);
  if (op == "MAXIMUM") return std::max(a, b);
  if (b == 0 || b == INT64_MIN || a == INT64_MIN) return std::nullopt;
  if (op == "DIV") return a / b;
  const int64_t floor = b > 0 ? FloorDiv(a, b) : FloorDiv(-a, -b);
  if (op == "FLOOR_DIV") return floor;
  return a - b * floor;  // FLOOR_MOD
}

MaybeInts FoldBinary(Node& node, const std::vector<Ints>& in) {
  if (in.size() != 2) return std::optional<Ints>();
  const auto dims = BroadcastDims(in[0].dims, in[1].dims);
  if (!dims.ok() || (in[0].values.size() != 1 && in[1].values.size() != 1 &&
                     in[0].dims != in[1].dims)) {
    return std::optional<Ints>();
  }
  Ints out;
  out.dims = *dims;
  const size_t count = std::max(in[0].values.size(), in[1].values.size());
  if (in[0].values.empty() || in[1].values.empty()) {
    return std::optional<Ints>();
  }
  for (size_t i = 0; i < count; ++i) {
    const auto value =
        Combined(node.op, in[0].values[in[0].values.size() == 1 ? 0 : i],
                 in[1].values[in[1].values.size() == 1 ? 0 : i]);
    if (!value) return std::optional<Ints>();
    out.values.push_back(*value);
  }
  return std::optional<Ints>(std::move(out));
}

// Scalars along a new axis, or vectors along theirs.
MaybeInts FoldJoin(Node& node, const std::vector<Ints>& in) {
  Ints out;
  const size_t rank = node.op == "PACK" ? 0 : 1;
  for (const Ints& part : in) {
    if (part.dims.size() != rank ||
        out.values.size() > static_cast<size_t>(kMostElements)) {
      return std::optional<Ints>();
    }
    out.values.insert(out.values.end(), part.values.begin(), part.values.end());
  }
  out.dims = {static_cast<int64_t>(out.values.size())};
  return std::optional<Ints>(std::move(out));
}

MaybeInts FoldGather(Node& node, const std::vector<Ints>& in) {
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Gather>());
  if (in.size() != 2 || in[0].dims.size() != 1 || options->batch_dims() != 0) {
    return std::optional<Ints>();
  }
  Ints out;
  out.dims = in[1].dims;
  for (const int64_t index : in[1].values) {
    if (index < 0 || index >= in[0].dims[0]) return std::optional<Ints>();
    out.values.push_back(in[0].values[static_cast<size_t>(index)]);
  }
  return std::optional<Ints>(std::move(out));
}

MaybeInts FoldReduction(Node& node, const std::vector<Ints>& in) {
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Reducer>());
  if (in.size() != 2 || in[0].dims.size() != 1 || in[1].values.size() != 1 ||
      (in[1].values[0] != 0 && in[1].values[0] != -1) || in[0].values.empty()) {
    return std::optional<Ints>();
  }
  const char* op = node.op == "SUM"           ? "ADD"
                   : node.op == "REDUCE_PROD" ? "MUL"
                   : node.op == "REDUCE_MAX"  ? "MAXIMUM"
                                              : "MINIMUM";
  std::optional<int64_t> sum = in[0].values[0];
  for (size_t i = 1; i < in[0].values.size() && sum; ++i) {
    sum = Combined(op, *sum, in[0].values[i]);
  }
  if (!sum) return std::optional<Ints>();
  Ints out;
  out.values = {*sum};
  if (options->keeps_dims()) out.dims = {1};
  return std::optional<Ints>(std::move(out));
}

MaybeInts FoldSlice(Node& node, const std::vector<Ints>& in) {
  const bool is_strided = node.op == "STRIDED_SLICE";
  if (!is_strided) {
    Dims dims;
    TIM_ASSIGN_OR_RETURN(const bool is_empty, IsEmptySlice(node, &dims));
    if (is_empty) return std::optional<Ints>();
  }
  TIM_ASSIGN_OR_RETURN(const SlicePlan plan,
                       is_strided ? PlanStridedSlice(node) : PlanSlice(node));
  return std::optional<Ints>(Sliced(in[0], plan));
}

MaybeInts FoldRange(Node& node, const std::vector<Ints>& in) {
  for (const Ints& operand : in) {
    if (operand.values.size() != 1) return std::optional<Ints>();
  }
  if (in.size() != 3) return std::optional<Ints>();
  const int64_t delta = in[2].values[0];
  Ints out;
  const auto is_before_end = [&](int64_t at) {
    return delta > 0 ? at < in[1].values[0] : at > in[1].values[0];
  };
  for (std::optional<int64_t> at = in[0].values[0];
       delta != 0 && at && is_before_end(*at); at = CheckedAdd(*at, delta)) {
    if (static_cast<int64_t>(out.values.size()) == kMostElements) {
      return node.Refuse("inputs", "more than ", kMostElements, " elements");
    }
    out.values.push_back(*at);
  }
  if (out.values.empty()) return node.Refuse("inputs", "no element is left");
  out.dims = {static_cast<int64_t>(out.values.size())};
  return std::optional<Ints>(std::move(out));
}

MaybeInts FoldBroadcastArgs(Node&, const std::vector<Ints>& in) {
  if (in.size() != 2) return std::optional<Ints>();
  TIM_ASSIGN_OR_RETURN(const Dims dims,
                       BroadcastDims(in[0].values, in[1].values));
  return std::optional<Ints>(Ints{dims, {static_cast<int64_t>(dims.size())}});
}

MaybeInts FoldSame(Node&, const std::vector<Ints>& in) {
  return std::optional<Ints>(in[0]);
}

MaybeInts FoldNot(Node&, const std::vector<Ints>& in) {
  Ints out = in[0];
  for (int64_t& value : out.values) value = value == 0;
  return std::optional<Ints>(std::move(out));
}

using FoldFunction = MaybeInts (*)(Node&, const std::vector<Ints>&);

struct Entry {
  const char* op;
  FoldFunction fold;
};

constexpr Entry kFolds[] = {
    {"ADD", FoldBinary},
    {"SUB", FoldBinary},
    {"MUL", FoldBinary},
    {"DIV", FoldBinary},
    {"FLOOR_DIV", FoldBinary},
    {"FLOOR_MOD", FoldBinary},
    {"MINIMUM", FoldBinary},
    {"MAXIMUM", FoldBinary},
    {"LESS", FoldBinary},
    {"LESS_EQUAL", FoldBinary},
    {"GREATER", FoldBinary},
    {"GREATER_EQUAL", FoldBinary},
    {"EQUAL", FoldBinary},
    {"NOT_EQUAL", FoldBinary},
    {"LOGICAL_AND", FoldBinary},
    {"LOGICAL_OR", FoldBinary},
    {"LOGICAL_NOT", FoldNot},
    {"PACK", FoldJoin},
    {"CONCATENATION", FoldJoin},
    {"GATHER", FoldGather},
    {"SUM", FoldReduction},
    {"REDUCE_PROD", FoldReduction},
    {"REDUCE_MAX", FoldReduction},
    {"REDUCE_MIN", FoldReduction},
    {"STRIDED_SLICE", FoldSlice},
    {"SLICE", FoldSlice},
    {"RANGE", FoldRange},
    {"BROADCAST_ARGS", FoldBroadcastArgs},
    {"CAST", FoldSame},
};

// An activation would change what it follows.
bool HasActivation(const fbs::Operator& table) {
  const auto is = [&table](fbs::Options type) {
    return table.options_type() == type && table.options() != nullptr;
  };
  fbs::Activation activation = fbs::Activation::NONE;
  if (is(fbs::Options::Add)) {
    activation = table.options_as_Add()->activation();
  } else if (is(fbs::Options::Sub)) {
    activation = table.options_as_Sub()->activation();
  } else if (is(fbs::Options::Mul)) {
    activation = table.options_as_Mul()->activation();
  } else if (is(fbs::Options::Div)) {
    activation = table.options_as_Div()->activation();
  } else if (is(fbs::Options::Concatenation)) {
    activation = table.options_as_Concatenation()->activation();
  }
  return activation != fbs::Activation::NONE;
}

Result<bool> SetInts(Node* node, const Ints& ints) {
  TIM_RETURN_IF_ERROR(node->workspace->Spend(
      static_cast<int64_t>(ints.values.size() * sizeof(int64_t))));
  auto array = InType(ints, node->declared[0].type);
  if (!array) return false;
  TIM_RETURN_IF_ERROR(
      node->SetOutput(0, node->builder().Constant(*std::move(array))));
  return true;
}

Result<bool> FoldShape(Node* node) {
  TIM_RETURN_IF_ERROR(node->Expect(1, 1));
  const Dims& dims = node->inputs[0].dims;
  const auto rank = static_cast<int64_t>(dims.size());
  if (node->op == "RANK") return SetInts(node, {{rank}, {}});
  return SetInts(node, {dims, {rank}});
}

}  // namespace

Result<bool> Fold(Node* node) {
  if (node->op == "SHAPE" || node->op == "RANK") return FoldShape(node);
  const auto* found =
      std::find_if(std::begin(kFolds), std::end(kFolds),
                   [node](const Entry& entry) { return node->op == entry.op; });
  if (found == std::end(kFolds) || node->declared.size() != 1 ||
      node->inputs.empty() || HasActivation(*node->table) ||
      !IsPlainInteger(node->declared[0])) {
    return false;
  }
  std::vector<Ints> operands;
  for (const Value& input : node->inputs) {
    if (input.constant == nullptr || !IsPlainInteger(input) ||
        input.ElementCount() > kMostElements) {
      return false;
    }
    TIM_ASSIGN_OR_RETURN(auto values, Integers(*input.constant));
    operands.push_back({std::move(values), input.dims});
  }
  TIM_ASSIGN_OR_RETURN(const auto folded, found->fold(*node, operands));
  if (!folded) return false;
  return SetInts(node, *folded);
}

}  // namespace tim::models::tflite
