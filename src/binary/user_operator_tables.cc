#include "binary/user_operator_tables.h"

#include <utility>
#include <variant>

#include "binary/desc_tables.h"
#include "binary/launch_tables.h"

namespace tim::binary {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Vector;
using Descs = std::vector<std::optional<ir::TensorDesc>>;

static_assert(static_cast<int>(fbs::OperandKind::MAX) ==
              static_cast<int>(ir::LoweredOperand::Kind::kPacked));

// What an entry takes besides what it refers to, generously.
constexpr int64_t kOperandBytes = sizeof(std::optional<ir::TensorDesc>) + 64;
constexpr int64_t kStepBytes = sizeof(ir::LoweredStep) + 64;

Offset<Vector<Offset<fbs::Operand>>> WriteOperands(FlatBufferBuilder& builder,
                                                   const Descs& descs) {
  std::vector<Offset<fbs::Operand>> operands;
  for (const auto& desc : descs) {
    Offset<fbs::TensorDesc> written;
    if (desc) written = WriteDesc(builder, *desc);
    operands.push_back(fbs::CreateOperand(builder, written));
  }
  return builder.CreateVector(operands);
}

Offset<fbs::UserStep> WriteStep(FlatBufferBuilder& builder,
                                const ir::LoweredStep& step) {
  Offset<fbs::KernelLaunch> launch;
  int64_t bytes = 0;
  if (const auto* given = std::get_if<ir::UserLaunch>(&step.action)) {
    launch = WriteLaunch(builder, *given);
  } else if (const auto* copy = std::get_if<ir::Copy>(&step.action)) {
    bytes = copy->bytes;
  }
  std::vector<fbs::StepOperand> operands;
  for (size_t i = 0; i < step.operands.size(); ++i) {
    operands.emplace_back(static_cast<fbs::OperandKind>(step.operands[i].kind),
                          step.operands[i].index, step.written[i]);
  }
  return fbs::CreateUserStep(builder, launch, bytes,
                             builder.CreateVectorOfStructs(operands));
}

Result<Descs> ReadOperands(const Vector<Offset<fbs::Operand>>* list,
                           ReadBudget& budget) {
  Descs descs;
  for (uint32_t i = 0; list != nullptr && i < list->size(); ++i) {
    TIM_RETURN_IF_ERROR(budget.Take(kOperandBytes));
    auto& desc = descs.emplace_back();
    if (list->Get(i)->desc() == nullptr) continue;
    TIM_ASSIGN_OR_RETURN(desc, ReadDesc(list->Get(i)->desc(), budget));
  }
  return descs;
}

// The operands that the launch names exist, and have types.
Status CheckLaunch(const ir::UserLaunch& launch, size_t operands) {
  for (const ir::UserArg& argument : launch.arguments) {
    const auto* tensor = std::get_if<ir::UserTensorArg>(&argument);
    if (tensor == nullptr) continue;
    if (static_cast<int>(tensor->type) >= ir::kDataTypeCount) {
      return InvalidArgument("kernel '", launch.function,
                             "' has an operand of unknown type");
    }
    if (tensor->operand == ir::kAbsentOperand) continue;
    if (tensor->operand < 0 ||
        static_cast<size_t>(tensor->operand) >= operands) {
      return InvalidArgument("kernel '", launch.function, "' has operand ",
                             tensor->operand, " of ", operands);
    }
  }
  return OkStatus();
}

Result<ir::LoweredStep> ReadStep(const fbs::UserStep& table,
                                 ReadBudget& budget) {
  ir::LoweredStep step;
  TIM_RETURN_IF_ERROR(budget.Take(kStepBytes));
  TIM_ASSIGN_OR_RETURN(const auto operands, budget.Copy(table.operands()));
  for (const fbs::StepOperand& operand : operands) {
    if (operand.kind() > fbs::OperandKind::MAX) {
      return InvalidArgument("an operand of unknown kind");
    }
    step.operands.push_back(
        {static_cast<ir::LoweredOperand::Kind>(operand.kind()),
         operand.index()});
    step.written.push_back(operand.written());
  }
  if (table.launch() == nullptr) {
    step.action = ir::Copy{table.copy_bytes()};
    return step;
  }
  TIM_ASSIGN_OR_RETURN(ir::UserLaunch launch,
                       ReadUserLaunch(*table.launch(), budget));
  TIM_RETURN_IF_ERROR(CheckLaunch(launch, step.operands.size()));
  step.action = std::move(launch);
  return step;
}

Status ReadMemory(const fbs::UserOperator& table, ReadBudget& budget,
                  UserOperator* frozen) {
  TIM_ASSIGN_OR_RETURN(const auto scratch, budget.Copy(table.scratch()));
  for (const fbs::ScratchMemory& one : scratch) {
    frozen->scratch.push_back(
        {.bytes = one.bytes(), .first = one.first(), .last = one.last()});
  }
  TIM_ASSIGN_OR_RETURN(const auto in_place, budget.Copy(table.in_place()));
  for (const fbs::InPlacePair& pair : in_place) {
    frozen->in_place.push_back(
        {.input = pair.input(), .output = pair.output()});
  }
  return OkStatus();
}

}  // namespace

