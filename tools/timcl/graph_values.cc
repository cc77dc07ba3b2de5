// Chooses which numbers the inputs of a graph file are filled with.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>

#include "graph_api/op_def.h"
#include "tools/timcl/graph_tensor.h"

namespace tim::tool {
namespace {

using graph::LogicalTensor;
using graph::Op;

/// Numbers for an operand, by its name; `kind` empty: of every kind.
struct Row {
  std::string_view kind;
  std::string_view operand;
  ValueRange range;
};

// Gradients of a square root may be given its result, which is "src/dst".
constexpr Row kRows[] = {
    {"Log", "src", {0.5, 2}},
    {"Sqrt", "src", {0.5, 2}},
    {"SqrtBackward", "src/dst", {0.5, 2}},
    {"Reciprocal", "src", {0.5, 2}},
    {"Divide", "src_1", {0.5, 2}},
    {"Pow", "src", {0.5, 2}},
    {"", "variance", {0.5, 1.5}},
    {"", "gamma", {0.5, 1.5}},
    {"", "scales", {0.01, 0.03}},
    {"", "probability", {0.3, 0.3}},
    {"", "seed", {1, 1000, true}},
    {"", "offset", {0, 1000, true}},
};

/// Codes and counts, by type.
struct TypeRow {
  tim_graph_data_type_t type;
  ValueRange range;
};
constexpr TypeRow kTypes[] = {
    {tim_graph_u8, {0, 255, true}},    {tim_graph_s8, {-128, 127, true}},
    {tim_graph_u4, {0, 15, true}},     {tim_graph_s4, {-8, 7, true}},
    {tim_graph_boolean, {0, 1, true}}, {tim_graph_s32, {-8, 8, true}},
    {tim_graph_s64, {-8, 8, true}},
};

// Zero points near the middle of small codes.
constexpr TypeRow kZeroPoints[] = {
    {tim_graph_u8, {0, 8, true}},  {tim_graph_s8, {-4, 4, true}},
    {tim_graph_u4, {0, 15, true}}, {tim_graph_s4, {-4, 4, true}},
    {tim_graph_s32, {0, 8, true}},
};

template <size_t count>
const TypeRow* FindType(const TypeRow (&rows)[count],
                        tim_graph_data_type_t type) {
  const auto* row =
      std::find_if(std::begin(rows), std::end(rows),
                   [=](const TypeRow& one) { return one.type == type; });
  return row == std::end(rows) ? nullptr : row;
}

std::string_view OperandName(const Op& op, size_t index) {
  const auto& inputs = op.def->inputs;
  if (inputs.empty()) return "";
  return inputs[std::min(index, inputs.size() - 1)].name;
}

// Sums over all but the largest extent stay about as large as what they sum.
ValueRange RangeOfWeights(const LogicalTensor& tensor) {
  double elements = 1, largest = 1;
  for (int axis = 0; axis < tensor.ndims; ++axis) {
    const auto dim = static_cast<double>(tensor.dims[axis]);
    elements *= std::max(dim, 1.0);
    largest = std::max(largest, dim);
  }
  const double most = 1.7 / std::sqrt(elements / largest);
  return {-std::min(most, 1.0), std::min(most, 1.0)};
}

// Narrows `range` to `other`, where they have something in common.
void Narrow(const ValueRange& other, ValueRange* range) {
  const double least = std::max(range->least, other.least);
  const double greatest = std::min(range->greatest, other.greatest);
  range->whole = range->whole || other.whole;
  if (least > greatest) {
    range->least = other.least;
    range->greatest = other.greatest;
  } else {
    range->least = least;
    range->greatest = greatest;
  }
}

/// Demands of a tensor's readers on its numbers.
class Wishes {
 public:
  Wishes(const std::vector<Op>& ops, const LogicalTensor& tensor)
      : ops_(ops), tensor_(tensor) {}

  // Also of what only moves the numbers on.
  void Collect(size_t id) {
    if (!seen_.insert(id).second) return;
    for (const Op& op : ops_) {
      for (size_t i = 0; i < op.inputs.size(); ++i) {
        if (op.inputs[i].id != id) continue;
        Add(op, i);
        if (!op.def->moves_elements) continue;
        for (const LogicalTensor& out : op.outputs) Collect(out.id);
      }
    }
  }

  ValueRange range() const { return range_; }

 private:
  void Add(const Op& op, size_t index) {
    const std::string_view name = OperandName(op, index);
    const TypeRow* const type = FindType(kTypes, tensor_.data_type);
    if (name == "weights" && type == nullptr) {
      Take(RangeOfWeights(tensor_));
    }
    if (name == "zps") {
      const TypeRow* const zero = FindType(kZeroPoints, tensor_.data_type);
      if (zero != nullptr) Take(zero->range);
      return;
    }
    for (const Row& row : kRows) {
      if (row.operand != name) continue;
      if (!row.kind.empty() && row.kind != op.def->name) continue;
      // Numbers below 1 are none of an integer.
      if (type == nullptr || row.range.whole) Take(row.range);
    }
  }

  void Take(const ValueRange& range) {
    if (taken_) {
      Narrow(range, &range_);
    } else {
      range_ = range;
    }
    taken_ = true;
  }

  const std::vector<Op>& ops_;
  const LogicalTensor& tensor_;
  std::set<size_t> seen_;
  ValueRange range_ = {};
  bool taken_ = false;
};

}  // namespace

ValueRange RangeFor(const LogicalTensor& tensor, const std::vector<Op>& ops) {
  Wishes wishes(ops, tensor);
  wishes.Collect(tensor.id);
  ValueRange range = wishes.range();
  const TypeRow* const type = FindType(kTypes, tensor.data_type);
  if (type == nullptr) return range;
  // Numbers that nobody asks for are any code.
  return range.whole ? range : type->range;
}

}  // namespace tim::tool
