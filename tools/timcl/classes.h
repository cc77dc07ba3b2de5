// Classes that a classifier finds most likely.
#ifndef TIM_TOOLS_TIMCL_CLASSES_H_
#define TIM_TOOLS_TIMCL_CLASSES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/timcl/arguments.h"
#include "tools/timcl/tensor_data.h"

namespace tim::tool {

struct FoundClass {
  int64_t index = 0;
  std::string label;  ///< Empty where there are no labels.
  double value = 0;   ///< Real value of the output's element.
};

/// An output that is one row of values, and the greatest of them first.
struct FoundClasses {
  std::string output;
  std::vector<FoundClass> classes = {};
};

/// Labels of classes: the lines of the file, without empty ones at its end;
/// none where no file is asked for.  kInvalidArgument for --labels without
/// --top.
Result<std::vector<std::string>> LabelsFor(const RunArguments& arguments);

/// The `top` greatest values of each output that is one row of more than one
/// value; NaN are the least.  kInvalidArgument where there is no such output,
/// or one of them has not as many values as there are labels.
Result<std::vector<FoundClasses>> FindClasses(
    const Tensors& outputs, int top, const std::vector<std::string>& labels);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_CLASSES_H_
