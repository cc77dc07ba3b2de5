// Puts numbers into a program: offsets of accesses, loops over index variables.
#include "expr/binding.h"

#include <algorithm>
#include <utility>

#include "base/checked_math.h"

namespace tim::expr {
namespace {

Status Overflow() { return InvalidArgument("an index overflows 64 bits"); }

// sum of indices[axis] * stride of the axis
Status SetOffset(const Dims& dims, Access* access) {
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    const auto sum = Add(access->offset, access->indices[axis], stride);
    if (!sum) return Overflow();
    access->offset = *sum;
    stride *= dims[axis];
  }
  return OkStatus();
}

// Accesses of an element-wise statement: the output's axes, aligned at the
// last one, are the variables.
Status BindBroadcast(const Binding& binding, size_t i, BoundStatement* bound) {
  const Statement& statement = binding.program->statement(i);
  for (const int node : binding.program->statements[i].accesses) {
    Access access{.node = node, .tensor = statement.nodes[node].index};
    const Dims& dims = binding.dims[access.tensor];
    const size_t before = bound->dims.size() - dims.size();
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      access.indices.push_back(
          dims[axis] == 1 ? Affine()
                          : VariableAlone(static_cast<int>(before + axis)));
    }
    TIM_RETURN_IF_ERROR(SetOffset(dims, &access));
    bound->accesses.push_back(std::move(access));
  }
  for (const int64_t extent : bound->dims) {
    bound->flops = bound->flops * static_cast<double>(extent);
  }
  return OkStatus();
}

Result<Affine> Known(const Binding& binding, const Statement& statement,
                     int root) {
  TIM_ASSIGN_OR_RETURN(const std::optional<Affine> index,
                       AffineOf(statement, root, binding.numbers));
  if (!index) return InvalidArgument("an extent is not known");
  return *index;
}

Status BindRows(const Binding& binding, size_t i, BoundStatement* bound) {
  const Statement& statement = binding.program->statement(i);
  for (size_t v = 0; v < bound->dims.size(); ++v) {
    bound->rows.push_back({VariableAlone(static_cast<int>(v)), bound->dims[v]});
  }
  for (const int node : binding.program->statements[i].accesses) {
    Access access{.node = node, .tensor = statement.nodes[node].index};
    const Dims& dims = binding.dims[access.tensor];
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      TIM_ASSIGN_OR_RETURN(
          const Affine index,
          Known(binding, statement, statement.nodes[node].operands[axis]));
      access.indices.push_back(index);
      const Row row{index, dims[axis]};
      if (std::find(bound->rows.begin(), bound->rows.end(), row) ==
          bound->rows.end()) {
        bound->rows.push_back(row);
      }
    }
    TIM_RETURN_IF_ERROR(SetOffset(dims, &access));
    bound->accesses.push_back(std::move(access));
  }
  for (const Constraint& constraint : statement.constraints) {
    TIM_ASSIGN_OR_RETURN(const Affine left,
                         Known(binding, statement, constraint.left));
    TIM_ASSIGN_OR_RETURN(const Affine right,
                         Known(binding, statement, constraint.right));
    if (!constraint.equal) {
      bound->rows.push_back({left, right.constant});
      continue;
    }
    const std::optional<Affine> difference = Add(left, right, -1);
    if (!difference) return Overflow();
    bound->rows.push_back({*difference, 1});
  }
  return OkStatus();
}

Status BindIndexed(const Binding& binding, size_t i, BoundStatement* bound) {
  TIM_RETURN_IF_ERROR(BindRows(binding, i, bound));
  const int count =
      static_cast<int>(binding.program->statements[i].variables.size());
  const int left = static_cast<int>(bound->dims.size());
  TIM_ASSIGN_OR_RETURN(std::vector<Range> ranges,
                       SolveRanges(bound->rows, count));
  for (int v = 0; v < left; ++v) ranges[v] = {0, bound->dims[v] - 1};
  std::vector<Row> rows = bound->rows;
  for (const Access& access : bound->accesses) {
    // The limits say nothing: loops stay inside.
    rows.push_back({access.offset, 1});
  }
  TIM_RETURN_IF_ERROR(CheckSizes(rows, ranges));
  bound->plan = PlanLoops(bound->rows, ranges, left);
  for (const Range& range : ranges) {
    bound->flops = bound->flops * static_cast<double>(range.size());
  }
  return OkStatus();
}

