// Writes the OpenCL text of a group of statements.  Values are one constant per
// node, so that the text is no deeper than its loops.
#include "expr/kernel_text.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>

#include "expr/evaluate.h"
#include "expr/kernel_pieces.h"
#include "ir/index_limit.h"
#include "kernels/chain_text.h"
#include "kernels/kernel_sources.h"

namespace tim::expr {
namespace {

using ir::DataType;

class Writer {
 public:
  Writer(const Binding& binding, const KernelGroup& group)
      : binding_(binding), program_(*binding.program), group_(group) {}

  Result<std::string> Run();

 private:
  bool NeedsLong() const;
  void Line(const std::string& text) {
    body_ += std::string(2 * indent_, ' ') + text + "\n";
  }
  void WriteParameters();
  void WriteIndices();
  Status WriteStatement(size_t i);
  void OpenLoop(const Loop& loop, int variable);
  Status WriteValue(size_t i);
  Result<std::string> NodeText(size_t i, int n);
  Result<std::string> LeafText(size_t i, int n);
  std::string BinaryText(size_t i, const Expr& node);
  std::string CallText(size_t i, const Expr& node, ValueKind kind);
  std::string Operand(size_t i, int n, ValueKind kind) const;
  std::string LoadText(const Access& access);
  void WriteStore(int tensor, ValueKind kind);

  ValueKind Kind(size_t i, int n) const { return binding_.types.nodes[i][n]; }
  DataType TypeOfTensor(int tensor) const {
    return binding_.types.tensors[tensor];
  }

