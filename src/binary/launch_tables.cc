#include "binary/launch_tables.h"

#include <bit>
#include <utility>
#include <variant>

namespace tim::binary {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr int64_t kArgumentBytes = 64;

template <fbs::ArgumentKind kKind>
using ArgumentOf =
    std::variant_alternative_t<static_cast<size_t>(kKind), ir::KernelArg>;
static_assert(std::variant_size_v<ir::KernelArg> ==
              static_cast<size_t>(fbs::ArgumentKind::MAX) + 1);
static_assert(std::is_same_v<ArgumentOf<fbs::ArgumentKind::Uint>, uint32_t>);
static_assert(
    std::is_same_v<ArgumentOf<fbs::ArgumentKind::Tensor>, ir::TensorArg>);
static_assert(std::is_same_v<ArgumentOf<fbs::ArgumentKind::UserScalar>,
                             ir::UserScalarArg>);

// An argument's table with what its kind has.
struct ArgumentWriter {
  FlatBufferBuilder& builder;

  Offset<fbs::Argument> operator()(const ir::TensorArg& arg) const {
    return fbs::CreateArgument(builder, fbs::ArgumentKind::Tensor, arg.operand,
                               arg.element_bytes);
  }
  Offset<fbs::Argument> operator()(const ir::LocalArg& arg) const {
    const auto name = builder.CreateString(arg.name);
    return fbs::CreateArgument(builder, fbs::ArgumentKind::Local, 0, 0,
                               arg.bytes, 0, name);
  }
  Offset<fbs::Argument> operator()(int32_t value) const {
    return Number(fbs::ArgumentKind::Int, value);
  }
  Offset<fbs::Argument> operator()(uint32_t value) const {
    return Number(fbs::ArgumentKind::Uint, value);
  }
  Offset<fbs::Argument> operator()(int64_t value) const {
    return Number(fbs::ArgumentKind::Long, value);
  }
  Offset<fbs::Argument> operator()(float value) const {
    return fbs::CreateArgument(builder, fbs::ArgumentKind::Float, 0, 0, 0,
                               value);
  }
  Offset<fbs::Argument> operator()(const ir::UserTensorArg& arg) const {
    const auto name = builder.CreateString(arg.name);
    const auto dims = builder.CreateVector(arg.dims);
    const auto tensor = fbs::CreateUserTensor(
        builder, dims, static_cast<fbs::DataType>(arg.type), arg.written,
        arg.kept, arg.zeroed, arg.readable, arg.open);
    return fbs::CreateArgument(builder, fbs::ArgumentKind::UserTensor,
                               arg.operand, 0, 0, 0, name, tensor);
  }
  Offset<fbs::Argument> operator()(const ir::UserScalarArg& arg) const {
    std::vector<fbs::Scalar> scalars = {ScalarOf(arg.value)};
    for (const auto& value : arg.more) scalars.push_back(ScalarOf(value));
    const auto name = builder.CreateString(arg.name);
    const auto type = builder.CreateString(arg.type);
    const auto list = builder.CreateVectorOfStructs(scalars);
    return fbs::CreateArgument(builder, fbs::ArgumentKind::UserScalar, 0, 0, 0,
                               0, name, 0, type, list);
  }

