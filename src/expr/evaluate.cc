// Evaluates statement by statement, element by element.
#include "expr/evaluate.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/elements.h"

namespace tim::expr {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Scalar Real(float value) { return {.real = value}; }
Scalar Integer(int64_t value) { return {.integer = value}; }

Scalar Converted(Scalar value, ValueKind from, ValueKind to) {
  if (from == to || to != ValueKind::kFloat) return value;
  return Real(static_cast<float>(value.integer));
}

Scalar Identity(Aggregate aggregate, ValueKind kind) {
  const bool real = kind == ValueKind::kFloat;
  switch (aggregate) {
    case Aggregate::kProduct:
      return real ? Real(1) : Integer(1);
    case Aggregate::kMaximum:
      return real ? Real(-kInfinity)
                  : Integer(std::numeric_limits<int64_t>::min());
    case Aggregate::kMinimum:
      return real ? Real(kInfinity)
                  : Integer(std::numeric_limits<int64_t>::max());
    default:
      return real ? Real(0) : Integer(0);
  }
}

Scalar Aggregated(Aggregate aggregate, ValueKind kind, Scalar sum, Scalar x) {
  const bool real = kind == ValueKind::kFloat;
  switch (aggregate) {
    case Aggregate::kSum:
      return real ? Real(sum.real + x.real)
                  : Integer(WrapAdd(sum.integer, x.integer));
    case Aggregate::kProduct:
      return real ? Real(sum.real * x.real)
                  : Integer(WrapMultiply(sum.integer, x.integer));
    case Aggregate::kMaximum:
      return real ? Real(Maximum(sum.real, x.real))
                  : Integer(std::max(sum.integer, x.integer));
    case Aggregate::kMinimum:
      return real ? Real(Minimum(sum.real, x.real))
                  : Integer(std::min(sum.integer, x.integer));
    default:
      return x;
  }
}

Scalar RealBinary(Operator op, float a, float b) {
  switch (op) {
    case Operator::kAdd:
      return Real(a + b);
    case Operator::kSubtract:
      return Real(a - b);
    case Operator::kMultiply:
      return Real(a * b);
    case Operator::kDivide:
      return Real(a / b);
    case Operator::kLess:
      return Integer(a < b);
    case Operator::kLessEqual:
      return Integer(a <= b);
    case Operator::kGreater:
      return Integer(a > b);
    case Operator::kGreaterEqual:
      return Integer(a >= b);
    case Operator::kEqual:
      return Integer(a == b);
    default:
      return Integer(a != b);
  }
}

Scalar IntegerBinary(Operator op, int64_t a, int64_t b) {
  switch (op) {
    case Operator::kAdd:
      return Integer(WrapAdd(a, b));
    case Operator::kSubtract:
      return Integer(WrapSubtract(a, b));
    case Operator::kMultiply:
      return Integer(WrapMultiply(a, b));
    case Operator::kModulo:
      return Integer(FloorModulo(a, b));
    case Operator::kLess:
      return Integer(a < b);
    case Operator::kLessEqual:
      return Integer(a <= b);
    case Operator::kGreater:
      return Integer(a > b);
    case Operator::kGreaterEqual:
      return Integer(a >= b);
    case Operator::kEqual:
      return Integer(a == b);
    case Operator::kAnd:
      return Integer(a & b);
    case Operator::kOr:
      return Integer(a | b);
    default:
      return Integer(a != b);
  }
}

using Elements = std::vector<Scalar>;

class Evaluation {
 public:
  Evaluation(const Binding& binding, std::vector<Elements>* tensors, size_t i)
      : tensors_(*tensors),
        statement_(binding.program->statement(i)),
        info_(binding.program->statements[i]),
        bound_(binding.statements[i]),
        kinds_(binding.types.nodes[i]),
        values_(statement_.nodes.size()),
        access_(statement_.nodes.size(), -1) {
    for (size_t k = 0; k < bound_.accesses.size(); ++k) {
      access_[bound_.accesses[k].node] = static_cast<int>(k);
    }
  }

  Status Prepare(const Binding& binding);
  Elements Run();

 private:
  bool Holds(const Row& row) const;
  void Loop(size_t level);
  void Visit();
  void Compute(int n);
  void Call(const Expr& node, int n);
  Scalar Operand(const Expr& node, size_t k, ValueKind kind) const {
    const int n = node.operands[k];
    return Converted(values_[n], kinds_[n], kind);
  }
  int64_t At(const Affine& index) const {
    int64_t value = index.constant;
    for (size_t v = 0; v < variables_; ++v) {
      value += index.coefficients[v] * point_[v];
    }
    return value;
  }

