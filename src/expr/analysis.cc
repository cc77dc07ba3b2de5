// Checks sizes and bounds of every statement, and that names are assigned.
#include <algorithm>
#include <utility>

#include "expr/affine.h"
#include "expr/bounds.h"
#include "expr/names.h"
#include "expr/parser.h"
#include "expr/program.h"
#include "expr/scope.h"
#include "expr/types.h"

namespace tim::expr {
namespace {

class Analysis {
 public:
  explicit Analysis(Program* program) : program_(*program), scope_(program) {}

  Status Run() {
    TIM_RETURN_IF_ERROR(scope_.Declare());
    const size_t count = program_.syntax.statements.size();
    program_.statements.resize(count);
    for (size_t i = 0; i < count; ++i) {
      statement_ = &program_.syntax.statements[i];
      info_ = &program_.statements[i];
      TIM_RETURN_IF_ERROR(ReadStatement());
      TIM_RETURN_IF_ERROR(Assign(static_cast<int>(i)));
    }
    return Finish();
  }

 private:
  Status ReadStatement();
  Status ReadIndexed(NameReader& names);
  Status ReadLeft();
  Status ReadSizes(const NameReader& names);
  Status ReadLike(const NameReader& names);
  Status BindSizes(size_t first_dimension);
  Result<SizeRule> AxisOf(int variable, size_t offset);
  Status CheckBounds();
  Numbers GenericNumbers() const;
  Status Assign(int number);
  Status Finish();

  Status ErrorAt(size_t offset, std::string_view expected,
                 std::string_view found) const {
    return scope_.ErrorAt(offset, expected, found);
  }

