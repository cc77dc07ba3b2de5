#include "ops/reduction/reduce_node.h"

#include <cstdlib>

#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"

namespace tim::ops {
namespace {

using Kind = ReduceFinish::Kind;

bool IsExtreme(ReduceKind kind) {
  return kind == ReduceKind::kMin || kind == ReduceKind::kMax;
}

// Codes whose sum is the result's code.
ReduceRule CodeRule(ReduceKind kind, int64_t count) {
  const Kind finish = kind == ReduceKind::kMean ? Kind::kCodeMean : Kind::kCode;
  return {.value = ReduceRule::Value::kCentered,
          .finish = {.kind = finish, .count = count}};
}

bool IsOfCodes(ReduceKind kind, const ir::TensorDesc& input,
               const ir::TensorDesc& output) {
  if (HasOneRule(input) && kernels::IsPlainInteger(input) &&
      kernels::IsPlainInteger(output)) {
    return true;
  }
  return IsExtreme(kind) && HasOneRule(input) &&
         ir::SameElements(input, output);
}

int64_t LargestMagnitude(const ir::TensorDesc& desc, int32_t zero) {
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  return std::max(std::abs(info.min - zero), std::abs(info.max - zero));
}

// [W, H, C, N] whose channels stay: blocks are reduced like a dense tensor
// [16, W, H, blocks, N].
bool FitsBlocks(const ir::TensorDesc& input, const ir::TensorDesc& output,
                const std::vector<bool>& reduced) {
  return FitsChannelBlocks(input) && !reduced[2] &&
         (!reduced[3] || input.shape[3] == 1) &&
         ConversionKeepsZero(input, output,
                             kernels::ConvertRuleOf(input, output));
}

template <typename T>
void StoreAll(const ReduceRule& rule, std::span<const T> values,
              const ir::MutableTensor& output) {
  kernels::ElementWriter writer(output);
  const ReduceFinish& finish = rule.finish;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (finish.kind == Kind::kCode) {
      writer.StoreCode(at, static_cast<int64_t>(values[i]));
      continue;
    }
    if (finish.kind == Kind::kCodeMean) {
      writer.StoreCode(
          at, RoundedQuotient(static_cast<int64_t>(values[i]), finish.count));
      continue;
    }
    auto v = static_cast<float>(values[i]);
    if (finish.kind == Kind::kMean) v = v / static_cast<float>(finish.count);
    const float y = v * finish.multiplier;
    if (rule.units) {
      writer.StoreUnits(at, y + static_cast<float>(finish.zero));
    } else {
      writer.StoreReal(at, y);
    }
  }
}

}  // namespace

bool HasOneRule(const ir::TensorDesc& desc) {
  return ir::IsInteger(desc.type) &&
         !(desc.quantized() && desc.quantization.per_channel());
}

ReduceRule ReduceRuleOf(ReduceKind kind, const ir::TensorDesc& input,
                        const ir::TensorDesc& output, int64_t count) {
  const bool truth = kind == ReduceKind::kAny || kind == ReduceKind::kAll;
  if (!truth && IsOfCodes(kind, input, output)) return CodeRule(kind, count);
  ReduceRule rule;
  rule.finish.count = count;
  if (kind == ReduceKind::kMean) rule.finish.kind = Kind::kMean;
  const bool integer_output = HasOneRule(output);
  if (integer_output && output.quantized()) {
    rule.finish.scale = output.quantization.Scale();
    rule.finish.zero = output.quantization.ZeroPoint();
  }
  if (truth) {
    rule.value = ReduceRule::Value::kTruth;
  } else if (HasOneRule(input) && kind != ReduceKind::kProd) {
    rule.value = ReduceRule::Value::kCentered;
    const float scale = input.quantized() ? input.quantization.Scale() : 1.0f;
    rule.units = integer_output;
    rule.finish.multiplier =
        integer_output ? kernels::Multiplier(scale, rule.finish.scale) : scale;
    rule.finish.scale = 1.0f;
  }
  if (HasOneRule(input) && input.quantized()) {
    rule.zero = input.quantization.ZeroPoint();
  }
  return rule;
}

