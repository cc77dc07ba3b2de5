#include "ops/launch/launch.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "kernels/elements.h"
#include "kernels/launch_arguments.h"

namespace tim::ops {
namespace {

using ir::DataType;

struct KernelType {
  DataType type;
  const char* name;
};
constexpr KernelType kKernelTypes[] = {
    {DataType::kInt8, "I8"},     {DataType::kUint8, "U8"},
    {DataType::kInt16, "I16"},   {DataType::kUint16, "U16"},
    {DataType::kInt32, "I32"},   {DataType::kUint32, "U32"},
    {DataType::kInt64, "I64"},   {DataType::kBool8, "B8"},
    {DataType::kFloat16, "F16"}, {DataType::kFloat32, "F32"},
};

Status CheckOperand(const ir::TensorDesc& desc, bool per_channel_allowed) {
  if (KernelTypeName(desc.type) == nullptr) {
    return Unimplemented(ir::ToString(desc.type), " has no kernel");
  }
  TIM_RETURN_IF_ERROR(CheckElementCount(desc));
  if (desc.quantized() && desc.quantization.per_channel() &&
      !per_channel_allowed) {
    return Unimplemented("per-channel quantization has no kernel");
  }
  return OkStatus();
}

int ElementBytes(const ir::TensorDesc& desc) {
  return std::max(1, ir::Info(desc.type).bits / 8);
}

// Whether elements of equal index have equal size and lie at equal places.
bool LieAlike(const ir::TensorDesc& x, const ir::TensorDesc& y) {
  return ir::Info(x.type).bits == ir::Info(y.type).bits &&
         x.layout == y.layout && ir::PhysicalDims(x) == ir::PhysicalDims(y);
}

}  // namespace

const char* KernelTypeName(DataType type) {
  for (const KernelType& entry : kKernelTypes) {
    if (entry.type == type) return entry.name;
  }
  return nullptr;
}

Status CheckElementCount(const ir::TensorDesc& desc) {
  const Result<int64_t> count = ir::PhysicalElements(desc);
  if (!count.ok()) return count.status();
  if (*count <= ir::kMostKernelElements) return OkStatus();
  return Unimplemented(desc.ToString(), " has more than ",
                       ir::kMostKernelElements,
                       " elements, which no kernel takes");
}

Status CheckKernelOperands(const ir::KernelNode& node,
                           std::initializer_list<int> per_channel_inputs) {
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    if (!node.has_input(i)) continue;
    const bool allowed =
        std::find(per_channel_inputs.begin(), per_channel_inputs.end(), i) !=
        per_channel_inputs.end();
    TIM_RETURN_IF_ERROR(
        CheckOperand(node.inputs[i], allowed).WithContext(StrCat("input ", i)));
  }
  for (const ir::TensorDesc& output : node.outputs) {
    if (output.type == DataType::kUnknown) continue;  // Not wanted.
    TIM_RETURN_IF_ERROR(CheckOperand(output, false).WithContext("output"));
  }
  return OkStatus();
}

const char* BitsTypeName(DataType type) {
  switch (ir::Info(type).bits) {
    case 8:
      return "uchar";
    case 16:
      return "ushort";
    case 32:
      return "uint";
    case 64:
      return "ulong";
    default:
      return nullptr;
  }
}

Launch::Launch(std::string source, std::string function) {
  launch_.source = std::move(source);
  launch_.function = std::move(function);
}

Launch& Launch::Option(std::string option) {
  if (!launch_.options.empty()) launch_.options += " ";
  launch_.options += option;
  return *this;
}

Launch& Launch::Formula(const std::string& name, const ir::Pointwise& formula) {
  const std::string header = formula.header;
  std::vector<std::string>& headers = launch_.headers;
  if (std::find(headers.begin(), headers.end(), header) == headers.end()) {
    headers.push_back(header);
  }
  return Option(StrCat("-D", name, "=", formula.macro));
}

Launch& Launch::Type(const std::string& name, const ir::TensorDesc& desc) {
  const char* type = KernelTypeName(desc.type);
  if (type == nullptr) {
    status_ = TIM_INTERNAL(ir::ToString(desc.type), " has no kernel");
    return *this;
  }
  return Option(StrCat("-D", name, "=", type));
}

