// Counts the functions that run for each operation, in this process.
#include "vx/user/shown_specs.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "base/fork/per_process.h"

namespace tim::vx {
namespace {

struct SpecsInUse {
  std::mutex mutex;
  std::map<const OpImpl*, std::vector<OperandSpecs*>> all;
};

constinit GlobalPerProcess<SpecsInUse> g_in_use;

}  // namespace

ShownSpecs::ShownSpecs(OpImpl& impl, OperandSpecs& specs, Hook hook)
    : impl_(impl), specs_(specs) {
  SpecsInUse& in_use = g_in_use.Get();
  const std::lock_guard lock(in_use.mutex);
  std::vector<OperandSpecs*>& all = in_use.all[&impl_];
  if (std::find(all.begin(), all.end(), &specs_) == all.end()) {
    specs_.hook = hook;
  }
  all.push_back(&specs_);
  Show(&specs_);
}

// A process that was forked meanwhile may count none of them.
ShownSpecs::~ShownSpecs() {
  SpecsInUse& in_use = g_in_use.Get();
  const std::lock_guard lock(in_use.mutex);
  std::vector<OperandSpecs*>& all = in_use.all[&impl_];
  const auto own = std::find(all.begin(), all.end(), &specs_);
  if (own != all.end()) all.erase(own);
  Show(all.empty() ? nullptr : all.back());
  if (all.empty()) in_use.all.erase(&impl_);
}

// A pointer that others read at this time is not written.
void ShownSpecs::Show(OperandSpecs* specs) {
  if (impl_.specs != specs) impl_.specs = specs;
}

}  // namespace tim::vx
