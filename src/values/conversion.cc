// Translates specs and attributes, and says what of them makes no sense.
#include "values/conversion.h"

#include <utility>
#include <variant>

#include "ir/verify/desc_check.h"

namespace tim::values::internal {
namespace {

ir::Quantization ToQuantization(const Quantization& given) {
  return {.kind = static_cast<ir::QuantizationKind>(given.kind),
          .axis = given.axis,
          .scales = given.scales,
          .zero_points = given.zero_points,
          .fl = given.fl};
}

Result<ir::Shape> ToShape(const Shape& given) {
  if (!given.ranked()) return ir::Shape();
  ir::Shape shape = ir::Shape::OfRank(given.rank());
  for (int axis = 0; axis < given.rank(); ++axis) {
    if (given[axis] != Shape::kUnknown && given[axis] <= 0) {
      return InvalidArgument("extent ", given[axis], " of axis ", axis,
                             "; extents are positive, or Shape::kUnknown");
    }
    shape.set_dim(axis, given[axis]);
    const int64_t most = given.Bound(axis);
    if (given[axis] == Shape::kUnknown && most != Shape::kUnknown) {
      if (most <= 0) {
        return InvalidArgument("bound ", most, " of axis ", axis,
                               "; bounds are positive");
      }
      shape.SetBound(axis, most);
    }
  }
  return shape;
}

std::string NamesOf(const ir::AttributeSpec& spec) {
  std::string names;
  for (const auto& [name, value] : spec.values) {
    names += StrCat(names.empty() ? "" : ", ", name, " = ", value);
  }
  return names;
}

// Lists without elements have no type of their own.
bool IsEmptyList(const ir::Attribute& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (requires { held.push_back(held[0]); }) {
          return held.empty();
        }
        return false;
      },
      value);
}

}  // namespace

Result<TensorSpec> ToTensorSpec(const Spec& spec) {
  TensorSpec made;
  if (static_cast<int>(spec.type) >= ir::kDataTypeCount) {
    return InvalidArgument("element type ", static_cast<int>(spec.type),
                           " is none");
  }
  made.desc.type = static_cast<ir::DataType>(spec.type);
  made.is_scalar = spec.shape.ranked() && spec.shape.rank() == 0;
  if (made.is_scalar) {
    made.desc.shape = ir::Shape{1};
  } else {
    TIM_ASSIGN_OR_RETURN(made.desc.shape, ToShape(spec.shape));
  }
  TIM_RETURN_IF_ERROR(ir::CheckShape(made.desc.shape));
  if (spec.quantization.kind < 0 || spec.quantization.kind > 3) {
    return InvalidArgument("quantization of kind ", spec.quantization.kind,
                           "; kinds are 0 to 3");
  }
  made.desc.quantization = ToQuantization(spec.quantization);
  if (made.desc.quantized()) {
    TIM_RETURN_IF_ERROR(ir::CheckQuantization(made.desc));
  }
  return made;
}

Spec ToSpec(const ir::TensorDesc& desc, bool is_scalar) {
  Spec spec;
  spec.type = static_cast<Type>(desc.type);
  if (is_scalar) {
    spec.shape = Shape::Scalar();
  } else if (desc.shape.ranked()) {
    spec.shape = Shape(desc.shape.dims());
    for (int axis = 0; axis < desc.shape.rank(); ++axis) {
      if (desc.shape[axis] == ir::kUnknownDim &&
          desc.shape.Bound(axis) != ir::kUnknownDim) {
        spec.shape.SetBound(axis, desc.shape.Bound(axis));
      }
    }
  }
  spec.quantization.kind = static_cast<int>(desc.quantization.kind);
  spec.quantization.axis = desc.quantization.axis;
  spec.quantization.scales = desc.quantization.scales;
  spec.quantization.zero_points = desc.quantization.zero_points;
  spec.quantization.fl = desc.quantization.fl;
  return spec;
}

Result<int64_t> BytesOf(const ir::TensorDesc& desc) {
  if (desc.type == ir::DataType::kUnknown) {
    return InvalidArgument("bytes need an element type, and it is unknown");
  }
  if (!desc.shape.IsStatic()) {
    return InvalidArgument("bytes need known extents, and the shape is ",
                           desc.shape.ToString());
  }
  return ir::ByteSize(desc);
}

