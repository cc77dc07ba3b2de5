// Operators in their default layouts, with Transposes where the user's differ.
#ifndef TIM_COMPILER_TRANSPOSES_DEFAULT_LAYOUTS_H_
#define TIM_COMPILER_TRANSPOSES_DEFAULT_LAYOUTS_H_

#include <map>

#include "base/status.h"
#include "compiler/module.h"
#include "ir/permutation.h"

namespace tim::compiler {

/// Infers types and shapes of a graph that Verify has seen.  What layout
/// arguments name (OpSchema::layout_rule) is then Transposes around operators
/// without such arguments, and so is the order in which inputs arrive: those of
/// `arrival` have their axes permuted, by value, against what operators read.
/// Operators that could be decomposed stay one node.
Status InferInDefaultLayouts(
    Module& module, const std::map<ir::ValueId, ir::Permutation>& arrival);

/// A node without operands of `op`, a built-in operator with one attribute.
Result<ir::Node> MakeNode(const ir::OpRegistry& registry, const std::string& op,
                          const std::string& attribute,
                          std::vector<int64_t> value);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_TRANSPOSES_DEFAULT_LAYOUTS_H_
