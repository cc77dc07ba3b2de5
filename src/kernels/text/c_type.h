// OpenCL C's builtin types by name.
#ifndef TIM_KERNELS_TEXT_C_TYPE_H_
#define TIM_KERNELS_TEXT_C_TYPE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tim::kernels {

struct CType {
  const char* name;
  int bytes;
  bool floating;
  int64_t min;  ///< Of integers.
  uint64_t max;
};

/// One spelling per type: "const unsigned char" and "uchar" are "uchar".
std::string PlainTypeName(std::string_view spelled);

/// char … ulong, half, float or double; null for any other plain name.
const CType* FindCType(std::string_view name);

/// "float" of "float4"; other names stay as they are.
std::string_view ElementOfVector(std::string_view name);

/// void, bool, what FindCType knows, and vectors; of plain names.
bool IsBuiltinType(std::string_view name);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_C_TYPE_H_