  Offset<fbs::Argument> Number(fbs::ArgumentKind kind, int64_t value) const {
    return fbs::CreateArgument(builder, kind, 0, 0, value);
  }
  static fbs::Scalar ScalarOf(const ir::UserScalarArg::Value& value) {
    const auto bits = [](auto v) { return std::bit_cast<uint64_t>(v); };
    return {static_cast<fbs::ScalarKind>(value.index()),
            std::visit(bits, value)};
  }
};

Result<ir::UserScalarArg::Value> ReadScalar(const fbs::Scalar& scalar) {
  using Value = ir::UserScalarArg::Value;
  switch (scalar.kind()) {
    case fbs::ScalarKind::Signed:
      return Value(std::bit_cast<int64_t>(scalar.bits()));
    case fbs::ScalarKind::Unsigned:
      return Value(scalar.bits());
    case fbs::ScalarKind::Real:
      return Value(std::bit_cast<double>(scalar.bits()));
  }
  return InvalidArgument("unknown kind of scalar ",
                         static_cast<int>(scalar.kind()));
}

Result<ir::KernelArg> ReadUserScalar(const fbs::Argument& table,
                                     ReadBudget& budget) {
  ir::UserScalarArg arg;
  TIM_ASSIGN_OR_RETURN(arg.name, budget.Copy(table.name()));
  TIM_ASSIGN_OR_RETURN(arg.type, budget.Copy(table.type()));
  const auto* scalars = table.scalars();
  if (scalars == nullptr || scalars->size() == 0) {
    return InvalidArgument("'", arg.name, "' has no value");
  }
  TIM_RETURN_IF_ERROR(CheckAligned(scalars));
  TIM_RETURN_IF_ERROR(
      budget.Take(int64_t{sizeof(arg.value)} * scalars->size()));
  TIM_ASSIGN_OR_RETURN(arg.value, ReadScalar(*scalars->Get(0)));
  for (uint32_t i = 1; i < scalars->size(); ++i) {
    TIM_ASSIGN_OR_RETURN(auto value, ReadScalar(*scalars->Get(i)));
    arg.more.push_back(value);
  }
  return ir::KernelArg(std::move(arg));
}

Result<ir::KernelArg> ReadUserTensor(const fbs::Argument& table,
                                     ReadBudget& budget) {
  ir::UserTensorArg arg;
  arg.operand = table.operand();
  TIM_ASSIGN_OR_RETURN(arg.name, budget.Copy(table.name()));
  const fbs::UserTensor* tensor = table.tensor();
  if (tensor == nullptr) {
    return InvalidArgument("'", arg.name, "' has no description");
  }
  TIM_ASSIGN_OR_RETURN(arg.dims, budget.Copy(tensor->dims()));
  arg.type = static_cast<ir::DataType>(tensor->type());
  arg.written = tensor->written();
  arg.kept = tensor->kept();
  arg.zeroed = tensor->zeroed();
  arg.readable = tensor->readable();
  arg.open = tensor->open();
  return ir::KernelArg(std::move(arg));
}

Result<ir::KernelArg> ReadArgument(const fbs::Argument& table,
                                   ReadBudget& budget) {
  TIM_RETURN_IF_ERROR(budget.Take(sizeof(ir::KernelArg) + kArgumentBytes));
  switch (table.kind()) {
    case fbs::ArgumentKind::Tensor:
      return ir::KernelArg(
          ir::TensorArg{table.operand(), table.element_bytes()});
    case fbs::ArgumentKind::Local: {
      ir::LocalArg arg{.bytes = table.number()};
      TIM_ASSIGN_OR_RETURN(arg.name, budget.Copy(table.name()));
      return ir::KernelArg(std::move(arg));
    }
    case fbs::ArgumentKind::Int:
      return ir::KernelArg(static_cast<int32_t>(table.number()));
    case fbs::ArgumentKind::Uint:
      return ir::KernelArg(static_cast<uint32_t>(table.number()));
    case fbs::ArgumentKind::Long:
      return ir::KernelArg(table.number());
    case fbs::ArgumentKind::Float:
      return ir::KernelArg(table.real());
    case fbs::ArgumentKind::UserTensor:
      return ReadUserTensor(table, budget);
    case fbs::ArgumentKind::UserScalar:
      return ReadUserScalar(table, budget);
  }
  return InvalidArgument("unknown kind ", static_cast<int>(table.kind()));
}

fbs::Sizes SizesOf(const std::array<int64_t, 3>& sizes) {
  return {sizes[0], sizes[1], sizes[2]};
}

// Absent: 0, which no device takes.
std::array<int64_t, 3> ReadSizes(const fbs::Sizes* sizes) {
  if (sizes == nullptr) return {0, 0, 0};
  return {sizes->x(), sizes->y(), sizes->z()};
}

}  // namespace

