// Cuts programs at the statements that may be products.
#include "expr/parts.h"

#include <set>
#include <utility>

#include "expr/products.h"
#include "ir/data_type.h"

namespace tim::expr {
namespace {

// Tensors whose content or extents a statement needs.
void AddNeeds(const Program& program, size_t i, std::set<int>* needs) {
  const StatementInfo& info = program.statements[i];
  for (const int node : info.accesses) {
    needs->insert(program.statement(i).nodes[node].index);
  }
  for (const SizeRule& rule : info.sizes) {
    if (rule.tensor >= 0) needs->insert(rule.tensor);
  }
}

bool BindsDimension(const Program& program, int tensor) {
  const int statement = program.tensors[tensor].statement;
  if (statement < 0) return false;
  for (const SizeRule& rule : program.statements[statement].sizes) {
    if (rule.dimension >= 0) return true;
  }
  return false;
}

// Tensors that statements from `first` on need of those before.
std::set<int> NeededFrom(const Program& program, size_t first) {
  std::set<int> needs;
  for (size_t i = first; i < program.statements.size(); ++i) {
    AddNeeds(program, i, &needs);
  }
  if (first == program.statements.size()) return needs;
  for (size_t i = 0; i < first; ++i) {
    const int tensor = program.statements[i].tensor;
    if (BindsDimension(program, tensor)) needs.insert(tensor);
  }
  return needs;
}

// A tensor that is handed over: any type that a tensor may have here, and the
// names of dimensions that were bound to its extents.
void MakeInput(const Program& whole, int number, Program* part) {
  TensorDef& def = part->tensors[number];
  for (int type = 1; type < ir::kDataTypeCount; ++type) {
    def.types.push_back(static_cast<ir::DataType>(type));
  }
  const StatementInfo& info = whole.statements[def.statement];
  for (const SizeRule& rule : info.sizes) {
    Extent extent{.name = "_"};
    if (rule.dimension >= 0) extent.name = whole.dimensions[rule.dimension];
    def.extents.push_back(std::move(extent));
  }
  def.same_float = false;
  def.natural = false;
  def.output = -1;
  def.statement = -1;
}

Part MakePart(const Program& whole, size_t first, size_t last) {
  Part part{.first = first,
            .last = last,
            .program = nullptr,
            .inputs = whole.inputs,
            .outputs = {}};
  auto program = std::make_shared<Program>();
  program->text = whole.text;
  program->dimensions = whole.dimensions;
  program->tensors = whole.tensors;
  program->syntax.attributes = whole.syntax.attributes;
  for (size_t i = first; i < last; ++i) {
    program->syntax.statements.push_back(whole.statement(i));
    program->statements.push_back(whole.statements[i]);
  }
  std::set<int> needs;
  for (size_t i = first; i < last; ++i) AddNeeds(whole, i, &needs);
  const std::set<int> later = NeededFrom(whole, last);
  for (size_t i = 0; i < whole.statements.size(); ++i) {
    const int tensor = whole.statements[i].tensor;
    TensorDef& def = program->tensors[tensor];
    if (i < first) {
      if (!needs.contains(tensor) && !BindsDimension(whole, tensor)) continue;
      MakeInput(whole, tensor, program.get());
      part.inputs.push_back(tensor);
    } else if (i < last && (def.output >= 0 || later.contains(tensor))) {
      def.natural = def.output < 0;
      part.outputs.push_back(tensor);
    }
  }
  // Others are not there.
  for (TensorDef& def : program->tensors) {
    def.input = def.output = def.statement = -1;
  }
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    program->tensors[part.inputs[i]].input = static_cast<int>(i);
  }
  for (size_t i = 0; i < part.outputs.size(); ++i) {
    program->tensors[part.outputs[i]].output = static_cast<int>(i);
  }
  for (size_t i = first; i < last; ++i) {
    program->tensors[whole.statements[i].tensor].statement =
        static_cast<int>(i - first);
  }
  program->inputs = part.inputs;
  program->outputs = part.outputs;
  part.program = std::move(program);
  return part;
}

}  // namespace

std::vector<Part> DivideProgram(const Program& program) {
  std::vector<std::pair<size_t, bool>> starts;
  bool any = false;
  for (size_t i = 0; i < program.statements.size(); ++i) {
    const bool candidate = MayBeProduct(program, i);
    any = any || candidate;
    if (candidate || starts.empty() || starts.back().second) {
      starts.emplace_back(i, candidate);
    }
  }
  std::vector<Part> parts;
  if (!any) return parts;
  for (size_t k = 0; k < starts.size(); ++k) {
    const size_t last =
        k + 1 < starts.size() ? starts[k + 1].first : program.statements.size();
    parts.push_back(MakePart(program, starts[k].first, last));
    parts.back().candidate = starts[k].second;
  }
  return parts;
}

}  // namespace tim::expr
