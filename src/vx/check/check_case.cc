// Draws the cases of a check, and the values of their inputs.
#include "vx/check/check_case.h"

#include <algorithm>
#include <cmath>

#include "ir/shape.h"
#include "kernels/elements.h"
#include "vx/check/random.h"
#include "vx/core/failure.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx::check {
namespace {

constexpr int kDraws = 200;

// Which of the range's shapes.
enum class Extents { kLeast, kRandom };

Status CheckInput(const CheckedOperator& checked, size_t i) {
  const InputRange& range = checked.inputs[i];
  const auto fail = [&](const auto&... reason) {
    return InvalidArgument("inputs[", i, "]: ", reason...);
  };
  if (range.like >= 0) {
    if (static_cast<size_t>(range.like) < i) return OkStatus();
    return fail("like is ", range.like, "; it must be an input before this");
  }
  if (range.types.empty()) return fail("types is empty");
  for (const DataType type : range.types) {
    if (type != DataType::UNKNOWN && ToIr(type)) continue;
    return fail("types has ", static_cast<int>(type),
                ", which is no type of a tensor");
  }
  if (range.least_rank < 1 || range.most_rank < range.least_rank ||
      range.most_rank > static_cast<uint32_t>(ir::kMaxRank)) {
    return fail("ranks from ", range.least_rank, " to ", range.most_rank,
                "; they must be from 1 to ", ir::kMaxRank);
  }
  for (const ExtentRange& extents : range.extents) {
    if (extents.least >= 1 && extents.most >= extents.least) continue;
    return fail("extents from ", extents.least, " to ", extents.most,
                "; they must be from 1 on");
  }
  if (range.least_value <= range.most_value &&
      std::isfinite(range.most_value - range.least_value)) {
    return OkStatus();
  }
  return fail("values from ", range.least_value, " to ", range.most_value,
              "; they must be finite and in order");
}

Status CheckOutput(const OutputRange& range, size_t i) {
  if (!range.variable ||
      (range.least_value <= range.most_value &&
       std::isfinite(range.most_value - range.least_value))) {
    return OkStatus();
  }
  return InvalidArgument("outputs[", i, "]: values from ", range.least_value,
                         " to ", range.most_value,
                         "; they must be finite and in order");
}

// Near the ends and around powers of two kernels go wrong.
uint32_t DrawExtent(const ExtentRange& range, Random& random) {
  const uint64_t span = uint64_t{range.most} - range.least + 1;
  switch (random.Below(4)) {
    case 0:
      return range.least;
    case 1:
      return range.most;
    case 2: {
      const uint64_t power = uint64_t{1} << random.Below(11);
      const uint64_t near = power + random.Below(3) - 1;
      return static_cast<uint32_t>(
          std::clamp<uint64_t>(near, range.least, range.most));
    }
    default:
      return static_cast<uint32_t>(range.least + random.Below(span));
  }
}

// Halves the largest extents that may be smaller.
void Limit(const InputRange& range, uint64_t most, ShapeType* shape) {
  const auto count = [&] {
    uint64_t elements = 1;
    for (const uint32_t extent : *shape) {
      if (elements > most) break;
      elements *= extent;
    }
    return elements;
  };
  while (count() > most) {
    uint32_t* largest = nullptr;
    for (size_t i = 0; i < shape->size(); ++i) {
      uint32_t& extent = (*shape)[i];
      if (extent <= ExtentsOf(range, i).least) continue;
      if (largest == nullptr || extent > *largest) largest = &extent;
    }
    if (largest == nullptr) return;
    const auto least = ExtentsOf(range, largest - shape->data()).least;
    *largest = std::max(least, *largest / 2);
  }
}

TensorSpec DrawInput(const CheckedOperator& checked,
                     const CheckOptions& options, uint32_t number,
                     Extents extents, const std::vector<TensorSpec>& before,
                     Random& random) {
  const InputRange& range = checked.inputs[before.size()];
  TensorSpec spec;
  spec.attr_ = INPUT;
  if (range.optional && random.Below(3) == 0) return spec;
  if (range.like >= 0) return before[static_cast<size_t>(range.like)];
  spec.datatype_ = range.types[number % range.types.size()];
  if (!range.quantizations.empty() && ir::IsInteger(*ToIr(spec.datatype_))) {
    spec.quantization_ =
        range.quantizations[random.Below(range.quantizations.size())];
  }
  const uint64_t ranks = uint64_t{range.most_rank} - range.least_rank + 1;
  const bool least = extents == Extents::kLeast;
  const uint64_t rank = range.least_rank + (least ? 0 : random.Below(ranks));
  for (size_t i = 0; i < rank; ++i) {
    const ExtentRange extent = ExtentsOf(range, i);
    spec.shape_.push_back(least ? extent.least : DrawExtent(extent, random));
  }
  Limit(range, options.most_elements, &spec.shape_);
  return spec;
}

// The whole number for element `i`, all that the range has in turn, from 1 on
// where it can.
std::optional<double> SimpleValue(const InputRange& range, int64_t i) {
  const double first = std::ceil(range.least_value);
  const double last = std::floor(range.most_value);
  if (last < first) return std::nullopt;
  const double span = std::min(last - first + 1, 1e6);
  const double start = first <= 1 && 1 <= last ? 1 - first : 0;
  return first +
         std::fmod(std::fmod(start, span) + static_cast<double>(i), span);
}

double DrawValue(const InputRange& range, Random& random) {
  if (random.Below(8) == 0) {
    switch (random.Below(3)) {
      case 0:
        return range.least_value;
      case 1:
        return range.most_value;
      default:
        if (range.least_value <= 0 && 0 <= range.most_value) return 0;
    }
  }
  return range.least_value +
         (range.most_value - range.least_value) * random.Unit();
}

Result<std::vector<std::byte>> Values(const InputRange& range,
                                      const TensorSpec& spec, uint64_t seed,
                                      bool simple) {
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc, ToIr(spec));
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
  std::vector<std::byte> values(static_cast<size_t>(bytes));
  kernels::ElementWriter writer({&desc, values.data()});
  Random random(seed);
  const bool plain = !ir::IsFloat(desc.type) && !desc.quantized();
  for (int64_t i = 0; i < desc.shape.NumElements().value_or(0); ++i) {
    double value = DrawValue(range, random);
    if (simple) value = SimpleValue(range, i).value_or(value);
    if (desc.type == ir::DataType::kBool8) {
      writer.StoreCode(i, std::llround(value) & 1);
    } else if (plain) {
      writer.StoreCode(i, std::llround(std::clamp(value, -9e18, 9e18)));
    } else {
      writer.StoreReal(i, static_cast<float>(value));
    }
  }
  return values;
}

}  // namespace

