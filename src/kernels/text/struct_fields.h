// The fields of structs that kernels take by value.
#ifndef TIM_KERNELS_TEXT_STRUCT_FIELDS_H_
#define TIM_KERNELS_TEXT_STRUCT_FIELDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tim::kernels {

struct StructField {
  std::string type;  ///< "int" or "float".
  std::string name;
};

/// The fields of "typedef struct { int w, h; float scale; } NAME;" in their
/// order; none where the text, which is preprocessed, defines no such struct.
/// Fails on a field that is neither int nor float.
Result<std::vector<StructField>> FieldsOf(std::string_view name,
                                          std::string_view text);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_STRUCT_FIELDS_H_
