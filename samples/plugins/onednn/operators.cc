// The table of operators, and what holds for all of them.
#include "operators.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace tim {
namespace onednn {
namespace {

using tim::plug::Node;

constexpr std::int32_t kMostDimensions = 6;

// The reason why an operand is none for oneDNN; empty: it is one.
std::string OperandRefusal(const std::string& what, const TimTensorDesc* desc) {
  if (desc == nullptr) return what + " is absent";
  if (desc->type != TIM_TYPE_FLOAT32 ||
      desc->quantization != TIM_QUANTIZATION_NONE) {
    return what + " is not float32: codes and other types are not taken";
  }
  if (desc->rank < 1 || desc->rank > kMostDimensions) {
    return what + " has rank " + std::to_string(desc->rank) + ", not 1 to " +
           std::to_string(kMostDimensions);
  }
  for (std::int32_t i = 0; i < desc->rank; ++i) {
    if (desc->dims[i] < 1) return what + " is empty or has an unknown extent";
  }
  return "";
}

std::map<std::string, Operator> MakeTable() {
  std::map<std::string, Operator> table;
  for (const auto& family :
       {Products(), Elementwise(), Windows(), Movements()}) {
    for (const Operator& op : family) table.emplace(op.name, op);
  }
  return table;
}

}  // namespace

const Operator* FindOperator(const std::string& name) {
  static const std::map<std::string, Operator>& table =
      *new std::map<std::string, Operator>(MakeTable());
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

std::string RefusalOf(const Node& node) {
  const Operator* const op = FindOperator(node.op());
  if (op == nullptr) return "it is no operator that this plug-in knows";
  if (node.outputs() != 1) return "it has more than one output";
  const std::uint32_t used =
      op->inputs == 0 ? node.inputs() : std::min(op->inputs, node.inputs());
  for (std::uint32_t i = 0; i < used; ++i) {
    const bool is_optional = op->inputs == 0 && i > 1;
    if (is_optional && node.input(i) == nullptr) continue;
    const std::string reason =
        OperandRefusal("input " + std::to_string(i), node.input(i));
    if (!reason.empty()) return reason;
  }
  const std::string reason = OperandRefusal("the output", node.output(0));
  if (!reason.empty() || op->refusal == nullptr) return reason;
  return op->refusal(node);
}

int AxisOf(std::int64_t axis, std::int32_t rank) {
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return -1;
  return rank - 1 - static_cast<int>(axis);
}

std::int64_t Window::End() const {
  return std::max<std::int64_t>((output - 1) * stride + Span() - input - front,
                                0);
}

bool Window::Fits() const {
  if (kernel < 1 || stride < 1 || dilation < 1 || front < 0 || back < 0) {
    return false;
  }
  const std::int64_t room = input + front + End() - Span();
  return room >= 0 && room / stride + 1 == output;
}

void SetPadding(const Node& node, int axis, Window* window) {
  constexpr std::int64_t kValid = 1;
  constexpr std::int64_t kSame = 2;
  const std::int64_t mode = node.Int("padding", 0);
  const std::vector<std::int64_t> pad = node.Ints("pad");
  if (mode == kSame) {
    const std::int64_t windows =
        (window->input + window->stride - 1) / window->stride;
    const std::int64_t all = std::max<std::int64_t>(
        (windows - 1) * window->stride + window->Span() - window->input, 0);
    window->front = all / 2;
    window->back = all - all / 2;
  } else if (mode != kValid && pad.size() == 4) {
    window->front = pad[static_cast<std::size_t>(2 * axis)];
    window->back = pad[static_cast<std::size_t>(2 * axis + 1)];
  }
}

}  // namespace onednn
}  // namespace tim
