#include "vx/user/operand_defines.h"

#include <limits>
#include <string_view>

#include "base/checked_math.h"
#include "base/str_cat.h"
#include "kernels/text/include_directive.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx {
namespace {

// What a program can mention: names may be pasted of parts, and a file may be
// included.
class Mentions {
 public:
  Mentions(const std::string& text, const std::string& options)
      : all_(StrCat(text, "\n", options)),
        includes_(kernels::IncludesFiles(text, options)),
        pastes_(Finds("##")) {}

  /// Whether `prefix` and `name` can be a macro of the program.
  bool operator()(std::string_view prefix, std::string_view name) const {
    return includes_ || (pastes_ && Finds(prefix)) ||
           Finds(StrCat(prefix, name));
  }

 private:
  bool Finds(std::string_view word) const {
    return all_.find(word) != std::string::npos;
  }

  const std::string all_;
  const bool includes_;
  const bool pastes_;
};

// "(x0, x1) ((x0) + 4 * (x1))"; long where an int does not count the elements.
std::string IndexText(const ir::Shape& shape) {
  std::vector<std::string> parameters;
  int64_t elements = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    parameters.push_back(StrCat("x", i));
    elements = CheckedMul(elements, shape[i])
                   .value_or(std::numeric_limits<int64_t>::max());
  }
  const bool wide = elements > std::numeric_limits<int32_t>::max();
  std::string index = "0";
  for (int i = shape.rank() - 1; i >= 0; --i) {
    const bool last = i == shape.rank() - 1;
    const std::string x = StrCat(last && wide ? "(long)" : "", "(x", i, ")");
    index = last ? x : StrCat("(", x, " + ", shape[i], " * ", index, ")");
  }
  return StrCat("(", StrJoin(parameters, ", "), ") (", index, ")");
}

void AddShape(const std::string& name, ir::DataType type,
              const ir::Shape& shape, const Mentions& mentions,
              std::vector<std::string>* defines) {
  if (mentions("TIM_SIZE_", StrCat(name, "_"))) {
    for (int i = 0; i < shape.rank(); ++i) {
      defines->push_back(StrCat("TIM_SIZE_", name, "_", i, " ", shape[i]));
    }
  }
  const bool packed = ir::Info(type).bits == 4;
  if (!packed && mentions("TIM_INDEX_", name)) {
    defines->push_back(StrCat("TIM_INDEX_", name, IndexText(shape)));
  }
}

void AddShape(const std::string& name, const TensorSpec& spec,
              const Mentions& mentions, std::vector<std::string>* defines) {
  const ir::Shape shape(
      std::vector<int64_t>(spec.shape_.begin(), spec.shape_.end()));
  AddShape(name, ToIr(spec.datatype_).value_or(ir::DataType::kUnknown), shape,
           mentions, defines);
}

}  // namespace

std::vector<std::string> OperandDefines(const OperandSpecs& operands,
                                        const CustomMeans& means,
                                        const std::string& text,
                                        const std::string& options) {
  const Mentions mentions(text, options);
  std::vector<std::string> defines;
  for (size_t i = 0; i < operands.inputs.size(); ++i) {
    const std::string name = StrCat("INPUT", i);
    if (means.IsOptional(i) && mentions("TIM_HAS_", name)) {
      defines.push_back(
          StrCat("TIM_HAS_", name, " ", operands.present[i] ? 1 : 0));
    }
    if (!operands.present[i]) continue;
    AddShape(name, operands.inputs[i], mentions, &defines);
  }
  for (size_t i = 0; i < operands.outputs.size(); ++i) {
    AddShape(StrCat("OUTPUT", i), operands.outputs[i], mentions, &defines);
  }
  for (size_t i = 0; i < means.scratch.size(); ++i) {
    const ir::TensorDesc& desc = means.scratch[i].desc;
    AddShape(StrCat("SCRATCH", i), desc.type, desc.shape, mentions, &defines);
  }
  return defines;
}

}  // namespace tim::vx