Launch& Launch::Policy(kernels::RequantizePolicy policy) {
  if (policy.wrap) Option("-DTIM_WRAP");
  if (policy.to_zero) Option("-DTIM_TO_ZERO");
  return *this;
}

Launch& Launch::Policy(const ir::AttributeMap& attributes) {
  return Policy(kernels::PolicyOf(attributes));
}

template <typename T>
Launch& Launch::Argument(std::string name, T value) {
  launch_.arguments.emplace_back(std::move(value));
  launch_.names.push_back(std::move(name));
  return *this;
}

Launch& Launch::Operand(std::string name, ir::LoweredOperand operand,
                        bool written, int element_bytes) {
  Argument(std::move(name),
           ir::TensorArg{.operand = static_cast<int>(operands_.size()),
                         .element_bytes = element_bytes});
  operands_.push_back(operand);
  written_.push_back(written);
  return *this;
}

Launch& Launch::Input(std::string name, const ir::KernelNode& node, int index) {
  return Operand(std::move(name), {ir::LoweredOperand::Kind::kInput, index},
                 false, ElementBytes(node.inputs[index]));
}

Launch& Launch::Output(std::string name, const ir::KernelNode& node,
                       int index) {
  return Operand(std::move(name), {ir::LoweredOperand::Kind::kOutput, index},
                 true, ElementBytes(node.outputs[index]));
}

Launch& Launch::Packed(std::string name, ir::PackedConstant packed,
                       int element_bytes) {
  packed_.push_back(std::move(packed));
  const int index = static_cast<int>(packed_.size()) - 1;
  return Operand(std::move(name), {ir::LoweredOperand::Kind::kPacked, index},
                 false, element_bytes);
}

Launch& Launch::Scratch(std::string name, int64_t bytes, int element_bytes) {
  scratch_.push_back({.bytes = bytes, .first = 0, .last = 0});
  const int index = static_cast<int>(scratch_.size()) - 1;
  return Operand(std::move(name), {ir::LoweredOperand::Kind::kScratch, index},
                 true, element_bytes);
}

Launch& Launch::EarlierScratch(std::string name, int index, int element_bytes) {
  earlier_scratch_.push_back(static_cast<int>(operands_.size()));
  return Operand(std::move(name), {ir::LoweredOperand::Kind::kScratch, index},
                 false, element_bytes);
}

Launch& Launch::InPlace(const ir::KernelNode& node, int input) {
  if (LieAlike(node.inputs[input], node.outputs[0])) {
    in_place_.push_back({input, 0});
  }
  return *this;
}

int32_t Launch::Narrowed(const std::string& name, int64_t value) {
  if (value < std::numeric_limits<int32_t>::min() ||
      value > std::numeric_limits<int32_t>::max()) {
    status_ = Unimplemented("a kernel's ", name, " of ", value,
                            " does not fit 32 bits");
  }
  return static_cast<int32_t>(value);
}

Launch& Launch::Int(std::string name, int64_t value) {
  const int32_t narrowed = Narrowed(name, value);
  return Argument(std::move(name), narrowed);
}

Launch& Launch::Long(std::string name, int64_t value) {
  return Argument(std::move(name), value);
}

Launch& Launch::Float(std::string name, float value) {
  return Argument(std::move(name), value);
}

Launch& Launch::Struct(std::string name, const Fields& fields) {
  ir::StructArg argument;
  for (const auto& [field, value] : fields) {
    if (const auto* real = std::get_if<float>(&value)) {
      argument.fields.push_back({field, *real});
    } else {
      const int32_t number = Narrowed(field, std::get<int64_t>(value));
      argument.fields.push_back({field, number});
    }
  }
  return Argument(std::move(name), std::move(argument));
}

Launch& Launch::Parameters(const Fields& fields) {
  for (const auto& [name, value] : fields) {
    if (const auto* real = std::get_if<float>(&value)) {
      Float(name, *real);
    } else {
      Int(name, std::get<int64_t>(value));
    }
  }
  return *this;
}

