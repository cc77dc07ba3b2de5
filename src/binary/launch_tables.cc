// Launches of kernels, which have one table for both sorts.
#include "binary/launch_tables.h"

#include <bit>
#include <utility>
#include <variant>

namespace tim::binary {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr int64_t kArgumentBytes = 64;

constexpr auto kLastPlainKind = fbs::ArgumentKind::Float;

template <fbs::ArgumentKind kKind>
using ArgumentOf =
    std::variant_alternative_t<static_cast<size_t>(kKind), ir::KernelArg>;
// A struct comes behind users' kinds.
static_assert(std::variant_size_v<ir::KernelArg> ==
              static_cast<size_t>(kLastPlainKind) + 2);
static_assert(std::is_same_v<ArgumentOf<fbs::ArgumentKind::Uint>, uint32_t>);
static_assert(
    std::is_same_v<ArgumentOf<fbs::ArgumentKind::Tensor>, ir::TensorArg>);

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
  Offset<fbs::Argument> operator()(const ir::StructArg& arg) const {
    std::vector<Offset<fbs::Field>> list;
    for (const ir::StructArg::Field& field : arg.fields) {
      const auto bits = [](auto v) { return std::bit_cast<uint32_t>(v); };
      list.push_back(
          fbs::CreateField(builder, builder.CreateSharedString(field.name),
                           std::visit(bits, field.value),
                           std::holds_alternative<float>(field.value)));
    }
    const auto type = builder.CreateSharedString(arg.type);
    const auto fields = builder.CreateVector(list);
    return fbs::CreateArgument(builder, fbs::ArgumentKind::Struct, 0, 0, 0, 0,
                               0, 0, type, 0, fields);
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

Result<ir::UserArg> ReadUserScalar(const fbs::Argument& table,
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
  return ir::UserArg(std::move(arg));
}

Result<ir::UserArg> ReadUserTensor(const fbs::Argument& table,
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
  return ir::UserArg(std::move(arg));
}

Result<ir::LocalArg> ReadLocal(const fbs::Argument& table, ReadBudget& budget) {
  ir::LocalArg arg{.bytes = table.number()};
  TIM_ASSIGN_OR_RETURN(arg.name, budget.Copy(table.name()));
  return arg;
}

Result<ir::StructArg> ReadStruct(const fbs::Argument& table,
                                 ReadBudget& budget) {
  ir::StructArg arg;
  TIM_ASSIGN_OR_RETURN(arg.type, budget.Copy(table.type()));
  const auto* list = table.fields();
  for (uint32_t i = 0; list != nullptr && i < list->size(); ++i) {
    const fbs::Field& one = *list->Get(i);
    ir::StructArg::Field field;
    TIM_RETURN_IF_ERROR(budget.Take(sizeof(field)));
    TIM_ASSIGN_OR_RETURN(field.name, budget.Copy(one.name()));
    if (one.real()) {
      field.value = std::bit_cast<float>(one.bits());
    } else {
      field.value = std::bit_cast<int32_t>(one.bits());
    }
    arg.fields.push_back(std::move(field));
  }
  return arg;
}

Status CheckKind(const fbs::Argument& table) {
  if (table.kind() <= fbs::ArgumentKind::MAX) return OkStatus();
  return InvalidArgument("unknown kind ", static_cast<int>(table.kind()));
}

Result<ir::KernelArg> ReadKernelArg(const fbs::Argument& table,
                                    ReadBudget& budget) {
  switch (table.kind()) {
    case fbs::ArgumentKind::Tensor:
      return ir::KernelArg(
          ir::TensorArg{table.operand(), table.element_bytes()});
    case fbs::ArgumentKind::Local: {
      TIM_ASSIGN_OR_RETURN(ir::LocalArg arg, ReadLocal(table, budget));
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
    case fbs::ArgumentKind::Struct: {
      TIM_ASSIGN_OR_RETURN(ir::StructArg arg, ReadStruct(table, budget));
      return ir::KernelArg(std::move(arg));
    }
    default:
      return InvalidArgument("it is none of a built-in kernel");
  }
}

Result<ir::UserArg> ReadUserArg(const fbs::Argument& table,
                                ReadBudget& budget) {
  switch (table.kind()) {
    case fbs::ArgumentKind::Local: {
      TIM_ASSIGN_OR_RETURN(ir::LocalArg arg, ReadLocal(table, budget));
      return ir::UserArg(std::move(arg));
    }
    case fbs::ArgumentKind::UserTensor:
      return ReadUserTensor(table, budget);
    case fbs::ArgumentKind::UserScalar:
      return ReadUserScalar(table, budget);
    default:
      return InvalidArgument("it is none of a user's kernel");
  }
}

template <typename Arg>
Status ReadArguments(const fbs::KernelLaunch& table, ReadBudget& budget,
                     Result<Arg> (*read)(const fbs::Argument&, ReadBudget&),
                     std::vector<Arg>* arguments) {
  const auto* list = table.arguments();
  for (uint32_t i = 0; list != nullptr && i < list->size(); ++i) {
    const fbs::Argument& argument = *list->Get(i);
    const auto context = [&](const Status& status) {
      return status.WithContext(StrCat("argument ", i));
    };
    TIM_RETURN_IF_ERROR(budget.Take(sizeof(Arg) + kArgumentBytes));
    TIM_RETURN_IF_ERROR(context(CheckKind(argument)));
    Result<Arg> one = read(argument, budget);
    if (!one.ok()) return context(one.status());
    arguments->push_back(*std::move(one));
  }
  return OkStatus();
}

template <typename Arg>
auto WriteArguments(FlatBufferBuilder& builder,
                    const std::vector<Arg>& arguments) {
  std::vector<Offset<fbs::Argument>> list;
  for (const Arg& argument : arguments) {
    list.push_back(std::visit(ArgumentWriter{builder}, argument));
  }
  return builder.CreateVector(list);
}

fbs::Sizes SizesOf(const std::array<int64_t, 3>& sizes) {
  return {sizes[0], sizes[1], sizes[2]};
}

// Absent: 0, which no device takes.
std::array<int64_t, 3> ReadSizes(const fbs::Sizes* sizes) {
  if (sizes == nullptr) return {0, 0, 0};
  return {sizes->x(), sizes->y(), sizes->z()};
}

ir::NdRange ReadRange(const fbs::KernelLaunch& table) {
  return {.dimensions = table.dimensions(),
          .global = ReadSizes(table.global()),
          .local = ReadSizes(table.local())};
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

// A text that is not embedded has its name where a user's has it.
Offset<fbs::KernelLaunch> WriteLaunch(FlatBufferBuilder& builder,
                                      const ir::KernelLaunch& launch) {
  const std::string none;
  const bool embedded = launch.text.empty();
  const auto source =
      builder.CreateSharedString(embedded ? launch.source : none);
  const auto headers = WriteTexts(builder, launch.headers);
  const auto text = builder.CreateSharedString(launch.text);
  const auto name = builder.CreateSharedString(embedded ? none : launch.source);
  const auto function = builder.CreateSharedString(launch.function);
  const auto options = builder.CreateSharedString(launch.options);
  const auto defines = WriteTexts(builder, {});
  const auto arguments = WriteArguments(builder, launch.arguments);
  const auto names = WriteTexts(builder, launch.names);
  const fbs::Sizes global = SizesOf(launch.range.global);
  const fbs::Sizes local = SizesOf(launch.range.local);
  return fbs::CreateKernelLaunch(builder, source, headers, text, name, function,
                                 options, defines, arguments, names,
                                 launch.range.dimensions, &global, &local,
                                 launch.spatial_partition);
}

Offset<fbs::KernelLaunch> WriteLaunch(FlatBufferBuilder& builder,
                                      const ir::UserLaunch& launch) {
  // Texts of users are long, and each of their kernels has the same.
  const auto source = builder.CreateSharedString("");
  const auto headers = WriteTexts(builder, {});
  const auto text = builder.CreateSharedString(launch.text);
  const auto name = builder.CreateSharedString(launch.name);
  const auto function = builder.CreateSharedString(launch.function);
  const auto options = builder.CreateSharedString(launch.options);
  const auto defines = WriteTexts(builder, launch.defines);
  const auto arguments = WriteArguments(builder, launch.arguments);
  const auto names = WriteTexts(builder, {});
  const fbs::Sizes global = SizesOf(launch.range.global);
  const fbs::Sizes local = SizesOf(launch.range.local);
  return fbs::CreateKernelLaunch(builder, source, headers, text, name, function,
                                 options, defines, arguments, names,
                                 launch.range.dimensions, &global, &local,
                                 /*spatial_partition=*/false,
                                 /*user_kernel=*/true, launch.part);
}

Result<ir::KernelLaunch> ReadLaunch(const fbs::KernelLaunch& table,
                                    ReadBudget& budget) {
  ir::KernelLaunch launch;
  TIM_ASSIGN_OR_RETURN(launch.function, budget.Copy(table.function()));
  TIM_ASSIGN_OR_RETURN(launch.source, budget.Copy(table.source()));
  if (launch.source.empty()) {
    TIM_ASSIGN_OR_RETURN(launch.text, budget.Copy(table.text()));
    TIM_ASSIGN_OR_RETURN(launch.source, budget.Copy(table.name()));
  }
  TIM_ASSIGN_OR_RETURN(launch.headers, ReadTexts(table.headers(), budget));
  TIM_ASSIGN_OR_RETURN(launch.options, budget.Copy(table.options()));
  TIM_RETURN_IF_ERROR(
      ReadArguments(table, budget, ReadKernelArg, &launch.arguments));
  TIM_ASSIGN_OR_RETURN(launch.names, ReadTexts(table.names(), budget));
  launch.range = ReadRange(table);
  launch.spatial_partition = table.spatial_partition();
  return launch;
}

Result<ir::UserLaunch> ReadUserLaunch(const fbs::KernelLaunch& table,
                                      ReadBudget& budget) {
  ir::UserLaunch launch;
  TIM_ASSIGN_OR_RETURN(launch.function, budget.Copy(table.function()));
  const bool has_source =
      table.source() != nullptr && table.source()->size() != 0;
  const bool has_headers =
      table.headers() != nullptr && table.headers()->size() != 0;
  if (!table.user_kernel() || has_source || has_headers) {
    return InvalidArgument("kernel '", launch.function, "' is no user's");
  }
  TIM_ASSIGN_OR_RETURN(launch.text, budget.Copy(table.text()));
  TIM_ASSIGN_OR_RETURN(launch.name, budget.Copy(table.name()));
  TIM_ASSIGN_OR_RETURN(launch.options, budget.Copy(table.options()));
  TIM_ASSIGN_OR_RETURN(launch.defines, ReadTexts(table.defines(), budget));
  TIM_RETURN_IF_ERROR(
      ReadArguments(table, budget, ReadUserArg, &launch.arguments));
  launch.range = ReadRange(table);
  launch.part = table.part();
  return launch;
}

}  // namespace tim::binary
