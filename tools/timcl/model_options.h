// Options of model importers, as command lines give them.
#ifndef TIM_TOOLS_TIMCL_MODEL_OPTIONS_H_
#define TIM_TOOLS_TIMCL_MODEL_OPTIONS_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "tim/models/model.h"
#include "tools/timcl/arguments.h"

namespace tim::tool {

/// A word "NAME=TEXT"; a name may have '=' in it, a text has none.
struct NamedText {
  std::string name;
  std::string text;
};
/// kInvalidArgument, which names `option`, where the name is missing.
Result<NamedText> SplitAtLast(const std::string& option,
                              const std::string& word);

/// Puts shapes, dimensions, values and the bound on trips into `options`.
/// kInvalidArgument for what cannot be read or is given twice, kNotFound for
/// files of values that cannot be read.
Status FillImportOptions(const ModelArguments& arguments,
                         models::ImportOptions* options);

/// Whether nothing is asked for that concerns a model alone, trips apart.
bool IsDefault(const ModelArguments& arguments);

/// The same options as words of a command line.
std::vector<std::string> WordsOf(const ModelArguments& arguments);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_MODEL_OPTIONS_H_