Launch& Launch::InputQuantization(const std::string& name,
                                  const ir::TensorDesc& desc) {
  Fields fields;
  AddInputNumbers(name, desc, &fields);
  return Parameters(fields);
}

Launch& Launch::OutputQuantization(const std::string& name,
                                   const ir::TensorDesc& desc) {
  Fields fields;
  AddOutputNumbers(name, desc, &fields);
  return Parameters(fields);
}

Launch& Launch::Applies(int operators) {
  applied_ += operators;
  return *this;
}

Launch& Launch::Global(int64_t x, int64_t y, int64_t z) {
  launch_.range.global = {x, y, z};
  launch_.range.dimensions = z > 1 ? 3 : y > 1 ? 2 : 1;
  return *this;
}

Launch& Launch::Local(int64_t x, int64_t y, int64_t z) {
  launch_.range.local = {x, y, z};
  return *this;
}

Launch& Launch::PartitionSpatially(bool partition) {
  launch_.spatial_partition = partition;
  return *this;
}

Launch& Launch::Tiles(const ir::DeviceInfo& device, int64_t x, int64_t y,
                      int64_t z) {
  if (device.device_class != ir::DeviceClass::kCpu) return Global(x, y, z);
  const int64_t local = x >= 64 ? 16 : 1;
  return Global(AlignUp(x, local), y, z).Local(local);
}

Launch& Launch::Items(int64_t count) {
  constexpr int64_t kWorkGroup = 32;
  return Global(AlignUp(count, kWorkGroup)).Local(kWorkGroup);
}

Result<ir::Lowering> Launch::Build() {
  ir::Lowering lowering;
  TIM_RETURN_IF_ERROR(AppendTo(&lowering));
  return lowering;
}

Status Launch::AppendTo(ir::Lowering* lowering) {
  TIM_RETURN_IF_ERROR(status_);
  TIM_RETURN_IF_ERROR(kernels::BindArguments(&launch_));
  // Launches that share an output apply the same operators, each to its part.
  lowering->applied = std::max(lowering->applied, applied_);
  const int step = static_cast<int>(lowering->steps.size());
  for (size_t i = 0; i < operands_.size(); ++i) {
    ir::LoweredOperand& operand = operands_[i];
    if (operand.kind == ir::LoweredOperand::Kind::kPacked) {
      operand.index += static_cast<int>(lowering->packed.size());
    } else if (std::count(earlier_scratch_.begin(), earlier_scratch_.end(),
                          static_cast<int>(i)) != 0) {
      lowering->scratch[operand.index].last = step;
    } else if (operand.kind == ir::LoweredOperand::Kind::kScratch) {
      operand.index += static_cast<int>(lowering->scratch.size());
    }
  }
  for (ir::ScratchSpec& scratch : scratch_) {
    scratch.first = scratch.last = step;
    lowering->scratch.push_back(scratch);
  }
  std::move(packed_.begin(), packed_.end(),
            std::back_inserter(lowering->packed));
  for (const ir::InPlacePair& pair : in_place_) {
    auto& pairs = lowering->in_place;
    if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) {
      pairs.push_back(pair);
    }
  }
  lowering->steps.push_back({std::move(launch_), operands_, written_});
  return OkStatus();
}

void AddInputNumbers(const std::string& name, const ir::TensorDesc& desc,
                     Launch::Fields* fields) {
  const bool quantized = desc.quantized();
  fields->emplace_back(name + "_scale",
                       quantized ? desc.quantization.Scale() : 1.0f);
  fields->emplace_back(name + "_zero",
                       quantized ? desc.quantization.ZeroPoint() : int64_t{0});
}

void AddOutputNumbers(const std::string& name, const ir::TensorDesc& desc,
                      Launch::Fields* fields) {
  AddInputNumbers(name, desc, fields);
  const float scale = desc.quantized() ? desc.quantization.Scale() : 1.0f;
  fields->insert(fields->end() - 1, {name + "_inverse", 1.0f / scale});
}

}  // namespace tim::ops
