// Keeps the kinds that were registered.  Readers take no lock: a record that
// has its place stays there.
#include "graph_api/extended_ops.h"

#include <array>
#include <atomic>
#include <charconv>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "graph_api/extended_op_def.h"
#include "graph_api/extended_operator.h"
#include "ops/registered.h"

namespace tim::graph {
namespace {

struct Entry {
  std::shared_ptr<const ExtendedOp> op;
  OpDef def;
};

constexpr size_t kMostEntries = 4096;
constinit std::array<std::atomic<const Entry*>, kMostEntries> entries = {};
constinit std::atomic<size_t> count = 0;
constinit std::mutex registration;

const Entry* At(size_t index) {
  return entries[index].load(std::memory_order_acquire);
}

const Entry* Find(std::string_view domain, std::string_view name, int version) {
  const Entry* newest = nullptr;
  const size_t known = count.load(std::memory_order_acquire);
  for (size_t i = 0; i < known; ++i) {
    const Entry* const entry = At(i);
    const ExtendedOp& op = *entry->op;
    if (op.name != name || op.domain != domain) continue;
    if (op.version == version) return entry;
    if (version == 0 &&
        (newest == nullptr || newest->op->version < op.version)) {
      newest = entry;
    }
  }
  return newest;
}

}  // namespace

Result<tim_graph_op_kind_t> RegisterExtendedOp(ExtendedOp op) {
  const std::lock_guard lock(registration);
  if (Find(op.domain, op.name, op.version) != nullptr) {
    return InvalidArgument(op.Key(),
                           " is registered already; take another name or "
                           "version");
  }
  const size_t index = count.load(std::memory_order_relaxed);
  if (index == kMostEntries) {
    return Unimplemented(op.Key(), " is one operation too many; at most ",
                         kMostEntries, " can be registered");
  }
  op.kind = static_cast<tim_graph_op_kind_t>(kFirstExtendedKind +
                                             static_cast<int>(index));
  auto entry = std::make_unique<Entry>();
  entry->op = std::make_shared<const ExtendedOp>(std::move(op));
  entry->def = RecordOf(entry->op);
  ops::RegisterOperators(entry->op->Name(),
                         [kept = entry->op](ir::OpRegistry& registry) {
                           AddOperators(kept, &registry);
                         });
  const tim_graph_op_kind_t kind = entry->op->kind;
  entries[index].store(entry.release(), std::memory_order_release);
  count.store(index + 1, std::memory_order_release);
  return kind;
}

const OpDef* FindExtendedOp(tim_graph_op_kind_t kind) {
  const int index = static_cast<int>(kind) - kFirstExtendedKind;
  if (index < 0 || static_cast<size_t>(index) >= kMostEntries) return nullptr;
  const Entry* const entry = At(static_cast<size_t>(index));
  return entry != nullptr ? &entry->def : nullptr;
}

const OpDef* FindExtendedOp(std::string_view domain, std::string_view name,
                            int version) {
  const Entry* const entry = Find(domain, name, version);
  return entry != nullptr ? &entry->def : nullptr;
}

const OpDef* FindOpNamed(std::string_view name) {
  if (const OpDef* const def = BuiltinOps().Find(name)) return def;
  int version = 0;
  if (const size_t at = name.find('@'); at != std::string_view::npos) {
    const char* const end = name.data() + name.size();
    const auto [stop, error] =
        std::from_chars(name.data() + at + 1, end, version);
    if (error != std::errc() || stop != end || version < 1) return nullptr;
    name = name.substr(0, at);
  }
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return nullptr;
  return FindExtendedOp(name.substr(0, dot), name.substr(dot + 1), version);
}

}  // namespace tim::graph
