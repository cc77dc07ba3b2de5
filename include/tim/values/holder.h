// Operations that the library does not know.
#ifndef TIM_VALUES_HOLDER_H_
#define TIM_VALUES_HOLDER_H_

#include <functional>
#include <string>
#include <vector>

#include "tim/export.h"
#include "tim/values/node.h"
#include "tim/values/types.h"
#include "tim/values/value.h"

namespace tim {
namespace values {

/// Computes on the host.  `outputs` has a Plain per output with its spec and no
/// data, which the function puts there.  False, with a text in `error`, and an
/// exception fail the call.  Any thread.
using HolderFunction =
    std::function<bool(const std::vector<Plain>& inputs,
                       std::vector<Plain>* outputs, std::string* error)>;

struct Effects {
  /// Calls are seen from outside in their order: they keep that of the program,
  /// and none is left out.
  bool ordered = false;
  /// Two calls with the same operands may differ.
  bool random = false;
};

/// The operation `name` ("acme.Detect") with these outputs, whose extents may
/// be open where it runs at once.  Without a function it keeps its place in a
/// graph, and compiling that fails.
TIM_API Outputs Holder(const std::string& name,
                       const std::vector<Value>& inputs,
                       const std::vector<Spec>& outputs,
                       HolderFunction function = nullptr, Effects effects = {},
                       const std::vector<Token>& after = {});

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_HOLDER_H_
