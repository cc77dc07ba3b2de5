// Conversions between types of the front and types of ir.
#ifndef TIM_VALUES_CONVERSION_H_
#define TIM_VALUES_CONVERSION_H_

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/constant.h"
#include "ir/op_schema.h"
#include "ir/tensor_desc.h"
#include "tim/values/types.h"

namespace tim::values::internal {

/// A spec below the front: rank 0 is [1] in memory, and `is_scalar`.
struct TensorSpec {
  ir::TensorDesc desc;
  bool is_scalar = false;
};

/// kInvalidArgument says what of the spec is not sound.
Result<TensorSpec> ToTensorSpec(const Spec& spec);
Spec ToSpec(const ir::TensorDesc& desc, bool is_scalar);
/// Bytes of a dense tensor; kInvalidArgument where type or extents are unknown.
Result<int64_t> BytesOf(const ir::TensorDesc& desc);

/// `given` and what is known of `declared`; kInvalidArgument says which axis
/// contradicts.
Result<TensorSpec> Merge(const TensorSpec& declared, const TensorSpec& given);

/// "float32 [3, 2]"
std::string TextOf(const ir::TensorDesc& desc, bool is_scalar);

struct AttributeState {
  ir::Attribute value;
};

/// The attribute as `spec` wants it: names of enumerations become their
/// numbers, integers floats.  kInvalidArgument names what is legal.
Result<ir::Attribute> ToAttribute(const ir::Attribute& value,
                                  const ir::AttributeSpec& spec);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_CONVERSION_H_
