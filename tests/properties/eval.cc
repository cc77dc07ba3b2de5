// Properties of eval: which memory it reads and writes.
#include <algorithm>

#include "ir/evaluate.h"
#include "tests/properties/properties.h"

namespace tim::testing {
namespace {

constexpr size_t kGuard = 64;

// A tensor between guards.
class Guarded {
 public:
  Guarded(size_t bytes, std::byte guard, std::byte fill)
      : guard_(guard), memory_(bytes + 2 * kGuard, guard) {
    std::fill_n(data(), bytes, fill);
  }

  std::byte* data() { return memory_.data() + kGuard; }
  bool IsIntact() const {
    const auto is_guard = [&](std::byte byte) { return byte == guard_; };
    return std::all_of(memory_.begin(), memory_.begin() + kGuard, is_guard) &&
           std::all_of(memory_.end() - kGuard, memory_.end(), is_guard);
  }
  std::vector<std::byte> Bytes() const {
    return {memory_.begin() + kGuard, memory_.end() - kGuard};
  }

 private:
  std::byte guard_;
  std::vector<std::byte> memory_;
};

struct Pattern {
  std::byte guard;
  std::byte fill;  ///< Of outputs.
};
constexpr Pattern kPatterns[] = {{std::byte{0x7A}, std::byte{0x00}},
                                 {std::byte{0xFA}, std::byte{0xFF}}};

Result<std::vector<TensorData>> EvalBetween(
    const TestNode& node, const std::vector<TensorData>& inputs,
    const Pattern& pattern) {
  const ir::Graph& graph = node.graph;
  std::vector<Guarded> memory;
  const ir::Node& evaluated = graph.node(node.node);
  std::vector<ir::ConstTensor> read;
  memory.reserve(inputs.size() + evaluated.outputs.size());
  for (const ir::ValueId id : evaluated.inputs) {
    read.emplace_back();
    if (id == ir::kNone) continue;
    const ir::Value& value = graph.value(id);
    if (value.constant) {
      read.back() = {&value.desc, value.constant->bytes.data()};
      continue;
    }
    const TensorData& input = inputs[memory.size()];
    memory.emplace_back(input.bytes.size(), pattern.guard, pattern.fill);
    std::copy(input.bytes.begin(), input.bytes.end(), memory.back().data());
    read.back() = {&input.desc, memory.back().data()};
  }
  std::vector<ir::MutableTensor> written;
  for (const ir::ValueId id : evaluated.outputs) {
    const ir::TensorDesc& desc = graph.value(id).desc;
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
    memory.emplace_back(static_cast<size_t>(bytes), pattern.guard,
                        pattern.fill);
    written.push_back({&desc, memory.back().data()});
  }
  TIM_RETURN_IF_ERROR(ir::Evaluate(evaluated, read, written));
  std::vector<TensorData> out;
  for (size_t i = 0; i < memory.size(); ++i) {
    const bool is_input = i < inputs.size();
    const size_t index = is_input ? i : i - inputs.size();
    const char* operand = is_input ? "input " : "output ";
    if (!memory[i].IsIntact()) {
      return InvalidArgument("eval writes outside of ", operand, index);
    }
    if (!is_input) {
      out.push_back({*written[index].desc, memory[i].Bytes()});
    } else if (memory[i].Bytes() != inputs[i].bytes) {
      return InvalidArgument("eval changes ", operand, index);
    }
  }
  return out;
}

// Elements of 4 bits leave the rest of a row as it is.
bool SameElementBits(const TensorData& a, const TensorData& b) {
  return ir::Info(a.desc.type).bits < 8 ? Codes(a) == Codes(b)
                                        : a.bytes == b.bytes;
}

}  // namespace

Status EvalWritesItsOutputs(const Described& described, const NodeCase& node,
                            CaseRng& rng) {
  TIM_ASSIGN_OR_RETURN(const TestNode made, MakeNode(node, described.registry));
  const auto inputs = CaseInputs(node, rng.engine());
  TIM_ASSIGN_OR_RETURN(const auto first,
                       EvalBetween(made, inputs, kPatterns[0]));
  TIM_ASSIGN_OR_RETURN(const auto second,
                       EvalBetween(made, inputs, kPatterns[1]));
  for (size_t i = 0; i < first.size(); ++i) {
    if (SameElementBits(first[i], second[i])) continue;
    return InvalidArgument(
        "eval: output ", i,
        " depends on what it held before or on what lies around the operands");
  }
  return OkStatus();
}

}  // namespace tim::testing
