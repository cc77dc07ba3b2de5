// Records of the kinds of operations, by number and by name.
#include <atomic>
#include <utility>

#include "base/fork/keep_one.h"
#include "graph_api/op_def.h"

namespace tim::graph {

/// Written by tools/generate_sources.
void RegisterAllOps(OpTable& table);

const AttributeDef* OpDef::Find(tim_graph_op_attr_t attribute) const {
  for (const AttributeDef& def : attributes) {
    if (def.attribute == attribute) return &def;
  }
  return nullptr;
}

void OpTable::Add(OpDef def) {
  names_[def.name] = def.kind;
  defs_.insert_or_assign(def.kind, std::move(def));
}

const OpDef* OpTable::Find(tim_graph_op_kind_t kind) const {
  const auto found = defs_.find(kind);
  return found == defs_.end() ? nullptr : &found->second;
}

const OpDef* OpTable::Find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : Find(found->second);
}

std::vector<const OpDef*> OpTable::All() const {
  std::vector<const OpDef*> all;
  for (const auto& [kind, def] : defs_) all.push_back(&def);
  return all;
}

const OpTable& BuiltinOps() {
  static constinit std::atomic<const OpTable*> table = nullptr;
  return KeepOne(table, [] {
    OpTable made;
    RegisterAllOps(made);
    return made;
  });
}

const Types& FloatTypes() {
  static constinit std::atomic<const Types*> types = nullptr;
  return KeepOne(types, [] {
    return Types{tim_graph_f32, tim_graph_bf16, tim_graph_f16};
  });
}

}  // namespace tim::graph