  const std::vector<Elements>& tensors_;
  const Statement& statement_;
  const StatementInfo& info_;
  const BoundStatement& bound_;
  const std::vector<ValueKind>& kinds_;
  std::vector<Scalar> values_;
  std::vector<int> access_;  // Of a node, in bound_.accesses.
  std::vector<int> computed_;
  size_t variables_ = 0;
  std::array<int64_t, kMostVariables> point_ = {};
  Scalar sum_ = {};
};

Status Evaluation::Prepare(const Binding& binding) {
  variables_ = bound_.dims.size() + bound_.plan.loops.size();
  for (int n = info_.first_node; n <= statement_.value; ++n) {
    if (info_.in_index[n]) continue;
    const Expr& node = statement_.nodes[n];
    const bool leaf = node.kind <= Expr::Kind::kAccess;
    if (!leaf || access_[n] >= 0 || node.refers == NameKind::kVariable) {
      computed_.push_back(n);
      continue;
    }
    TIM_ASSIGN_OR_RETURN(values_[n], ConstantOf(binding, node, kinds_[n]));
  }
  return OkStatus();
}

bool Evaluation::Holds(const Row& row) const {
  const int64_t index = At(row.index);
  return index >= 0 && index < row.limit;
}

Elements Evaluation::Run() {
  int64_t count = 1;
  for (const int64_t extent : bound_.dims) count *= extent;
  Elements out(count);
  const ValueKind kind = kinds_[statement_.value];
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t v = bound_.dims.size(); v-- > 0;) {
      point_[v] = rest % bound_.dims[v];
      rest /= bound_.dims[v];
    }
    sum_ = Identity(statement_.aggregate, kind);
    const auto& guards = bound_.plan.guards;
    if (std::all_of(guards.begin(), guards.end(),
                    [this](const Row& row) { return Holds(row); })) {
      Loop(0);
    }
    out[i] = sum_;
  }
  return out;
}

void Evaluation::Loop(size_t level) {
  if (level == bound_.plan.loops.size()) return Visit();
  const expr::Loop& loop = bound_.plan.loops[level];
  Range range = loop.range;
  for (const LoopBound& bound : loop.bounds) {
    const int64_t rest = At(bound.rest);
    const int64_t c = bound.coefficient;
    const int64_t low = c > 0 ? bound.lowest - rest : rest - bound.highest;
    const int64_t high = c > 0 ? bound.highest - rest : rest - bound.lowest;
    const int64_t size = c > 0 ? c : -c;
    range.first = std::max(range.first, CeilDivide(low, size));
    range.last = std::min(range.last, FloorDivide(high, size));
  }
  int64_t& variable = point_[bound_.dims.size() + level];
  for (int64_t i = range.first; i <= range.last; ++i) {
    variable = i;
    Loop(level + 1);
  }
  variable = 0;
}

void Evaluation::Visit() {
  for (const int n : computed_) Compute(n);
  sum_ = Aggregated(statement_.aggregate, kinds_[statement_.value], sum_,
                    values_[statement_.value]);
}

void Evaluation::Call(const Expr& node, int n) {
  const FunctionDef& function = FunctionAt(node.index);
  const ValueKind kind = kinds_[n];
  Scalar& out = values_[n];
  if (function.rule == FunctionRule::kToReal) {
    out = Operand(node, 0, ValueKind::kFloat);
  } else if (function.rule == FunctionRule::kToInteger) {
    const Scalar x = values_[node.operands[0]];
    out = Integer(kinds_[node.operands[0]] == ValueKind::kFloat
                      ? ToInt32(x.real)
                      : ToInt32(x.integer));
  } else {
    const Scalar a = Operand(node, 0, kind);
    const Scalar b = node.operands.size() > 1 ? Operand(node, 1, kind) : a;
    out = kind == ValueKind::kFloat
              ? Real(function.real(a.real, b.real))
              : Integer(function.integer(a.integer, b.integer));
  }
}

