// Specs of tensors as Python has them.
#include "spec.h"

#include <utility>

#include "python_call.h"

namespace timcl {
namespace {

using Types = std::pair<vx::DataType, const char*>;
constexpr Types kTypes[] = {
    {vx::DataType::UNKNOWN, ""},        {vx::DataType::INT8, "int8"},
    {vx::DataType::UINT8, "uint8"},     {vx::DataType::INT16, "int16"},
    {vx::DataType::UINT16, "uint16"},   {vx::DataType::INT32, "int32"},
    {vx::DataType::UINT32, "uint32"},   {vx::DataType::INT64, "int64"},
    {vx::DataType::FLOAT16, "float16"}, {vx::DataType::FLOAT32, "float32"},
    {vx::DataType::BOOL8, "bool"},      {vx::DataType::INT4, "int4"},
    {vx::DataType::UINT4, "uint4"},
};

using Kinds = std::pair<vx::QuantType, const char*>;
constexpr Kinds kKinds[] = {
    {vx::QuantType::ASYMMETRIC, "tensor"},
    {vx::QuantType::SYMMETRIC_PER_CHANNEL, "channels"},
    {vx::QuantType::ASYMMETRIC_PER_CHANNEL, "asymmetric_channels"},
    {vx::QuantType::DYNAMIC_FIXED_POINT, "fixed_point"},
};

// The same axis counted from the other end; -1 stays.
int32_t OtherEnd(int64_t axis, size_t rank) {
  if (axis < 0) return -1;
  return static_cast<int32_t>(static_cast<int64_t>(rank) - 1 - axis);
}

nb::object ToPython(const vx::Quantization& quantization, size_t rank) {
  for (const auto& [type, name] : kKinds) {
    if (type != quantization.Type()) continue;
    return nb::make_tuple(name, quantization.Scales(),
                          quantization.ZeroPoints(),
                          OtherEnd(quantization.ChannelDim(), rank),
                          static_cast<int>(quantization.Fl()));
  }
  return nb::none();
}

vx::Quantization ToQuantization(nb::handle described, size_t rank) {
  vx::Quantization quantization;
  if (described.is_none()) return quantization;
  const std::string kind = nb::cast<std::string>(described[0]);
  for (const auto& [type, name] : kKinds) {
    if (kind != name) continue;
    return quantization.SetType(type)
        .SetScales(nb::cast<std::vector<float>>(described[1]))
        .SetZeroPoints(nb::cast<std::vector<int32_t>>(described[2]))
        .SetChannelDim(OtherEnd(nb::cast<int64_t>(described[3]), rank))
        .SetFl(nb::cast<int8_t>(described[4]));
  }
  Raise("ArgumentError", "there is no quantization '" + kind + "'");
}

}  // namespace

const char* TypeName(vx::DataType type) {
  for (const auto& [known, name] : kTypes) {
    if (known == type) return name;
  }
  return "";
}

vx::DataType TypeOf(const std::string& name) {
  for (const auto& [type, known] : kTypes) {
    if (name == known) return type;
  }
  Raise("ArgumentError", "there is no element type '" + name + "'");
}

nb::tuple ToShape(const vx::ShapeType& shape) {
  nb::list extents;
  for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) {
    extents.append(*extent);
  }
  return nb::tuple(extents);
}

vx::ShapeType ToExtents(const std::vector<int64_t>& shape) {
  vx::ShapeType extents;
  for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) {
    if (*extent < 1 || *extent > INT64_C(0xFFFFFFFF)) {
      Raise("ArgumentError", "an extent of a shape is " +
                                 std::to_string(*extent) +
                                 ", expected 1 to 4294967295");
    }
    extents.push_back(static_cast<uint32_t>(*extent));
  }
  return extents;
}

nb::tuple ToPython(const vx::TensorSpec& spec) {
  return nb::make_tuple(TypeName(spec.datatype_), ToShape(spec.shape_),
                        ToPython(spec.quantization_, spec.shape_.size()));
}

vx::TensorSpec ToSpec(nb::tuple described, vx::TensorAttribute attribute) {
  const auto shape = ToExtents(nb::cast<std::vector<int64_t>>(described[1]));
  vx::TensorSpec spec(TypeOf(nb::cast<std::string>(described[0])), shape,
                      attribute);
  spec.SetQuantization(ToQuantization(described[2], shape.size()));
  return spec;
}

}  // namespace timcl