  const Binding& binding_;
  const Program& program_;
  const KernelGroup& group_;
  const char* index_type_ = "int";
  std::string body_;
  int indent_ = 1;
  std::set<std::string> headers_ = {"kernels/elements.clh"};
  std::set<int> local_;  // Tensors that the work-item has made.
};

// Whether an index, or a part of one, may leave `int`.
bool Writer::NeedsLong() const {
  constexpr double kMost = 1 << 30;
  if (static_cast<double>(group_.items) > kMost) return true;
  for (const size_t i : group_.statements) {
    const BoundStatement& bound = binding_.statements[i];
    std::vector<Affine> indices;
    for (const Row& row : bound.rows) indices.push_back(row.index);
    for (const Access& access : bound.accesses) {
      indices.push_back(access.offset);
    }
    for (const Affine& index : indices) {
      double most = std::abs(static_cast<double>(index.constant));
      for (size_t v = 0; v < kMostVariables; ++v) {
        double value = 0;
        const size_t left = bound.dims.size();
        if (v < left) {
          value = static_cast<double>(bound.dims[v]);
        } else if (v - left < bound.plan.loops.size()) {
          const Range& range = bound.plan.loops[v - left].range;
          value = std::max(std::abs(static_cast<double>(range.first)),
                           std::abs(static_cast<double>(range.last)));
        }
        most += value * std::abs(static_cast<double>(index.coefficients[v]));
      }
      if (most > kMost) return true;
    }
    for (const Row& row : bound.rows) {
      if (static_cast<double>(row.limit) > kMost) return true;
    }
  }
  return false;
}

void Writer::WriteParameters() {
  std::string parameters;
  const auto add = [&](int tensor, const char* access) {
    if (!parameters.empty()) parameters += ",\n    ";
    parameters += StrCat("__global ", access, StorageOf(TypeOfTensor(tensor)),
                         "* t", tensor, ", int t", tensor, "_offset");
  };
  for (const int tensor : group_.reads) add(tensor, "const ");
  for (const int tensor : group_.writes) add(tensor, "");
  body_ += StrCat("__kernel void ", kKernelFunction, "(", parameters, ") {\n");
  for (const std::vector<int>* list : {&group_.reads, &group_.writes}) {
    for (const int tensor : *list) {
      Line(StrCat("t", tensor, " += t", tensor, "_offset;"));
    }
  }
}

void Writer::WriteIndices() {
  Line(StrCat("const ", index_type_, " item = get_global_id(0);"));
  Line(StrCat("if (item >= ", group_.items, ") return;"));
  const Dims& dims = binding_.statements[group_.statements[0]].dims;
  if (dims.empty()) return;
  Line(StrCat(index_type_, " rest = item;"));
  for (size_t v = dims.size(); v-- > 1;) {
    Line(StrCat("const ", index_type_, " i", v, " = rest % ", dims[v], ";"));
    Line(StrCat("rest /= ", dims[v], ";"));
  }
  Line(StrCat("const ", index_type_, " i0 = rest;"));
}

void Writer::OpenLoop(const Loop& loop, int variable) {
  std::string first = StrCat(loop.range.first);
  std::string last = StrCat(loop.range.last);
  const std::string type = StrCat("(", index_type_, ")");
  for (const LoopBound& bound : loop.bounds) {
    const int64_t c = bound.coefficient;
    Affine low = bound.rest;  // c > 0: lowest - rest
    Affine high = bound.rest;
    for (int v = 0; v < kMostVariables; ++v) {
      if (c > 0) low.coefficients[v] = high.coefficients[v] *= -1;
    }
    low.constant = c > 0 ? bound.lowest - bound.rest.constant
                         : bound.rest.constant - bound.highest;
    high.constant = c > 0 ? bound.highest - bound.rest.constant
                          : bound.rest.constant - bound.lowest;
    const int64_t size = c > 0 ? c : -c;
    std::string from = AffineText(low);
    std::string to = AffineText(high);
    if (size != 1) {
      from = StrCat("x_ceil(", from, ", ", size, ")");
      to = StrCat("x_floor(", to, ", ", size, ")");
    }
    first = StrCat("max(", type, "(", from, "), ", type, "(", first, "))");
    last = StrCat("min(", type, "(", to, "), ", type, "(", last, "))");
  }
  Line(StrCat("const ", index_type_, " last", variable, " = ", last, ";"));
  Line("TIM_IN_ORDER");
  Line(StrCat("for (", index_type_, " i", variable, " = ", first, "; i",
              variable, " <= last", variable, "; ++i", variable, ") {"));
  ++indent_;
}

std::string Writer::Operand(size_t i, int n, ValueKind kind) const {
  const bool converts =
      kind == ValueKind::kFloat && Kind(i, n) != ValueKind::kFloat;
  return converts ? StrCat("(float)v", n) : StrCat("v", n);
}

std::string Writer::LoadText(const Access& access) {
  if (local_.contains(access.tensor)) return StrCat("r", access.tensor);
  const std::string t = StrCat("t", access.tensor);
  const std::string at = AffineText(access.offset);
  switch (TypeOfTensor(access.tensor)) {
    case DataType::kFloat32:
      return StrCat(t, "[", at, "]");
    case DataType::kFloat16:
      return StrCat("vload_half((size_t)(", at, "), ", t, ")");
    case DataType::kBFloat16:
      return StrCat("as_float((uint)", t, "[", at, "] << 16)");
    case DataType::kBool8:
      return StrCat("(", t, "[", at, "] != 0)");
    default:
      return StrCat("(long)", t, "[", at, "]");
  }
}

Result<std::string> Writer::LeafText(size_t i, int n) {
  const Expr& node = program_.statement(i).nodes[n];
  for (const Access& access : binding_.statements[i].accesses) {
    if (access.node == n) return LoadText(access);
  }
  if (node.refers == NameKind::kVariable) {
    return StrCat("(long)i", node.index);
  }
  TIM_ASSIGN_OR_RETURN(const Scalar value,
                       ConstantOf(binding_, node, Kind(i, n)));
  return ScalarText(value, Kind(i, n));
}

std::string Writer::BinaryText(size_t i, const Expr& node) {
  const int x = node.operands[0];
  const int y = node.operands[1];
  const bool real =
      Kind(i, x) == ValueKind::kFloat || Kind(i, y) == ValueKind::kFloat;
  const ValueKind common = real ? ValueKind::kFloat : ValueKind::kInteger;
  const std::string a = Operand(i, x, common);
  const std::string b = Operand(i, y, common);
  if (node.op == Operator::kDivide) {
    headers_.insert("kernels/exact_quotient.clh");
    return StrCat("tim_quotient_float(", a, ", ", b, ")");
  }
  const std::map<Operator, const char*> wrapping = {
      {Operator::kAdd, "x_add"},
      {Operator::kSubtract, "x_sub"},
      {Operator::kMultiply, "x_mul"},
      {Operator::kModulo, "x_mod"}};
  const auto at = wrapping.find(node.op);
  if (!real && at != wrapping.end()) {
    return StrCat(at->second, "(", a, ", ", b, ")");
  }
  // Booleans are 0 or 1.
  if (node.op == Operator::kAnd) return StrCat(a, " & ", b);
  if (node.op == Operator::kOr) return StrCat(a, " | ", b);
  return StrCat(a, " ", TextOf(node.op), " ", b);
}

std::string Writer::CallText(size_t i, const Expr& node, ValueKind kind) {
  const FunctionDef& function = FunctionAt(node.index);
  if (function.header != nullptr) headers_.insert(function.header);
  if (function.rule == FunctionRule::kToReal) {
    return Operand(i, node.operands[0], ValueKind::kFloat);
  }
  bool real = kind == ValueKind::kFloat;
  if (function.rule == FunctionRule::kToInteger) {
    real = Kind(i, node.operands[0]) == ValueKind::kFloat;
  }
  std::string arguments;
  for (const int operand : node.operands) {
    if (!arguments.empty()) arguments += ", ";
    arguments +=
        Operand(i, operand, real ? ValueKind::kFloat : ValueKind::kInteger);
  }
  return StrCat(function.text, real ? "(" : "l(", arguments, ")");
}

Result<std::string> Writer::NodeText(size_t i, int n) {
  const Expr& node = program_.statement(i).nodes[n];
  const ValueKind kind = Kind(i, n);
  switch (node.kind) {
    case Expr::Kind::kUnary: {
      const std::string x = StrCat("v", node.operands[0]);
      if (node.op == Operator::kNot) return StrCat("!", x);
      return kind == ValueKind::kFloat ? StrCat("-", x)
                                       : StrCat("x_sub(0L, ", x, ")");
    }
    case Expr::Kind::kBinary:
      return BinaryText(i, node);
    case Expr::Kind::kCall:
      if (FunctionAt(node.index).rule != FunctionRule::kSelect) {
        return CallText(i, node, kind);
      }
      [[fallthrough]];
    case Expr::Kind::kChoice:
      return StrCat("v", node.operands[0], " ? ",
                    Operand(i, node.operands[1], kind), " : ",
                    Operand(i, node.operands[2], kind));
    default:
      return LeafText(i, n);
  }
}

Status Writer::WriteValue(size_t i) {
  const Statement& statement = program_.statement(i);
  const StatementInfo& info = program_.statements[i];
  for (int n = info.first_node; n <= statement.value; ++n) {
    if (info.in_index[n]) continue;
    TIM_ASSIGN_OR_RETURN(const std::string text, NodeText(i, n));
    Line(StrCat("const ", TypeText(Kind(i, n)), " v", n, " = ", text, ";"));
  }
  const std::string result = StrCat("r", info.tensor);
  const std::string value = StrCat("v", statement.value);
  const bool real = Kind(i, statement.value) == ValueKind::kFloat;
  switch (statement.aggregate) {
    case Aggregate::kSum:
      Line(real ? StrCat(result, " += ", value, ";")
                : StrCat(result, " = x_add(", result, ", ", value, ");"));
      break;
    case Aggregate::kProduct:
      Line(real ? StrCat(result, " *= ", value, ";")
                : StrCat(result, " = x_mul(", result, ", ", value, ");"));
      break;
    case Aggregate::kMaximum:
    case Aggregate::kMinimum:
      Line(
          StrCat(result, " = ",
                 statement.aggregate == Aggregate::kMaximum ? "x_max" : "x_min",
                 "(", result, ", ", value, ");"));
      break;
    default:
      Line(StrCat(result, " = ", value, ";"));
  }
  return OkStatus();
}

Status Writer::WriteStatement(size_t i) {
  const Statement& statement = program_.statement(i);
  const BoundStatement& bound = binding_.statements[i];
  const int tensor = program_.statements[i].tensor;
  const ValueKind kind = Kind(i, statement.value);
  Line(StrCat(TypeText(kind), " r", tensor, " = ",
              IdentityText(statement.aggregate, kind), ";"));
  const int outside = indent_;
  std::string guards;
  for (const Row& row : bound.plan.guards) {
    const std::string index = AffineText(row.index);
    guards += StrCat(guards.empty() ? "" : " && ", "(", index, ") >= 0 && (",
                     index, ") < ", row.limit);
  }
  Line(guards.empty() ? "{" : StrCat("if (", guards, ") {"));
  ++indent_;
  for (size_t level = 0; level < bound.plan.loops.size(); ++level) {
    OpenLoop(bound.plan.loops[level],
             static_cast<int>(bound.dims.size() + level));
  }
  TIM_RETURN_IF_ERROR(WriteValue(i));
  while (indent_ > outside) {
    --indent_;
    Line("}");
  }
  local_.insert(tensor);
  const auto& writes = group_.writes;
  if (std::find(writes.begin(), writes.end(), tensor) != writes.end()) {
    WriteStore(tensor, kind);
  }
  return OkStatus();
}

void Writer::WriteStore(int tensor, ValueKind kind) {
  const std::string at = StrCat("t", tensor, "[item] = ");
  const std::string r = StrCat("r", tensor);
  const bool real = kind == ValueKind::kFloat;
  switch (TypeOfTensor(tensor)) {
    case DataType::kFloat32:
      Line(StrCat(at, "(float)", r, ";"));
      break;
    case DataType::kFloat16:
      Line(StrCat("vstore_half_rte((float)", r, ", (size_t)item, t", tensor,
                  ");"));
      break;
    case DataType::kBFloat16:
      Line(StrCat(at, "x_to_bf16((float)", r, ");"));
      break;
    case DataType::kBool8:
      Line(StrCat(at, "(uchar)(", r, " != 0);"));
      break;
    default:
      Line(StrCat(at, real ? "tim_to_code_" : "tim_fit_",
                  StorageOf(TypeOfTensor(tensor)), "(", r, ");"));
  }
}

Result<std::string> Writer::Run() {
  TIM_RETURN_IF_ERROR(CheckKernel(binding_, group_));
  if (NeedsLong()) index_type_ = "long";
  WriteParameters();
  WriteIndices();
  for (const size_t i : group_.statements) {
    TIM_RETURN_IF_ERROR(WriteStatement(i));
  }
  std::string text;
  for (const std::string& header : headers_) {
    const char* found = kernels::FindHeader(header);
    if (found == nullptr) return TIM_INTERNAL("no header ", header);
    text += found;
  }
  return StrCat(text, kernels::kOwnTextLine, kHelpers, body_, "}\n");
}

}  // namespace

Status CheckKernel(const Binding& binding, const KernelGroup& group) {
  for (const std::vector<int>* list : {&group.reads, &group.writes}) {
    for (const int tensor : *list) {
      const std::string& name = binding.program->tensors[tensor].name.text;
      if (StorageOf(binding.types.tensors[tensor]) == nullptr) {
        return Unimplemented("'", name, "' is ",
                             ir::ToString(binding.types.tensors[tensor]),
                             ", which has no kernel");
      }
      if (binding.Elements(tensor) > ir::kMostKernelElements) {
        return Unimplemented("'", name, "' has more than ",
                             ir::kMostKernelElements,
                             " elements, which no kernel takes");
      }
    }
  }
  return OkStatus();
}

Result<std::string> KernelText(const Binding& binding,
                               const KernelGroup& group) {
  return Writer(binding, group).Run();
}

}  // namespace tim::expr