std::string TextOf(const ir::TensorDesc& desc, bool is_scalar) {
  if (!is_scalar) return desc.ToString();
  return StrCat(ir::ToString(desc.type), " []");
}

Result<TensorSpec> Merge(const TensorSpec& declared, const TensorSpec& given) {
  TensorSpec merged = given;
  const ir::TensorDesc& old = declared.desc;
  ir::TensorDesc& desc = merged.desc;
  if (desc.type == ir::DataType::kUnknown) desc.type = old.type;
  if (old.type != ir::DataType::kUnknown && old.type != desc.type) {
    return InvalidArgument("is ", ir::ToString(old.type), ", not ",
                           ir::ToString(desc.type));
  }
  if (old.quantized() && desc.quantization.none()) {
    desc.quantization = old.quantization;
  }
  if (old.quantized() && !(old.quantization == desc.quantization)) {
    return InvalidArgument("is quantized as ", old.ToString(), ", not ",
                           desc.ToString());
  }
  if (!old.shape.ranked()) return merged;
  if (!desc.shape.ranked()) {
    desc.shape = old.shape;
    merged.is_scalar = declared.is_scalar;
    return merged;
  }
  if (old.shape.rank() != desc.shape.rank() ||
      declared.is_scalar != given.is_scalar) {
    return InvalidArgument("is ", TextOf(old, declared.is_scalar), ", not ",
                           TextOf(desc, given.is_scalar),
                           ", which has another rank");
  }
  for (int axis = 0; axis < old.shape.rank(); ++axis) {
    const int64_t extent = desc.shape[axis];
    if (extent == ir::kUnknownDim) {
      if (old.shape[axis] != ir::kUnknownDim) {
        desc.shape.set_dim(axis, old.shape[axis]);
      } else {
        desc.shape.TightenBound(axis, old.shape.Bound(axis));
      }
      continue;
    }
    const int64_t most = old.shape.Bound(axis);
    if (old.shape[axis] == ir::kUnknownDim && most != ir::kUnknownDim &&
        extent > most) {
      return InvalidArgument("axis ", axis, ": ", extent,
                             " is more than its bound ", most);
    }
    if (old.shape[axis] != ir::kUnknownDim && old.shape[axis] != extent) {
      return InvalidArgument("axis ", axis, " is ", old.shape[axis], ", not ",
                             extent);
    }
  }
  return merged;
}

Result<ir::Attribute> ToAttribute(const ir::Attribute& value,
                                  const ir::AttributeSpec& spec) {
  using Kind = ir::AttributeType;
  const Kind given = ir::TypeOf(value);
  if (given == spec.type) return value;
  if (spec.type == Kind::kInt && given == Kind::kBool) {
    return ir::Attribute(static_cast<int64_t>(std::get<bool>(value)));
  }
  if (spec.type == Kind::kInt && given == Kind::kString) {
    const std::string& wanted = std::get<std::string>(value);
    for (const auto& [name, number] : spec.values) {
      if (name == wanted) return ir::Attribute(number);
    }
    if (!spec.values.empty()) {
      return InvalidArgument("attribute ", spec.name, " is '", wanted,
                             "'; legal are ", NamesOf(spec));
    }
  }
  if (spec.type == Kind::kBool && given == Kind::kInt) {
    return ir::Attribute(std::get<int64_t>(value) != 0);
  }
  if (spec.type == Kind::kFloat && given == Kind::kInt) {
    return ir::Attribute(static_cast<double>(std::get<int64_t>(value)));
  }
  if (spec.type == Kind::kFloats && given == Kind::kInts) {
    const auto& ints = std::get<std::vector<int64_t>>(value);
    return ir::Attribute(std::vector<double>(ints.begin(), ints.end()));
  }
  if (IsEmptyList(value)) {
    if (spec.type == Kind::kInts) return ir::Attribute(std::vector<int64_t>());
    if (spec.type == Kind::kFloats) return ir::Attribute(std::vector<double>());
    if (spec.type == Kind::kStrings) {
      return ir::Attribute(std::vector<std::string>());
    }
  }
  return InvalidArgument("attribute ", spec.name, " is of type ",
                         ir::ToString(spec.type), ", not ",
                         ir::ToString(given));
}

}  // namespace tim::values::internal
