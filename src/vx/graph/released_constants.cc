// Constants that a compiled graph holds as its kernels read them, and only so.
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/page_memory.h"
#include "vx/graph/compiled_graph.h"

namespace tim::vx {
namespace {

using Forms = std::map<Hash128, std::shared_ptr<const ir::PackedForm>>;

// Forms of constants that the plan reads where they were packed: it has no
// memory of others, which devices have a copy of.
Forms FormsIn(const ir::Plan& plan, std::vector<ir::PackedForm> forms) {
  std::set<std::shared_ptr<const std::byte[]>, std::owner_less<>> memory;
  for (const ir::ConstantBlock& block : plan.constants) {
    if (block.data != nullptr) memory.insert(block.data);
  }
  Forms found;
  for (ir::PackedForm& form : forms) {
    // Less than a page lies beside other memory, which stays.
    if (static_cast<int64_t>(form.bytes) < kPageBytes ||
        !memory.contains(form.packed)) {
      continue;
    }
    found.emplace(form.hash,
                  std::make_shared<const ir::PackedForm>(std::move(form)));
  }
  return found;
}

}  // namespace

void CompiledGraph::ReleaseConstants() {
  const Forms forms = FormsIn(plan(), std::exchange(forms_, {}));
  // Records of runs have the graph in every file.
  const bool is_read = record_ != nullptr;
  for (const auto& [tensor, id] : source_.tensors) {
    ConstantStorage* const storage = tensor->constant();
    auto& data = source_.graph.value(id).constant;
    if (storage == nullptr || data == nullptr) continue;
    const auto form = forms.find(storage->hash());
    storage->Settle(form == forms.end() || is_read ? nullptr : form->second,
                    &data);
  }
}

Status CompiledGraph::RestoreConstants() {
  for (const auto& [tensor, id] : source_.tensors) {
    if (tensor->constant() == nullptr) continue;
    TIM_RETURN_IF_ERROR(tensor->constant()->Restore());
  }
  return OkStatus();
}

}  // namespace tim::vx
