// The registry of the library's operators, which files of their own fill.
#include "ops/builtin.h"

#include <atomic>

#include "base/fork/keep_one.h"

namespace tim::ops {

const ir::OpRegistry& BuiltinOperators() {
  static constinit std::atomic<const ir::OpRegistry*> registry = nullptr;
  return KeepOne(registry, [] {
    ir::OpRegistry made;
    RegisterAllOperators(made);
    return made;
  });
}

}  // namespace tim::ops
