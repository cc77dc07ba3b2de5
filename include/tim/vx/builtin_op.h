// The base of the operators that the library implements.
#ifndef TIM_VX_BUILTIN_OP_H_
#define TIM_VX_BUILTIN_OP_H_

#include <cstdint>
#include <initializer_list>
#include <memory>

#include "tim/vx/export.h"
#include "tim/vx/operation.h"

namespace tim {
namespace vx {

class TIM_VX_API BuiltinOp : public Operation {
 public:
  /// \param kind the operator's place in the alphabetical list of the graph's
  ///        context; an unknown one fails Compile().
  /// \param in_cnt has no effect.  \param out_cnt has none.
  /// \param layout has none.
  BuiltinOp(Graph* graph, uint32_t kind, int in_cnt = 0, int out_cnt = 0,
            DataLayout layout = DataLayout::ANY);

 protected:
  /// The operator `name` with the attributes that differ from its defaults.
  BuiltinOp(Graph* graph, const char* name,
            std::initializer_list<NamedAttribute> attributes);
  BuiltinOp(const BuiltinOp& original);

  static std::shared_ptr<Operation> AddClone(
      const std::shared_ptr<Graph>& graph, std::shared_ptr<Operation> clone);
};

/// What all operator classes share.  `Op` derives from it, has a static
/// `const char* OpName()` and no data of its own.
template <typename Op>
class BuiltinOpOf : public BuiltinOp {
 public:
  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    // Not make_shared: every source that includes tim/vx/ops.h would compile
    // it once per operator.
    return AddClone(graph, std::unique_ptr<Operation>(
                               new Op(static_cast<const Op&>(*this))));
  }

 protected:
  BuiltinOpOf(Graph* graph, std::initializer_list<NamedAttribute> attributes)
      : BuiltinOp(graph, Op::OpName(), attributes) {}
};

}  // namespace vx
}  // namespace tim

/// The older name.
#define DirectMapOp BuiltinOp

#endif  // TIM_VX_BUILTIN_OP_H_
