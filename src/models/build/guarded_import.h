// Ends of an import: what a caller gets when a file is not taken.
#ifndef TIM_MODELS_BUILD_GUARDED_IMPORT_H_
#define TIM_MODELS_BUILD_GUARDED_IMPORT_H_

#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "tim/models/model.h"

namespace tim::models {

/// The model that `import` makes.  After its failure, an exception too, there
/// is no graph, and Model::error says why, with `name` before it.  Texts of
/// files may be any bytes: those of failures become UTF-8.
Model GuardedImport(const std::string& name,
                    const std::function<Status(Model* model)>& import);

/// Lines of an error: how many parts are not taken, each, and what can be done.
std::string RefusalText(const std::vector<Refusal>& refusals);

}  // namespace tim::models

#endif  // TIM_MODELS_BUILD_GUARDED_IMPORT_H_