Result<BoundStatement> BindStatement(const Binding& binding, size_t i) {
  const StatementInfo& info = binding.program->statements[i];
  const Aggregate aggregate = binding.program->statement(i).aggregate;
  const bool adds =
      aggregate != Aggregate::kNone && aggregate != Aggregate::kAssign;
  BoundStatement bound{.dims = binding.dims[info.tensor]};
  bound.flops = info.operations + (adds ? 1 : 0);
  if (aggregate == Aggregate::kNone) {
    TIM_RETURN_IF_ERROR(BindBroadcast(binding, i, &bound));
  } else {
    TIM_RETURN_IF_ERROR(BindIndexed(binding, i, &bound));
  }
  return bound;
}

}  // namespace

int64_t Binding::Elements(int tensor) const {
  int64_t count = 1;
  for (const int64_t extent : dims[tensor]) count *= extent;
  return count;
}

double Binding::Flops() const {
  double sum = 0;
  for (const BoundStatement& statement : statements) sum += statement.flops;
  return sum;
}

Result<Binding> Bind(std::shared_ptr<const Program> program,
                     const ir::AttributeMap& attributes,
                     std::span<const ir::DataType> types,
                     std::span<const Dims> inputs) {
  Binding binding{.program = std::move(program), .attributes = attributes};
  TIM_RETURN_IF_ERROR(CheckInputTypes(*binding.program, types));
  TIM_ASSIGN_OR_RETURN(binding.types, TypesOf(*binding.program, types));
  const std::vector<std::optional<Dims>> given(inputs.begin(), inputs.end());
  TIM_ASSIGN_OR_RETURN(Shapes shapes,
                       InferDims(*binding.program, attributes, given));
  binding.numbers = std::move(shapes.numbers);
  for (size_t tensor = 0; tensor < shapes.tensors.size(); ++tensor) {
    std::optional<Dims>& dims = shapes.tensors[tensor];
    const TensorDef& def = binding.program->tensors[tensor];
    // A part of a program has some of its tensors.
    const bool absent = def.input < 0 && def.statement < 0;
    if (absent) dims = Dims();
    if (!dims ||
        std::find(dims->begin(), dims->end(), kUnknownSize) != dims->end()) {
      return InvalidArgument("an extent of '", def.name.text, "' is not known");
    }
    binding.dims.push_back(*std::move(dims));
  }
  for (size_t i = 0; i < binding.program->statements.size(); ++i) {
    Result<BoundStatement> bound = BindStatement(binding, i);
    if (!bound.ok()) {
      return bound.status().WithContext(
          StrCat("statement ", i, " ('",
                 binding.program->statement(i).name.text, "')"));
    }
    binding.statements.push_back(*std::move(bound));
  }
  return binding;
}

Result<float> FloatOf(const Binding& binding, const Expr& node) {
  const AttributeDef& def = binding.program->syntax.attributes[node.index];
  const ir::Attribute* value = binding.attributes.Find(def.name.text);
  if (const auto* real = std::get_if<double>(value)) {
    return static_cast<float>(*real);
  }
  const auto* list = std::get_if<std::vector<double>>(value);
  if (list != nullptr && node.integer < static_cast<int64_t>(list->size())) {
    return static_cast<float>((*list)[node.integer]);
  }
  return InvalidArgument("attribute '", node.name, "' has ",
                         list == nullptr ? 0 : list->size(),
                         " elements, the text reads element ", node.integer);
}

}  // namespace tim::expr