ReduceArithmetic ReduceArithmeticOf(ReduceKind kind, const ReduceRule& rule,
                                    const ir::TensorDesc& input,
                                    int64_t count) {
  ReduceArithmetic out;
  switch (kind) {
    case ReduceKind::kProd:
      out.join = "MULTIPLY";
      break;
    case ReduceKind::kMin:
    case ReduceKind::kAll:
      out.join = "MIN";
      break;
    case ReduceKind::kMax:
    case ReduceKind::kAny:
      out.join = "MAX";
      break;
    default:
      break;
  }
  if (rule.value == ReduceRule::Value::kReal) return out;
  out.value = "TRUTH";
  out.sum = ir::DataType::kInt32;
  if (rule.value == ReduceRule::Value::kTruth) return out;
  out.value = "CENTERED";
  const double terms = IsExtreme(kind) ? 1.0 : static_cast<double>(count);
  const auto largest = static_cast<double>(LargestMagnitude(input, rule.zero));
  // -2^31 fits where nothing is added to it.
  const double limit = IsExtreme(kind) ? 0x1p31 : 0x1p31 - 1;
  const bool wide = ir::Info(input.type).bits > 32;
  if (wide || kind == ReduceKind::kProd || terms * largest > limit) {
    out.sum = ir::DataType::kInt64;
  }
  return out;
}

Status CheckSumOperand(const ir::TensorDesc& input) {
  if (!input.quantized() || ir::Info(input.type).bits <= 32) return OkStatus();
  return Unimplemented("quantized ", ir::ToString(input.type),
                       " has no kernel");
}

Status StoreReduced(const ReduceRule& rule, std::span<const float> values,
                    const ir::MutableTensor& output) {
  StoreAll(rule, values, output);
  return OkStatus();
}

Status StoreReduced(const ReduceRule& rule, std::span<const int64_t> values,
                    const ir::MutableTensor& output) {
  StoreAll(rule, values, output);
  return OkStatus();
}

int64_t AddWrapped(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

int64_t SubtractWrapped(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) -
                              static_cast<uint64_t>(b));
}

int64_t RoundedQuotient(int64_t sum, int64_t count) {
  const int64_t quotient = sum / count;
  const int64_t rest = std::abs(sum - quotient * count) * 2;
  const int64_t away = sum < 0 ? quotient - 1 : quotient + 1;
  return rest > count || (rest == count && quotient % 2 != 0) ? away : quotient;
}

Result<std::vector<bool>> ReducedAxesOf(const ir::AttributeMap& attributes,
                                        const char* name,
                                        const ir::Shape& shape) {
  Result<std::vector<bool>> axes =
      ReducedAxes(attributes.Ints(name), shape.rank());
  if (axes.ok()) return axes;
  return axes.status().WithContext(StrCat("attribute '", name, "'"));
}

Status InferReduced(ir::InferContext& context, const char* name) {
  for (int i = 0; i < static_cast<int>(context.outputs.size()); ++i) {
    InferTypeFromInput(context, i);
  }
  const ir::Shape& shape = context.shape(0);
  if (!shape.ranked()) {
    if (!context.attributes().Ints(name).empty()) return OkStatus();
    return ReducedAxesOf(context.attributes(), name, shape).status();
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                       ReducedAxesOf(context.attributes(), name, shape));
  const bool keep_dims = context.attributes().Bool("keep_dims");
  const bool all =
      std::find(reduced.begin(), reduced.end(), false) == reduced.end();
  for (auto& output : context.outputs) {
    output.desc.shape = ReducedShape(shape, reduced, keep_dims);
    output.is_scalar = all && !keep_dims;
  }
  return OkStatus();
}

int64_t ReducedCount(std::span<const ReduceGroup> groups) {
  int64_t count = 1;
  for (const ReduceGroup& group : groups) count *= group.count;
  return count;
}

std::vector<ReduceLayout> ReduceLayouts(const ir::TensorDesc& input,
                                        const ir::TensorDesc& output,
                                        const std::vector<bool>& reduced) {
  const ir::Layout dense = ir::Layout::Dense();
  std::vector<ReduceLayout> out = {{dense, dense}};
  const ir::Shape& shape = input.shape;
  if (!FitsBlocks(input, output, reduced)) return out;
  const ir::Layout blocked = ChannelBlocks();
  if (FitsChannelBlocks(output)) out.push_back({blocked, blocked});
  // Whole blocks of single pixels lie as in a dense tensor.
  const auto is_single = [&](int axis) {
    return reduced[axis] || shape[axis] == 1;
  };
  if (is_single(0) && is_single(1) && shape[2] % kChannelBlock == 0) {
    out.push_back({blocked, dense});
  }
  return out;
}

std::vector<ReduceGroup> GroupsInMemory(std::vector<bool> reduced,
                                        const ir::TensorDesc& input) {
  if (input.layout.blocked()) reduced.insert(reduced.begin(), false);
  return ReduceGroups(ir::Shape(ir::PhysicalDims(input)), reduced);
}

}  // namespace tim::ops
