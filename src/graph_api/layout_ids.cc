// The table of layouts, which only grows: an id is the number of an entry and
// the family of its devices.
#include "graph_api/layout_ids.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fork/keep_one.h"
#include "graph_api/lowering.h"

namespace tim::graph {
namespace {

constexpr int kFamilyBits = 4;

struct LayoutTable {
  std::mutex mutex;
  std::vector<LayoutEntry> entries;
};

LayoutTable& Table() {
  using Owner = std::unique_ptr<LayoutTable>;
  static constinit std::atomic<const Owner*> table = nullptr;
  return *KeepOne(table, [] { return std::make_unique<LayoutTable>(); });
}

bool IsSame(const LayoutEntry& a, const LayoutEntry& b) {
  return a.family == b.family && a.desc.type == b.desc.type &&
         a.desc.shape == b.desc.shape && a.desc.layout == b.desc.layout;
}

size_t IdOf(size_t index, DeviceFamily family) {
  return (index + 1) << kFamilyBits | static_cast<size_t>(family);
}

}  // namespace

Result<size_t> LayoutIdOf(const ir::TensorDesc& desc, DeviceFamily family) {
  LayoutEntry entry{.desc = {.type = desc.type,
                             .shape = desc.shape,
                             .quantization = {},
                             .layout = desc.layout},
                    .family = family};
  TIM_ASSIGN_OR_RETURN(entry.bytes, ir::ByteSize(entry.desc));
  LayoutTable& table = Table();
  const std::lock_guard lock(table.mutex);
  for (size_t i = 0; i < table.entries.size(); ++i) {
    if (IsSame(table.entries[i], entry)) return IdOf(i, family);
  }
  table.entries.push_back(std::move(entry));
  return IdOf(table.entries.size() - 1, family);
}

std::optional<LayoutEntry> FindLayout(size_t id) {
  const size_t number = id >> kFamilyBits;
  LayoutTable& table = Table();
  const std::lock_guard lock(table.mutex);
  if (number == 0 || number > table.entries.size()) return std::nullopt;
  const LayoutEntry& entry = table.entries[number - 1];
  if (IdOf(number - 1, entry.family) != id) return std::nullopt;
  return entry;
}

std::optional<Dims> StridesOf(const LayoutEntry& entry) {
  const ir::Layout& layout = entry.desc.layout;
  if (layout.dense()) return Reversed(ir::DenseStrides(entry.desc.shape));
  if (layout.strided()) return Reversed(layout.strides);
  return std::nullopt;
}

}  // namespace tim::graph
