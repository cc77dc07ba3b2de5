// Files of NumPy's format .npy, versions 1 to 3.
#ifndef TIM_TOOLS_TIMCL_NPY_H_
#define TIM_TOOLS_TIMCL_NPY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tim::tool {

struct NpyArray {
  std::string type;            ///< "<f4", "|u1": order, kind, bytes.
  std::vector<int64_t> shape;  ///< Slowest first, as NumPy has it.
  std::string_view data;       ///< Element by element, the last axis fastest.
};

/// The array in a file's bytes, which it refers to.  kInvalidArgument for what
/// is no such file, is cut short, or is in the order of Fortran.
Result<NpyArray> ParseNpy(std::string_view file);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_NPY_H_