ExtentRange ExtentsOf(const InputRange& range, size_t i) {
  if (range.extents.empty()) return ExtentRange();
  return range.extents[std::min(i, range.extents.size() - 1)];
}

Status CheckRanges(const CheckedOperator& checked,
                   const CheckOptions& options) {
  if (checked.create == nullptr) return InvalidArgument("create is null");
  if (checked.outputs.empty()) {
    return InvalidArgument("outputs is empty; it needs one for each output");
  }
  if (options.cases == 0 || options.runs == 0) {
    return InvalidArgument("cases is ", options.cases, " and runs ",
                           options.runs, "; both must be 1 or more");
  }
  for (size_t i = 0; i < checked.inputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(CheckInput(checked, i));
  }
  for (size_t i = 0; i < checked.outputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(CheckOutput(checked.outputs[i], i));
  }
  return OkStatus();
}

Result<bool> Fit(const CheckedOperator& checked, Operands* operands) {
  bool fits = true;
  if (checked.fit == nullptr) return fits;
  const size_t inputs = operands->inputs.size();
  const size_t outputs = operands->outputs.size();
  const Status status = CallUser([&] { fits = checked.fit(operands); });
  if (!status.ok()) return status.WithContext("fit()");
  if (operands->inputs.size() != inputs ||
      operands->outputs.size() != outputs) {
    return InvalidArgument("fit() changes how many operands there are");
  }
  return fits;
}

Result<Case> DrawCase(const CheckedOperator& checked,
                      const CheckOptions& options, uint32_t number) {
  Case drawn;
  drawn.number = number;
  drawn.seed = SeedOf(options.seed, number);
  Random random(drawn.seed);
  for (int i = 0; i < kDraws; ++i) {
    Operands& operands = drawn.operands;
    operands = Operands();
    for (size_t input = 0; input < checked.inputs.size(); ++input) {
      const auto extents =
          number == 0 && i == 0 ? Extents::kLeast : Extents::kRandom;
      operands.inputs.push_back(DrawInput(checked, options, number, extents,
                                          operands.inputs, random));
    }
    for (const OutputRange& range : checked.outputs) {
      operands.outputs.emplace_back(range.type, ShapeType(), AttributeOf(range),
                                    range.quantization);
    }
    TIM_ASSIGN_OR_RETURN(const bool fits, Fit(checked, &operands));
    if (fits) return drawn;
  }
  return InvalidArgument("fit() refuses all of ", kDraws,
                         " operands that were drawn for case ", number,
                         "; it should change shapes, or the ranges allow more");
}

Result<std::vector<std::vector<std::byte>>> ValuesOf(
    const CheckedOperator& checked, const Case& tried) {
  std::vector<std::vector<std::byte>> all;
  for (size_t i = 0; i < tried.operands.inputs.size(); ++i) {
    all.emplace_back();
    if (!tried.HasInput(i)) continue;
    auto values = Values(checked.inputs[i], tried.operands.inputs[i],
                         SeedOf(tried.seed, i + 1), tried.simple);
    if (!values.ok()) return values.status().WithContext(StrCat("input ", i));
    all.back() = *std::move(values);
  }
  return all;
}

Result<std::vector<std::vector<std::byte>>> StatesOf(
    const CheckedOperator& checked, const Case& tried,
    const std::vector<TensorSpec>& outputs) {
  std::vector<std::vector<std::byte>> all(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!checked.outputs[i].variable) continue;
    InputRange range;
    range.least_value = checked.outputs[i].least_value;
    range.most_value = checked.outputs[i].most_value;
    const uint64_t seed = SeedOf(tried.seed, checked.inputs.size() + i + 1);
    auto values = Values(range, outputs[i], seed, tried.simple);
    if (!values.ok()) return values.status().WithContext(StrCat("output ", i));
    all[i] = *std::move(values);
  }
  return all;
}

TensorAttribute AttributeOf(const OutputRange& range) {
  return range.variable ? VARIABLE : OUTPUT;
}

std::vector<size_t> LocalSizesFor(const std::vector<size_t>& global,
                                  size_t group) {
  std::vector<size_t> local;
  for (const size_t size : global) {
    size_t divisor = std::max<size_t>(1, std::min(size, group));
    while (size % divisor != 0) --divisor;
    local.push_back(divisor);
    group /= divisor;
  }
  return local;
}

}  // namespace tim::vx::check
