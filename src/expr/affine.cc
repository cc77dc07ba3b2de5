// Reads indices and sizes as affine functions, with numbers for all names but
// the index variables.
#include "expr/affine.h"

#include <utility>

#include "base/checked_math.h"
#include "expr/functions.h"

namespace tim::expr {
namespace {

using Value = std::optional<Affine>;

Status Overflow() {
  return InvalidArgument("an index or a size overflows 64 bits");
}

class Reader {
 public:
  Reader(const Statement& statement, const Numbers& numbers)
      : statement_(statement), numbers_(numbers) {}

  Result<Value> Read(int root) {
    const int first = FirstNode(statement_, root);
    values_.resize(root + 1 - first);
    for (int i = first; i <= root; ++i) {
      TIM_ASSIGN_OR_RETURN(values_[i - first],
                           Node(statement_.nodes[i], first));
    }
    return std::move(values_.back());
  }

 private:
  static Value Constant(int64_t value) { return Affine{.constant = value}; }

  Result<Value> Node(const Expr& node, int first) const {
    const auto operand = [&](size_t k) -> const Value& {
      return values_[node.operands[k] - first];
    };
    switch (node.kind) {
      case Expr::Kind::kInteger:
        return Constant(node.integer);
      case Expr::Kind::kName:
        return Named(node, 0);
      case Expr::Kind::kAccess:
        return Named(node, node.integer);
      case Expr::Kind::kUnary:
        if (!operand(0)) return Value();
        return Sum(Affine(), *operand(0), -1);
      case Expr::Kind::kBinary:
        if (!operand(0) || !operand(1)) return Value();
        return Binary(node.op, *operand(0), *operand(1));
      default:
        return TIM_INTERNAL("the node is no index");
    }
  }

  Result<Value> Named(const Expr& node, int64_t position) const {
    if (node.refers == NameKind::kVariable) {
      return Value(VariableAlone(node.index));
    }
    if (node.refers == NameKind::kDimension) {
      const int64_t extent = numbers_.dimensions[node.index];
      return extent == kUnknownSize ? Value() : Constant(extent);
    }
    const std::vector<int64_t>& list = numbers_.integers[node.index];
    if (position < static_cast<int64_t>(list.size())) {
      return Constant(list[position]);
    }
    return InvalidArgument("attribute '", node.name, "' has ", list.size(),
                           " elements, the text reads element ", position);
  }

  static Result<Value> Sum(const Affine& a, const Affine& b, int64_t factor) {
    Value sum = Add(a, b, factor);
    if (!sum) return Overflow();
    return sum;
  }

  static Result<Value> Binary(Operator op, const Affine& a, const Affine& b) {
    if (op == Operator::kAdd) return Sum(a, b, 1);
    if (op == Operator::kSubtract) return Sum(a, b, -1);
    if (op == Operator::kMultiply) {
      return a.IsConstant() ? Sum(Affine(), b, a.constant)
                            : Sum(Affine(), a, b.constant);
    }
    if (b.constant == 0) return InvalidArgument("a size is divided by 0");
    return Constant(op == Operator::kDivide
                        ? FloorDivide(a.constant, b.constant)
                        : FloorModulo(a.constant, b.constant));
  }

  const Statement& statement_;
  const Numbers& numbers_;
  std::vector<Value> values_;
};

}  // namespace

bool Affine::IsConstant() const {
  return coefficients == std::array<int64_t, kMostVariables>{};
}

int Affine::LoneVariable() const {
  int lone = -1;
  for (int i = 0; i < kMostVariables; ++i) {
    if (coefficients[i] == 0) continue;
    if (lone >= 0 || coefficients[i] != 1) return -1;
    lone = i;
  }
  return constant == 0 ? lone : -1;
}

Affine VariableAlone(int variable) {
  Affine out;
  out.coefficients[variable] = 1;
  return out;
}

std::optional<Affine> Add(const Affine& a, const Affine& b, int64_t factor) {
  Affine out;
  const auto add = [factor](int64_t x, int64_t y, int64_t* sum) {
    const std::optional<int64_t> product = CheckedMul(y, factor);
    const std::optional<int64_t> total =
        product ? CheckedAdd(x, *product) : std::nullopt;
    if (total) *sum = *total;
    return total.has_value();
  };
  for (int i = 0; i < kMostVariables; ++i) {
    if (!add(a.coefficients[i], b.coefficients[i], &out.coefficients[i])) {
      return std::nullopt;
    }
  }
  if (!add(a.constant, b.constant, &out.constant)) return std::nullopt;
  return out;
}

int FirstNode(const Statement& statement, int root) {
  while (!statement.nodes[root].operands.empty()) {
    root = statement.nodes[root].operands[0];
  }
  return root;
}

Result<std::optional<Affine>> AffineOf(const Statement& statement, int root,
                                       const Numbers& numbers) {
  return Reader(statement, numbers).Read(root);
}

}  // namespace tim::expr
