// Divides a program into kernels.
#include <algorithm>
#include <set>

#include "expr/kernel_text.h"

namespace tim::expr {
namespace {

using Statements = std::vector<size_t>;

// Values are stored as they are.
bool IsExact(const Binding& binding, size_t i) {
  const Program& program = *binding.program;
  const ValueKind kind = binding.types.nodes[i][program.statement(i).value];
  return binding.types.tensors[program.statements[i].tensor] == TypeOf(kind);
}

bool Reads(const Binding& binding, size_t i, int tensor) {
  const auto& accesses = binding.statements[i].accesses;
  return std::any_of(
      accesses.begin(), accesses.end(),
      [tensor](const Access& access) { return access.tensor == tensor; });
}

bool Joins(const Binding& binding, const Statements& group, size_t i) {
  const Program& program = *binding.program;
  if (program.statement(i).indexed ||
      binding.statements[i].dims != binding.statements[group[0]].dims) {
    return false;
  }
  return std::all_of(group.begin(), group.end(), [&](size_t member) {
    return IsExact(binding, member) ||
           !Reads(binding, i, program.statements[member].tensor);
  });
}

KernelGroup MakeGroup(const Binding& binding, Statements statements) {
  const Program& program = *binding.program;
  KernelGroup group;
  std::set<int> made;
  for (const size_t i : statements) made.insert(program.statements[i].tensor);
  for (const size_t i : statements) {
    for (const Access& access : binding.statements[i].accesses) {
      const int tensor = access.tensor;
      if (!made.contains(tensor) &&
          std::find(group.reads.begin(), group.reads.end(), tensor) ==
              group.reads.end()) {
        group.reads.push_back(tensor);
      }
    }
    const int tensor = program.statements[i].tensor;
    bool wanted = program.tensors[tensor].output >= 0;
    for (size_t j = statements.back() + 1; j < program.statements.size(); ++j) {
      wanted = wanted || Reads(binding, j, tensor);
    }
    if (wanted) group.writes.push_back(tensor);
  }
  group.items = binding.Elements(program.statements[statements[0]].tensor);
  group.statements = std::move(statements);
  return group;
}

}  // namespace

std::vector<KernelGroup> GroupStatements(const Binding& binding) {
  std::vector<Statements> lists;
  for (size_t i = 0; i < binding.statements.size(); ++i) {
    if (!lists.empty() && Joins(binding, lists.back(), i)) {
      lists.back().push_back(i);
    } else {
      lists.push_back({i});
    }
  }
  std::vector<KernelGroup> groups;
  for (Statements& list : lists) {
    KernelGroup group = MakeGroup(binding, std::move(list));
    // Nobody needs what nothing reads.
    if (!group.writes.empty() && group.items > 0) {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

}  // namespace tim::expr
