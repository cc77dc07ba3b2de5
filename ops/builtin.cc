#include "ops/builtin.h"

namespace tim::ops {

const ir::OpRegistry& BuiltinOperators() {
  static const ir::OpRegistry* const registry = [] {
    auto* made = new ir::OpRegistry();
    RegisterAllOperators(*made);
    return made;
  }();
  return *registry;
}

}  // namespace tim::ops