void Evaluation::Compute(int n) {
  const Expr& node = statement_.nodes[n];
  const ValueKind kind = kinds_[n];
  const bool real = kind == ValueKind::kFloat;
  Scalar& out = values_[n];
  if (access_[n] >= 0) {
    const Access& access = bound_.accesses[access_[n]];
    out = tensors_[access.tensor][At(access.offset)];
  } else if (node.kind == Expr::Kind::kName) {
    out = Integer(point_[node.index]);
  } else if (node.kind == Expr::Kind::kUnary) {
    const Scalar x = values_[node.operands[0]];
    out = node.op == Operator::kNot ? Integer(x.integer == 0)
          : real                    ? Real(-x.real)
                                    : Integer(WrapSubtract(0, x.integer));
  } else if (node.kind == Expr::Kind::kBinary) {
    const bool reals = kinds_[node.operands[0]] == ValueKind::kFloat ||
                       kinds_[node.operands[1]] == ValueKind::kFloat;
    const ValueKind common = reals ? ValueKind::kFloat : ValueKind::kInteger;
    const Scalar a = Operand(node, 0, common);
    const Scalar b = Operand(node, 1, common);
    out = reals ? RealBinary(node.op, a.real, b.real)
                : IntegerBinary(node.op, a.integer, b.integer);
  } else if (node.operands.size() == 3) {
    const bool yes = values_[node.operands[0]].integer != 0;
    out = Operand(node, yes ? 1 : 2, kind);
  } else {
    Call(node, n);
  }
}

Elements Load(const ir::ConstTensor& tensor, ValueKind kind, int64_t count) {
  const kernels::ElementReader reader(tensor);
  Elements out(count);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = kind == ValueKind::kFloat ? Real(reader.Real(i))
                                       : Integer(reader.Code(i));
  }
  return out;
}

void Store(const Elements& elements, ValueKind kind,
           const ir::MutableTensor& tensor) {
  kernels::ElementWriter writer(tensor);
  const bool real_type = ir::IsFloat(tensor.desc->type);
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (kind == ValueKind::kFloat) {
      writer.StoreReal(at, elements[i].real);
    } else if (real_type) {
      writer.StoreReal(at, static_cast<float>(elements[i].integer));
    } else {
      writer.StoreCode(at, elements[i].integer);
    }
  }
}

}  // namespace

Result<Scalar> ConstantOf(const Binding& binding, const Expr& node,
                          ValueKind kind) {
  if (node.kind == Expr::Kind::kFloat) {
    return Real(static_cast<float>(node.real));
  }
  if (node.refers == NameKind::kDimension) {
    return Integer(binding.numbers.dimensions[node.index]);
  }
  if (node.refers != NameKind::kAttribute) return Integer(node.integer);
  if (kind == ValueKind::kFloat) {
    TIM_ASSIGN_OR_RETURN(const float value, FloatOf(binding, node));
    return Real(value);
  }
  const AttributeDef& def = binding.program->syntax.attributes[node.index];
  if (kind == ValueKind::kBool) {
    return Integer(binding.attributes.Bool(def.name.text));
  }
  const std::vector<int64_t>& list = binding.numbers.integers[node.index];
  const int64_t position = node.kind == Expr::Kind::kAccess ? node.integer : 0;
  if (position < static_cast<int64_t>(list.size())) {
    return Integer(list[position]);
  }
  return InvalidArgument("attribute '", node.name, "' has ", list.size(),
                         " elements, the text reads element ", position);
}

Status Evaluate(const Binding& binding, std::span<const ir::ConstTensor> inputs,
                std::span<const ir::MutableTensor> outputs) {
  const Program& program = *binding.program;
  std::vector<Elements> tensors(program.tensors.size());
  const auto kind_of = [&](int tensor) {
    return KindOf(binding.types.tensors[tensor]);
  };
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const int tensor = program.inputs[i];
    tensors[tensor] =
        Load(inputs[i], kind_of(tensor), binding.Elements(tensor));
  }
  for (size_t i = 0; i < program.statements.size(); ++i) {
    Evaluation evaluation(binding, &tensors, i);
    TIM_RETURN_IF_ERROR(evaluation.Prepare(binding));
    Elements elements = evaluation.Run();
    const int tensor = program.statements[i].tensor;
    const int output = program.tensors[tensor].output;
    if (output >= 0) {
      // Later statements read what was rounded.
      const ValueKind kind = binding.types.nodes[i][program.statement(i).value];
      Store(elements, kind, outputs[output]);
      elements = Load({outputs[output].desc, outputs[output].data},
                      kind_of(tensor), binding.Elements(tensor));
    }
    tensors[tensor] = std::move(elements);
  }
  return OkStatus();
}

}  // namespace tim::expr
