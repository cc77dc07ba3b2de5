// Files of NumPy's format .npy, versions 1 to 3.
#ifndef TIM_TOOLS_TIMCL_NPY_H_
#define TIM_TOOLS_TIMCL_NPY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/data_type.h"

namespace tim::tool {

struct NpyArray {
  std::string type;            ///< "<f4", "|u1": order, kind, bytes.
  std::vector<int64_t> shape;  ///< Slowest first, as NumPy has it.
  std::string_view data;       ///< Element by element, the last axis fastest.
};

/// The array in a file's bytes, which it refers to.  kInvalidArgument for what
/// is no such file, is cut short, or is in the order of Fortran.
Result<NpyArray> ParseNpy(std::string_view file);

/// The type whose elements "<f4" and the like are; kUnknown where there is
/// none.
ir::DataType TypeOfNpy(const std::string& type);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_NPY_H_
