// Looks up names and checks what stands in indices and sizes.
#include "expr/names.h"

#include "expr/affine.h"
#include "expr/functions.h"

namespace tim::expr {

NameReader::NameReader(Scope* scope, Statement* statement, StatementInfo* info)
    : scope_(*scope),
      program_(scope->program()),
      statement_(*statement),
      info_(*info),
      varies_(statement->nodes.size(), false) {
  info_.in_index.resize(statement_.nodes.size(), false);
}

Status NameReader::Read(int root, Context context) {
  const int first = FirstNode(statement_, root);
  // Nodes of indices come before the access that has them.
  std::vector<Context> contexts(root + 1 - first, context);
  for (int n = root; n >= first; --n) {
    const Expr& node = statement_.nodes[n];
    const bool access = node.kind == Expr::Kind::kAccess;
    for (const int operand : node.operands) {
      contexts[operand - first] =
          access ? Context::kIndex : contexts[n - first];
    }
  }
  for (int n = first; n <= root; ++n) {
    Expr& node = statement_.nodes[n];
    const Context here = contexts[n - first];
    info_.in_index[n] = here != Context::kValue;
    if (node.kind == Expr::Kind::kName) {
      TIM_RETURN_IF_ERROR(ReadName(&node, here));
    } else if (node.kind == Expr::Kind::kAccess) {
      TIM_RETURN_IF_ERROR(ReadAccess(&node, here));
    } else if (node.kind == Expr::Kind::kCall && here == Context::kValue) {
      TIM_RETURN_IF_ERROR(ReadCall(&node));
    }
    if (here != Context::kValue) {
      TIM_RETURN_IF_ERROR(CheckIndex(n, here));
    }
    const bool tensor = node.refers == NameKind::kTensor;
    if (here == Context::kValue && tensor) info_.accesses.push_back(n);
  }
  return OkStatus();
}

Status NameReader::ReadCall(Expr* node) const {
  node->index = FindFunction(node->name);
  if (node->index < 0) {
    return scope_.ErrorAt(node->offset, "a function",
                          StrCat("the unknown name '", node->name, "'"));
  }
  const int arguments = FunctionAt(node->index).arguments;
  if (static_cast<int>(node->operands.size()) == arguments) return OkStatus();
  return scope_.ErrorAt(node->offset,
                        StrCat(arguments, " arguments of '", node->name, "'"),
                        StrCat(node->operands.size()));
}

Status NameReader::ReadName(Expr* node, Context context) {
  const Name name{node->name, node->offset};
  const Symbol* symbol = scope_.Find(name.text);
  const bool indexed = statement_.indexed;
  if (symbol == nullptr && indexed) {
    int variable = Scope::VariableOf(info_, name.text);
    if (context == Context::kSize) {
      return scope_.ErrorAt(
          name.offset, "a size of numbers, dimensions and attributes",
          variable < 0 ? StrCat("the unknown name '", name.text, "'")
                       : StrCat("the index variable '", name.text, "'"));
    }
    if (variable < 0) {
      TIM_ASSIGN_OR_RETURN(variable, scope_.AddVariable(name, &info_));
    }
    node->refers = NameKind::kVariable;
    node->index = variable;
    return OkStatus();
  }
  if (symbol == nullptr) {
    if (!program_.syntax.bare) {
      return scope_.ErrorAt(name.offset,
                            "a tensor, an attribute or a dimension",
                            StrCat("the unknown name '", name.text, "'"));
    }
    node->refers = NameKind::kTensor;
    node->index = scope_.AddInput(name);
    return OkStatus();
  }
  return ReadDefined(node, *symbol);
}

Status NameReader::ReadDefined(Expr* node, const Symbol& symbol) const {
  node->refers = symbol.kind;
  node->index = symbol.index;
  if (symbol.kind == NameKind::kAttribute && IsList(symbol.index)) {
    return scope_.ErrorAt(node->offset,
                          StrCat("a position: '", node->name, "[0]'"),
                          StrCat("the list '", node->name, "'"));
  }
  if (symbol.kind != NameKind::kTensor) return OkStatus();
  if (!statement_.indexed) return CheckAssigned(*node);
  return scope_.ErrorAt(
      node->offset,
      "an index variable, a dimension, an attribute or a tensor with its "
      "indices",
      StrCat("the tensor '", node->name, "'"));
}

Status NameReader::CheckAssigned(const Expr& node) const {
  const TensorDef& def = program_.tensors[node.index];
  if (def.input >= 0 || def.statement >= 0) return OkStatus();
  return scope_.ErrorAt(node.offset, "a tensor that is assigned before",
                        StrCat("the result '", node.name, "'"));
}

bool NameReader::IsList(int attribute) const {
  const ir::AttributeType type = program_.syntax.attributes[attribute].type;
  return type == ir::AttributeType::kInts || type == ir::AttributeType::kFloats;
}

// An element of a list of attributes.
Status NameReader::ReadElement(Expr* node, const Symbol& symbol) const {
  const Expr* position = node->operands.size() == 1
                             ? &statement_.nodes[node->operands[0]]
                             : nullptr;
  if (!IsList(symbol.index) || position == nullptr ||
      position->kind != Expr::Kind::kInteger) {
    return scope_.ErrorAt(node->offset, "a list by one constant position",
                          StrCat("'", node->name, "'"));
  }
  node->refers = NameKind::kAttribute;
  node->index = symbol.index;
  node->integer = position->integer;
  return OkStatus();
}

Status NameReader::ReadAccess(Expr* node, Context context) {
  const Symbol* symbol = scope_.Find(node->name);
  const std::string found = StrCat("'", node->name, "'");
  if (symbol != nullptr && symbol->kind == NameKind::kAttribute) {
    return ReadElement(node, *symbol);
  }
  if (context != Context::kValue) {
    return scope_.ErrorAt(node->offset, "an affine index or a size",
                          StrCat("the element of ", found));
  }
  if (!statement_.indexed) {
    return scope_.ErrorAt(
        node->offset, "a tensor without indices in an element-wise statement",
        StrCat(found, " with indices"));
  }
  if (symbol != nullptr && symbol->kind != NameKind::kTensor) {
    return scope_.ErrorAt(node->offset, "a tensor before '['",
                          StrCat(ToString(symbol->kind), " ", found));
  }
  if (symbol == nullptr &&
      (!program_.syntax.bare || Scope::VariableOf(info_, node->name) >= 0)) {
    return scope_.ErrorAt(node->offset, "a tensor",
                          StrCat("the unknown name ", found));
  }
  node->refers = NameKind::kTensor;
  node->index = symbol != nullptr ? symbol->index
                                  : scope_.AddInput({node->name, node->offset});
  TIM_RETURN_IF_ERROR(CheckAssigned(*node));
  TensorDef& def = program_.tensors[node->index];
  const int count = static_cast<int>(node->operands.size());
  if (count > kMostAxes) {
    return scope_.ErrorAt(
        node->offset, StrCat("at most ", kMostAxes, " indices"), StrCat(count));
  }
  if (def.rank < 0) def.rank = count;
  if (def.rank == count) return OkStatus();
  return scope_.ErrorAt(node->offset, StrCat(def.rank, " indices of ", found),
                        StrCat(count));
}

Status NameReader::CheckIndex(int n, Context context) {
  const Expr& node = statement_.nodes[n];
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
    return scope_.ErrorAt(node.offset, expected,
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
    return scope_.ErrorAt(node.offset, expected, StrCat(word, ": not affine"));
  }
  varies_[n] = varies(0) || varies(1);
  const bool product = node.op == Operator::kMultiply;
  const bool sum = node.op == Operator::kAdd || node.op == Operator::kSubtract;
  if (sum || !varies_[n] || (product && !(varies(0) && varies(1)))) {
    return OkStatus();
  }
  return scope_.ErrorAt(node.offset, expected,
                        StrCat("'", TextOf(node.op),
                               product ? "' of two of them: not affine"
                                       : "' of one of them: not affine"));
}

}  // namespace tim::expr