Offset<TextList> WriteTexts(FlatBufferBuilder& builder,
                            const std::vector<std::string>& texts) {
  std::vector<Offset<fbs::Text>> list;
  for (const std::string& text : texts) {
    list.push_back(fbs::CreateText(builder, builder.CreateSharedString(text)));
  }
  return builder.CreateVector(list);
}

Result<std::vector<std::string>> ReadTexts(const TextList* list,
                                           ReadBudget& budget) {
  std::vector<std::string> texts;
  for (uint32_t i = 0; list != nullptr && i < list->size(); ++i) {
    TIM_RETURN_IF_ERROR(budget.Take(sizeof(std::string)));
    TIM_ASSIGN_OR_RETURN(texts.emplace_back(),
                         budget.Copy(list->Get(i)->value()));
  }
  return texts;
}

Offset<fbs::KernelLaunch> WriteLaunch(FlatBufferBuilder& builder,
                                      const ir::KernelLaunch& launch) {
  // Texts of users are long, and each of their kernels has the same.
  const auto source = builder.CreateSharedString(launch.source);
  const auto headers = WriteTexts(builder, launch.headers);
  const auto text = builder.CreateSharedString(launch.text);
  const auto name = builder.CreateSharedString(launch.name);
  const auto function = builder.CreateSharedString(launch.function);
  const auto options = builder.CreateSharedString(launch.options);
  const auto defines = WriteTexts(builder, launch.defines);
  std::vector<Offset<fbs::Argument>> arguments;
  for (const ir::KernelArg& argument : launch.arguments) {
    arguments.push_back(std::visit(ArgumentWriter{builder}, argument));
  }
  const auto list = builder.CreateVector(arguments);
  const auto names = WriteTexts(builder, launch.names);
  const fbs::Sizes global = SizesOf(launch.global);
  const fbs::Sizes local = SizesOf(launch.local);
  return fbs::CreateKernelLaunch(
      builder, source, headers, text, name, function, options, defines, list,
      names, launch.dimensions, &global, &local, launch.spatial_partition,
      launch.user_kernel, launch.part);
}

Result<ir::KernelLaunch> ReadLaunch(const fbs::KernelLaunch& table,
                                    ReadBudget& budget) {
  ir::KernelLaunch launch;
  TIM_ASSIGN_OR_RETURN(launch.source, budget.Copy(table.source()));
  TIM_ASSIGN_OR_RETURN(launch.headers, ReadTexts(table.headers(), budget));
  TIM_ASSIGN_OR_RETURN(launch.text, budget.Copy(table.text()));
  TIM_ASSIGN_OR_RETURN(launch.name, budget.Copy(table.name()));
  TIM_ASSIGN_OR_RETURN(launch.function, budget.Copy(table.function()));
  TIM_ASSIGN_OR_RETURN(launch.options, budget.Copy(table.options()));
  TIM_ASSIGN_OR_RETURN(launch.defines, ReadTexts(table.defines(), budget));
  const auto* arguments = table.arguments();
  for (uint32_t i = 0; arguments != nullptr && i < arguments->size(); ++i) {
    auto argument = ReadArgument(*arguments->Get(i), budget);
    if (!argument.ok()) {
      return argument.status().WithContext(StrCat("argument ", i));
    }
    launch.arguments.push_back(*std::move(argument));
  }
  TIM_ASSIGN_OR_RETURN(launch.names, ReadTexts(table.names(), budget));
  launch.dimensions = table.dimensions();
  launch.global = ReadSizes(table.global());
  launch.local = ReadSizes(table.local());
  launch.spatial_partition = table.spatial_partition();
  launch.user_kernel = table.user_kernel();
  launch.part = table.part();
  return launch;
}

}  // namespace tim::binary
