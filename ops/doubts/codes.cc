// Integers without quantization beside quantized operands: a quantization that
// was forgotten makes other numbers, and no error.
#include "ops/doubts/codes.h"

#include <numeric>

namespace tim::ops {
namespace {

struct NamedDesc {
  std::string name;
  const ir::TensorDesc* desc;
};

std::vector<NamedDesc> Named(const ir::NodeView& view,
                             const std::vector<int>& inputs,
                             const std::vector<int>& outputs) {
  std::vector<NamedDesc> all;
  const auto add = [&](const char* what, int index, const auto& descs) {
    if (index < 0 || index >= std::ssize(descs) || !descs[index]) return;
    all.push_back({StrCat(what, index), descs[index]});
  };
  for (const int index : inputs) add("input ", index, view.inputs);
  for (const int index : outputs) add("output ", index, view.outputs);
  return all;
}

bool IsBare(const ir::TensorDesc& desc) {
  return ir::IsInteger(desc.type) && ir::Info(desc.type).bits <= 8 &&
         !desc.quantized();
}

std::vector<int> UpTo(size_t count) {
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

void AddCodesDoubt(const ir::NodeView& view, const std::vector<int>& inputs,
                   const std::vector<int>& outputs, Doubts* doubts) {
  std::string bare;
  const NamedDesc* quantized = nullptr;
  const std::vector<NamedDesc> operands = Named(view, inputs, outputs);
  for (const NamedDesc& operand : operands) {
    if (operand.desc->quantized()) {
      if (quantized == nullptr) quantized = &operand;
    } else if (IsBare(*operand.desc)) {
      bare += StrCat(bare.empty() ? "" : " and ", operand.name, " (",
                     operand.desc->ToString(), ")");
    }
  }
  if (bare.empty() || quantized == nullptr) return;
  doubts->push_back(StrCat(
      bare, " without quantization beside ", quantized->name, " (",
      quantized->desc->ToString(),
      "): codes count as real numbers there; give the quantization that the "
      "codes have, scale 1 and zero point 0 where that is meant"));
}

Doubts AllCodes(const ir::NodeView& view) {
  Doubts doubts;
  AddCodesDoubt(view, UpTo(view.inputs.size()), UpTo(view.outputs.size()),
                &doubts);
  return doubts;
}

Doubts FirstCodes(const ir::NodeView& view) {
  Doubts doubts;
  AddCodesDoubt(view, {0}, {0}, &doubts);
  return doubts;
}

}  // namespace tim::ops
