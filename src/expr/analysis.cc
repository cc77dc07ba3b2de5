// Looks up names, and checks indices, sizes and bounds of every statement.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "expr/affine.h"
#include "expr/bounds.h"
#include "expr/parser.h"
#include "expr/program.h"
#include "expr/token.h"
#include "expr/types.h"

namespace tim::expr {
namespace {

struct Symbol {
  NameKind kind = NameKind::kUnknown;
  int index = -1;
};

enum class Context : uint8_t { kValue, kIndex, kSize };

const char* ToString(NameKind kind) {
  constexpr const char* kNames[] = {"an unknown name", "the index variable",
                                    "the dimension", "the attribute",
                                    "the tensor"};
  return kNames[static_cast<int>(kind)];
}

class Analysis {
 public:
  explicit Analysis(Program* program) : program_(*program) {}

  Status Run() {
    TIM_RETURN_IF_ERROR(Declare());
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
  Status Declare();
  Status DeclareParam(const Param& param);
  Status Define(const Name& name, NameKind kind, int index);
  Status ReadStatement();
  Status ReadLeft();
  Status ReadNames(int root, Context context);
  Status ReadName(Expr* node, Context context);
  Status ReadAccess(Expr* node, Context context);
  Status ReadTensor(Expr* node);
  Status CheckIndexNode(int node, Context context);
  Status ReadSizes();
  Result<SizeRule> AxisOf(int variable, size_t offset);
  Status CheckBounds();
  Numbers GenericNumbers() const;
  Status Assign(int number);
  Status Finish();

  Status ErrorAt(size_t offset, std::string_view expected,
                 std::string_view found) const {
    return TextError(program_.text, offset, expected, found);
  }
  const Symbol* Find(const std::string& name) const {
    const auto it = symbols_.find(name);
    return it == symbols_.end() ? nullptr : &it->second;
  }
  int VariableOf(const std::string& name) const {
    for (size_t i = 0; i < info_->variables.size(); ++i) {
      if (info_->variables[i].text == name) return static_cast<int>(i);
    }
    return -1;
  }
  Result<int> AddVariable(const Name& name);
  int AddInput(const Name& name);

  Program& program_;
  std::map<std::string, Symbol> symbols_;
  Statement* statement_ = nullptr;
  StatementInfo* info_ = nullptr;
  std::vector<bool> varies_;  // By node: an index variable is in it.
};

Status Analysis::Define(const Name& name, NameKind kind, int index) {
  const auto [it, added] = symbols_.emplace(name.text, Symbol{kind, index});
  if (added) return OkStatus();
  return ErrorAt(name.offset, "a name that is not defined yet",
                 StrCat(ToString(it->second.kind), " '", name.text, "'"));
}

Status Analysis::DeclareParam(const Param& param) {
  const int tensor = static_cast<int>(program_.tensors.size());
  TIM_RETURN_IF_ERROR(Define(param.name, NameKind::kTensor, tensor));
  program_.tensors.push_back(
      {.name = param.name,
       .rank = param.ranked ? static_cast<int>(param.extents.size()) : -1,
       .extents = param.extents,
       .types = param.types,
       .same_float = param.types.empty(),
       .input = static_cast<int>(program_.inputs.size())});
  program_.inputs.push_back(tensor);
  for (const Extent& extent : param.extents) {
    if (extent.name.empty() || extent.name == "_") continue;
    const Symbol* known = Find(extent.name);
    if (known != nullptr && known->kind == NameKind::kDimension) continue;
    TIM_RETURN_IF_ERROR(Define({extent.name, extent.offset},
                               NameKind::kDimension,
                               static_cast<int>(program_.dimensions.size())));
    program_.dimensions.push_back(extent.name);
  }
  return OkStatus();
}

Status Analysis::Declare() {
  for (const Param& param : program_.syntax.params) {
    TIM_RETURN_IF_ERROR(DeclareParam(param));
  }
  for (const ResultDef& result : program_.syntax.results) {
    const int tensor = static_cast<int>(program_.tensors.size());
    TIM_RETURN_IF_ERROR(Define(result.name, NameKind::kTensor, tensor));
    TensorDef def{.name = result.name,
                  .output = static_cast<int>(program_.outputs.size())};
    if (result.type != ir::DataType::kUnknown) def.types = {result.type};
    program_.tensors.push_back(std::move(def));
    program_.outputs.push_back(tensor);
  }
  for (size_t i = 0; i < program_.syntax.attributes.size(); ++i) {
    TIM_RETURN_IF_ERROR(Define(program_.syntax.attributes[i].name,
                               NameKind::kAttribute, static_cast<int>(i)));
  }
  return OkStatus();
}

Result<int> Analysis::AddVariable(const Name& name) {
  if (info_->variables.size() == kMostVariables) {
    return ErrorAt(name.offset,
                   StrCat("at most ", kMostVariables, " index variables"),
                   StrCat("'", name.text, "'"));
  }
  info_->variables.push_back(name);
  return static_cast<int>(info_->variables.size()) - 1;
}

int Analysis::AddInput(const Name& name) {
  const int tensor = static_cast<int>(program_.tensors.size());
  symbols_.emplace(name.text, Symbol{NameKind::kTensor, tensor});
  program_.tensors.push_back(
      {.name = name,
       .same_float = true,
       .input = static_cast<int>(program_.inputs.size())});
  program_.inputs.push_back(tensor);
  return tensor;
}

Status Analysis::ReadLeft() {
  for (const Name& name : statement_->left) {
    if (const Symbol* symbol = Find(name.text)) {
      return ErrorAt(name.offset, "an index variable",
                     StrCat(ToString(symbol->kind), " '", name.text, "'"));
    }
    if (VariableOf(name.text) >= 0) {
      return ErrorAt(name.offset, "an index variable that is new here",
                     StrCat("'", name.text, "' for the second time"));
    }
    TIM_RETURN_IF_ERROR(AddVariable(name).status());
  }
  // A size that is a new name alone gets its extent here.
  for (const int size : statement_->sizes) {
    const Expr& node = statement_->nodes[size];
    if (node.kind != Expr::Kind::kName || Find(node.name) != nullptr ||
        VariableOf(node.name) >= 0) {
      continue;
    }
    TIM_RETURN_IF_ERROR(Define({node.name, node.offset}, NameKind::kDimension,
                               static_cast<int>(program_.dimensions.size())));
    program_.dimensions.push_back(node.name);
  }
  return OkStatus();
}

Status Analysis::ReadStatement() {
  const Statement& statement = *statement_;
  info_->in_index.resize(statement.nodes.size(), false);
  varies_.assign(statement.nodes.size(), false);
  info_->first_node = FirstNode(statement, statement.value);
  if (statement.indexed) {
    const size_t before = program_.dimensions.size();
    TIM_RETURN_IF_ERROR(ReadLeft());
    TIM_RETURN_IF_ERROR(ReadNames(statement.value, Context::kValue));
    for (const Constraint& constraint : statement.constraints) {
      TIM_RETURN_IF_ERROR(ReadNames(constraint.left, Context::kIndex));
      TIM_RETURN_IF_ERROR(ReadNames(constraint.right, constraint.equal
                                                          ? Context::kIndex
                                                          : Context::kSize));
    }
    for (size_t i = 0; i < statement.sizes.size(); ++i) {
      TIM_RETURN_IF_ERROR(ReadNames(statement.sizes[i], Context::kSize));
    }
    TIM_RETURN_IF_ERROR(ReadSizes());
    for (size_t i = 0; i < info_->sizes.size(); ++i) {
      SizeRule& rule = info_->sizes[i];
      if (rule.node < 0) continue;
      const Expr& node = statement.nodes[rule.node];
      if (node.kind != Expr::Kind::kName ||
          node.refers != NameKind::kDimension ||
          node.index < static_cast<int>(before)) {
        continue;
      }
      TIM_ASSIGN_OR_RETURN(rule, AxisOf(static_cast<int>(i), node.offset));
      rule.dimension = node.index;
    }
    TIM_RETURN_IF_ERROR(CheckBounds());
  } else {
    TIM_RETURN_IF_ERROR(ReadNames(statement.value, Context::kValue));
  }
  for (int n = info_->first_node; n <= statement.value; ++n) {
    const Expr::Kind kind = statement.nodes[n].kind;
    info_->operations += !info_->in_index[n] && kind >= Expr::Kind::kCall;
  }
  return OkStatus();
}

Status Analysis::ReadNames(int root, Context context) {
  const int first = FirstNode(*statement_, root);
  // Nodes of indices come before the access that has them.
  std::vector<Context> contexts(root + 1 - first, context);
  for (int n = root; n >= first; --n) {
    const Expr& node = statement_->nodes[n];
    const bool access = node.kind == Expr::Kind::kAccess;
    for (const int operand : node.operands) {
      contexts[operand - first] =
          access ? Context::kIndex : contexts[n - first];
    }
  }
  for (int n = first; n <= root; ++n) {
    Expr& node = statement_->nodes[n];
    const Context here = contexts[n - first];
    info_->in_index[n] = here != Context::kValue;
    if (node.kind == Expr::Kind::kName) {
      TIM_RETURN_IF_ERROR(ReadName(&node, here));
    } else if (node.kind == Expr::Kind::kAccess) {
      TIM_RETURN_IF_ERROR(ReadAccess(&node, here));
    } else if (node.kind == Expr::Kind::kCall && here == Context::kValue) {
      node.index = FindFunction(node.name);
      if (node.index < 0) {
        return ErrorAt(node.offset, "a function",
                       StrCat("the unknown name '", node.name, "'"));
      }
      const int arguments = FunctionAt(node.index).arguments;
      if (static_cast<int>(node.operands.size()) != arguments) {
        return ErrorAt(node.offset,
                       StrCat(arguments, " arguments of '", node.name, "'"),
                       StrCat(node.operands.size()));
      }
    }
    if (here != Context::kValue) {
      TIM_RETURN_IF_ERROR(CheckIndexNode(n, here));
    }
    const bool tensor = node.refers == NameKind::kTensor;
    if (here == Context::kValue && tensor) info_->accesses.push_back(n);
  }
  return OkStatus();
}

Status Analysis::ReadName(Expr* node, Context context) {
  const Name name{node->name, node->offset};
  const Symbol* symbol = Find(name.text);
  const bool indexed = statement_->indexed;
  if (symbol == nullptr && indexed) {
    int variable = VariableOf(name.text);
    if (context == Context::kSize) {
      return ErrorAt(
          name.offset, "a size of numbers, dimensions and attributes",
          variable < 0 ? StrCat("the unknown name '", name.text, "'")
                       : StrCat("the index variable '", name.text, "'"));
    }
    if (variable < 0) {
      TIM_ASSIGN_OR_RETURN(variable, AddVariable(name));
    }
    node->refers = NameKind::kVariable;
    node->index = variable;
    return OkStatus();
  }
  if (symbol == nullptr) {
    if (!program_.syntax.bare) {
      return ErrorAt(name.offset, "a tensor, an attribute or a dimension",
                     StrCat("the unknown name '", name.text, "'"));
    }
    node->refers = NameKind::kTensor;
    node->index = AddInput(name);
    return OkStatus();
  }
  node->refers = symbol->kind;
  node->index = symbol->index;
  if (symbol->kind == NameKind::kAttribute) {
    const ir::AttributeType type =
        program_.syntax.attributes[symbol->index].type;
    if (type == ir::AttributeType::kInts ||
        type == ir::AttributeType::kFloats) {
      return ErrorAt(name.offset, StrCat("a position: '", name.text, "[0]'"),
                     StrCat("the list '", name.text, "'"));
    }
  }
  if (symbol->kind != NameKind::kTensor) return OkStatus();
  if (indexed) {
    return ErrorAt(name.offset,
                   "an index variable, a dimension, an attribute or a tensor "
                   "with its indices",
                   StrCat("the tensor '", name.text, "'"));
  }
  return ReadTensor(node);
}

// A tensor that has its content by now.
Status Analysis::ReadTensor(Expr* node) {
  const TensorDef& def = program_.tensors[node->index];
  if (def.input >= 0 || def.statement >= 0) return OkStatus();
  return ErrorAt(node->offset, "a tensor that is assigned before",
                 StrCat("the result '", node->name, "'"));
}

Status Analysis::ReadAccess(Expr* node, Context context) {
  const Symbol* symbol = Find(node->name);
  const std::string found = StrCat("'", node->name, "'");
  if (symbol != nullptr && symbol->kind == NameKind::kAttribute) {
    const ir::AttributeType type =
        program_.syntax.attributes[symbol->index].type;
    const bool list =
        type == ir::AttributeType::kInts || type == ir::AttributeType::kFloats;
    const Expr* position = node->operands.size() == 1
                               ? &statement_->nodes[node->operands[0]]
                               : nullptr;
    if (!list || position == nullptr ||
        position->kind != Expr::Kind::kInteger) {
      return ErrorAt(node->offset, "a list by one constant position", found);
    }
    node->refers = NameKind::kAttribute;
    node->index = symbol->index;
    node->integer = position->integer;
    return OkStatus();
  }
  if (context != Context::kValue) {
    return ErrorAt(node->offset, "an affine index or a size",
                   StrCat("the element of ", found));
  }
  if (!statement_->indexed) {
    return ErrorAt(node->offset,
                   "a tensor without indices in an element-wise statement",
                   StrCat(found, " with indices"));
  }
  if (symbol != nullptr && symbol->kind != NameKind::kTensor) {
    return ErrorAt(node->offset, "a tensor before '['",
                   StrCat(ToString(symbol->kind), " ", found));
  }
  if (symbol == nullptr &&
      (!program_.syntax.bare || VariableOf(node->name) >= 0)) {
    return ErrorAt(node->offset, "a tensor",
                   StrCat("the unknown name ", found));
  }
  node->refers = NameKind::kTensor;
  node->index =
      symbol != nullptr ? symbol->index : AddInput({node->name, node->offset});
  TIM_RETURN_IF_ERROR(ReadTensor(node));
  TensorDef& def = program_.tensors[node->index];
  const int count = static_cast<int>(node->operands.size());
  if (count > kMostAxes) {
    return ErrorAt(node->offset, StrCat("at most ", kMostAxes, " indices"),
                   StrCat(count));
  }
  if (def.rank < 0) def.rank = count;
  if (def.rank == count) return OkStatus();
  return ErrorAt(node->offset, StrCat(def.rank, " indices of ", found),
                 StrCat(count));
}

Status Analysis::CheckIndexNode(int n, Context context) {
  const Expr& node = statement_->nodes[n];
  const std::string expected =
      context == Context::kSize
          ? "a size of integers, dimensions and int attributes"
          : "an index that is affine in the index variables";
  const auto varies = [&](size_t k) { return varies_[node.operands[k]]; };
  if (node.kind == Expr::Kind::kInteger) return OkStatus();
  if (node.refers == NameKind::kVariable) {
    varies_[n] = true;
    return OkStatus();
  }
  if (node.refers == NameKind::kDimension) return OkStatus();
  if (node.refers == NameKind::kAttribute) {
    const ir::AttributeType type = program_.syntax.attributes[node.index].type;
    if (type == ir::AttributeType::kInt || type == ir::AttributeType::kInts) {
      return OkStatus();
    }
    return ErrorAt(node.offset, expected,
                   StrCat("the attribute '", node.name, "', which is a ",
                          ir::ToString(type)));
  }
  if (node.kind == Expr::Kind::kUnary && node.op == Operator::kNegate) {
    varies_[n] = varies(0);
    return OkStatus();
  }
  if (node.kind != Expr::Kind::kBinary || node.op > Operator::kModulo) {
    const std::string_view word =
        node.kind == Expr::Kind::kFloat    ? "a float"
        : node.kind == Expr::Kind::kBool   ? "a boolean"
        : node.kind == Expr::Kind::kCall   ? std::string_view(node.name)
        : node.kind == Expr::Kind::kChoice ? "'?'"
                                           : std::string_view(TextOf(node.op));
    return ErrorAt(node.offset, expected, StrCat(word, ": not affine"));
  }
  varies_[n] = varies(0) || varies(1);
  const bool product = node.op == Operator::kMultiply;
  const bool sum = node.op == Operator::kAdd || node.op == Operator::kSubtract;
  if (sum || !varies_[n] || (product && !(varies(0) && varies(1)))) {
    return OkStatus();
  }
  return ErrorAt(node.offset, expected,
                 StrCat("'", TextOf(node.op),
                        product ? "' of two of them: not affine"
                                : "' of one of them: not affine"));
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

Status Analysis::ReadSizes() {
  const Statement& statement = *statement_;
  const size_t count = statement.left.size();
  if (!statement.like.text.empty()) {
    const Symbol* symbol = Find(statement.like.text);
    if (symbol == nullptr || symbol->kind != NameKind::kTensor) {
      return ErrorAt(statement.like.offset, "a tensor behind 'like'",
                     StrCat("'", statement.like.text, "'"));
    }
    Expr node{.offset = statement.like.offset,
              .name = statement.like.text,
              .index = symbol->index};
    TIM_RETURN_IF_ERROR(ReadTensor(&node));
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
  const Symbol* symbol = Find(name.text);
  if (symbol != nullptr && symbol->kind == NameKind::kTensor &&
      program_.tensors[symbol->index].input < 0 &&
      program_.tensors[symbol->index].statement < 0) {
    info_->tensor = symbol->index;
  } else {
    info_->tensor = static_cast<int>(program_.tensors.size());
    TIM_RETURN_IF_ERROR(Define(name, NameKind::kTensor, info_->tensor));
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