Offset<fbs::UserOperator> WriteUserOperator(FlatBufferBuilder& builder,
                                            DataPieces& data,
                                            const UserOperator& frozen) {
  std::vector<Offset<fbs::AttributeSpec>> attributes;
  for (const auto& [name, type] : frozen.attributes) {
    attributes.push_back(
        fbs::CreateAttributeSpec(builder, builder.CreateSharedString(name),
                                 static_cast<fbs::AttributeType>(type)));
  }
  std::vector<Offset<fbs::UserStep>> steps;
  for (const ir::LoweredStep& step : frozen.steps) {
    steps.push_back(WriteStep(builder, step));
  }
  std::vector<fbs::ScratchMemory> scratch;
  for (const ir::ScratchSpec& one : frozen.scratch) {
    scratch.emplace_back(one.bytes, one.first, one.last);
  }
  std::vector<int32_t> tables;
  for (const auto& table : frozen.tables) tables.push_back(data.Share(table));
  std::vector<fbs::InPlacePair> in_place;
  for (const ir::InPlacePair& pair : frozen.in_place) {
    in_place.emplace_back(pair.input, pair.output);
  }
  const auto key = builder.CreateSharedString(frozen.key);
  const auto inputs = WriteOperands(builder, frozen.inputs);
  const auto outputs = WriteOperands(builder, frozen.outputs);
  return fbs::CreateUserOperator(
      builder, key, inputs, outputs, builder.CreateVector(attributes),
      builder.CreateVector(steps), builder.CreateVectorOfStructs(scratch),
      builder.CreateVector(tables), builder.CreateVectorOfStructs(in_place));
}

Result<UserOperator> ReadUserOperator(
    const fbs::UserOperator& table, ReadBudget& budget,
    const std::function<
        Result<std::shared_ptr<const ir::ConstantData>>(int index)>& data) {
  UserOperator frozen;
  TIM_RETURN_IF_ERROR(budget.Take(2 * int64_t{sizeof(ir::OpSchema)}));
  TIM_ASSIGN_OR_RETURN(frozen.key, budget.Copy(table.key()));
  TIM_ASSIGN_OR_RETURN(frozen.inputs, ReadOperands(table.inputs(), budget));
  TIM_ASSIGN_OR_RETURN(frozen.outputs, ReadOperands(table.outputs(), budget));
  for (uint32_t i = 0;
       table.attributes() != nullptr && i < table.attributes()->size(); ++i) {
    const fbs::AttributeSpec& spec = *table.attributes()->Get(i);
    if (spec.type() > fbs::AttributeType::MAX) {
      return InvalidArgument("an attribute of unknown type");
    }
    TIM_RETURN_IF_ERROR(budget.Take(kOperandBytes));
    TIM_ASSIGN_OR_RETURN(std::string name, budget.Copy(spec.name()));
    frozen.attributes.emplace_back(std::move(name),
                                   static_cast<ir::AttributeType>(spec.type()));
  }
  for (uint32_t i = 0; table.steps() != nullptr && i < table.steps()->size();
       ++i) {
    TIM_ASSIGN_OR_RETURN(ir::LoweredStep step,
                         ReadStep(*table.steps()->Get(i), budget));
    frozen.steps.push_back(std::move(step));
  }
  TIM_RETURN_IF_ERROR(ReadMemory(table, budget, &frozen));
  TIM_ASSIGN_OR_RETURN(const auto tables, budget.Copy(table.tables()));
  for (const int32_t index : tables) {
    TIM_ASSIGN_OR_RETURN(auto constant, data(index));
    if (constant == nullptr) return InvalidArgument("a table without data");
    frozen.tables.push_back(std::move(constant));
  }
  return frozen;
}

}  // namespace tim::binary