  Program& program_;
  Scope scope_;
  Statement* statement_ = nullptr;
  StatementInfo* info_ = nullptr;
};

Status Analysis::ReadLeft() {
  for (const Name& name : statement_->left) {
    if (const Symbol* symbol = scope_.Find(name.text)) {
      return ErrorAt(name.offset, "an index variable",
                     StrCat(ToString(symbol->kind), " '", name.text, "'"));
    }
    if (Scope::VariableOf(*info_, name.text) >= 0) {
      return ErrorAt(name.offset, "an index variable that is new here",
                     StrCat("'", name.text, "' for the second time"));
    }
    TIM_RETURN_IF_ERROR(scope_.AddVariable(name, info_).status());
  }
  // A size that is a new name alone gets its extent here.
  for (const int size : statement_->sizes) {
    const Expr& node = statement_->nodes[size];
    if (node.kind != Expr::Kind::kName || scope_.Find(node.name) != nullptr ||
        Scope::VariableOf(*info_, node.name) >= 0) {
      continue;
    }
    TIM_RETURN_IF_ERROR(scope_.AddDimension({node.name, node.offset}));
  }
  return OkStatus();
}

Status Analysis::ReadStatement() {
  const Statement& statement = *statement_;
  NameReader names(&scope_, statement_, info_);
  info_->first_node = FirstNode(statement, statement.value);
  if (statement.indexed) {
    TIM_RETURN_IF_ERROR(ReadIndexed(names));
  } else {
    TIM_RETURN_IF_ERROR(names.Read(statement.value, Context::kValue));
  }
  for (int n = info_->first_node; n <= statement.value; ++n) {
    const Expr::Kind kind = statement.nodes[n].kind;
    info_->operations += !info_->in_index[n] && kind >= Expr::Kind::kCall;
  }
  return OkStatus();
}

Status Analysis::ReadIndexed(NameReader& names) {
  const Statement& statement = *statement_;
  const size_t first_dimension = program_.dimensions.size();
  TIM_RETURN_IF_ERROR(ReadLeft());
  TIM_RETURN_IF_ERROR(names.Read(statement.value, Context::kValue));
  for (const Constraint& constraint : statement.constraints) {
    TIM_RETURN_IF_ERROR(names.Read(constraint.left, Context::kIndex));
    TIM_RETURN_IF_ERROR(names.Read(
        constraint.right, constraint.equal ? Context::kIndex : Context::kSize));
  }
  for (const int size : statement.sizes) {
    TIM_RETURN_IF_ERROR(names.Read(size, Context::kSize));
  }
  TIM_RETURN_IF_ERROR(ReadSizes(names));
  TIM_RETURN_IF_ERROR(BindSizes(first_dimension));
  return CheckBounds();
}

// Names that are new here get the extents of their axes.
Status Analysis::BindSizes(size_t first_dimension) {
  for (size_t i = 0; i < info_->sizes.size(); ++i) {
    SizeRule& rule = info_->sizes[i];
    if (rule.node < 0) continue;
    const Expr& node = statement_->nodes[rule.node];
    if (node.kind != Expr::Kind::kName || node.refers != NameKind::kDimension ||
        node.index < static_cast<int>(first_dimension)) {
      continue;
    }
    TIM_ASSIGN_OR_RETURN(rule, AxisOf(static_cast<int>(i), node.offset));
    rule.dimension = node.index;
  }
  return OkStatus();
}

// The first axis that a variable indexes alone.
Result<SizeRule> Analysis::AxisOf(int variable, size_t offset) {
  for (const int access : info_->accesses) {
    const Expr& node = statement_->nodes[access];
    for (size_t axis = 0; axis < node.operands.size(); ++axis) {
      const Expr& index = statement_->nodes[node.operands[axis]];
      if (index.refers == NameKind::kVariable && index.index == variable) {
        return SizeRule{.tensor = node.index, .axis = static_cast<int>(axis)};
      }
    }
  }
  const std::string& name = info_->variables[variable].text;
  return ErrorAt(offset,
                 StrCat("a size of '", name, "', or an axis that '", name,
                        "' indexes alone"),
                 StrCat("neither: unknown size of '", name, "'"));
}

Status Analysis::ReadLike(const NameReader& names) {
  const Statement& statement = *statement_;
  const size_t count = statement.left.size();
  const Symbol* symbol = scope_.Find(statement.like.text);
  if (symbol == nullptr || symbol->kind != NameKind::kTensor) {
    return ErrorAt(statement.like.offset, "a tensor behind 'like'",
                   StrCat("'", statement.like.text, "'"));
  }
  const Expr node{.offset = statement.like.offset,
                  .name = statement.like.text,
                  .index = symbol->index};
  TIM_RETURN_IF_ERROR(names.CheckAssigned(node));
  TensorDef& def = program_.tensors[symbol->index];
  if (def.rank < 0) def.rank = static_cast<int>(count);
  if (def.rank != static_cast<int>(count)) {
    return ErrorAt(statement.like.offset,
                   StrCat("a tensor of ", count, " axes"),
                   StrCat("'", statement.like.text, "' of ", def.rank));
  }
  for (size_t i = 0; i < count; ++i) {
    info_->sizes.push_back(
        {.tensor = symbol->index, .axis = static_cast<int>(i)});
  }
  return OkStatus();
}

Status Analysis::ReadSizes(const NameReader& names) {
  const Statement& statement = *statement_;
  const size_t count = statement.left.size();
  if (!statement.like.text.empty()) return ReadLike(names);
  if (!statement.sizes.empty() && statement.sizes.size() != count) {
    const bool more = statement.sizes.size() > count;
    const size_t offset =
        more ? statement.nodes[FirstNode(statement, statement.sizes[count])]
                   .offset
             : statement.sizes_end;
    return ErrorAt(offset, StrCat(count, " sizes"),
                   StrCat(statement.sizes.size()));
  }
  for (size_t i = 0; i < count; ++i) {
    SizeRule rule;
    if (!statement.sizes.empty()) {
      rule.node = statement.sizes[i];
    } else {
      TIM_ASSIGN_OR_RETURN(
          rule, AxisOf(static_cast<int>(i), statement.left[i].offset));
    }
    info_->sizes.push_back(rule);
  }
  return OkStatus();
}

// Numbers that give no coefficient by chance.
Numbers Analysis::GenericNumbers() const {
  constexpr int kListLength = 64;
  Numbers numbers;
  for (size_t i = 0; i < program_.dimensions.size(); ++i) {
    numbers.dimensions.push_back(1009 + 14 * static_cast<int64_t>(i));
  }
  for (size_t i = 0; i < program_.syntax.attributes.size(); ++i) {
    std::vector<int64_t> list;
    for (int k = 0; k < kListLength; ++k) {
      list.push_back(101 + 6 * static_cast<int64_t>(i) + 10 * k);
    }
    numbers.integers.push_back(std::move(list));
  }
  return numbers;
}

Status Analysis::CheckBounds() {
  const Statement& statement = *statement_;
  const Numbers numbers = GenericNumbers();
  RowSpace space;
  const auto add = [&](int root) {
    const auto index = AffineOf(statement, root, numbers);
    if (index.ok() && *index) space.Add(**index);
  };
  for (size_t v = 0; v < statement.left.size(); ++v) {
    space.Add(VariableAlone(static_cast<int>(v)));
  }
  for (const int access : info_->accesses) {
    for (const int index : statement.nodes[access].operands) add(index);
  }
  for (const Constraint& constraint : statement.constraints) {
    const auto left = AffineOf(statement, constraint.left, numbers);
    const auto right = AffineOf(statement, constraint.right, numbers);
    if (!left.ok() || !right.ok() || !*left || !*right) continue;
    const auto index = Add(**left, **right, constraint.equal ? -1 : 0);
    if (index) space.Add(*index);
  }
  for (size_t v = 0; v < info_->variables.size(); ++v) {
    if (space.Bounds(static_cast<int>(v))) continue;
    const Name& name = info_->variables[v];
    return ErrorAt(
        name.offset,
        StrCat("an access or a constraint that bounds '", name.text, "'"),
        "an index variable without bound");
  }
  return OkStatus();
}

Status Analysis::Assign(int number) {
  const Name& name = statement_->name;
  const Symbol* symbol = scope_.Find(name.text);
  if (symbol != nullptr && symbol->kind == NameKind::kTensor &&
      program_.tensors[symbol->index].input < 0 &&
      program_.tensors[symbol->index].statement < 0) {
    info_->tensor = symbol->index;
  } else {
    info_->tensor = static_cast<int>(program_.tensors.size());
    TIM_RETURN_IF_ERROR(scope_.Define(name, NameKind::kTensor, info_->tensor));
    program_.tensors.push_back({.name = name});
  }
  TensorDef& def = program_.tensors[info_->tensor];
  def.statement = number;
  if (statement_->indexed) {
    def.rank = static_cast<int>(statement_->left.size());
    return OkStatus();
  }
  def.rank = 0;
  for (const int access : info_->accesses) {
    const int rank = program_.tensors[statement_->nodes[access].index].rank;
    if (rank < 0) {
      def.rank = -1;
      break;
    }
    def.rank = std::max(def.rank, rank);
  }
  return OkStatus();
}

Status Analysis::Finish() {
  for (const int output : program_.outputs) {
    const TensorDef& def = program_.tensors[output];
    if (def.statement >= 0) continue;
    return ErrorAt(
        def.name.offset,
        StrCat("a statement that assigns the result '", def.name.text, "'"),
        "none");
  }
  if (program_.syntax.bare) {
    const int last = program_.statements.back().tensor;
    program_.outputs.push_back(last);
    program_.tensors[last].output = 0;
  }
  return CheckAllKinds(program_);
}

}  // namespace

Result<std::shared_ptr<const Program>> ReadProgram(std::string_view text) {
  auto program = std::make_shared<Program>();
  program->text = text;
  TIM_ASSIGN_OR_RETURN(program->syntax, Parse(program->text));
  TIM_RETURN_IF_ERROR(Analysis(program.get()).Run());
  return std::shared_ptr<const Program>(std::move(program));
}

}  // namespace tim::expr
