// Failures that belong to a graph, and which graphs are of this library.
#include "vx/core/graph_core.h"

#include <algorithm>
#include <string_view>

#include "base/log.h"
#include "base/str_cat.h"
#include "vx/core/failure.h"

namespace tim::vx {
namespace {

// `status`, naming the graph, whose ErrorMessage() it becomes.
Status Recorded(GraphCore& core, const Status& status) {
  const bool named =
      status.message().find(StrCat("graph ", core.name)) != std::string::npos ||
      status.message().find(StrCat("'", core.name, "'")) != std::string::npos;
  const Status complete =
      named ? status : status.WithContext(StrCat("graph ", core.name));
  core.error = ErrorText(complete);
  return complete;
}

}  // namespace

std::shared_ptr<GraphCore> CoreOf(Graph* graph) {
  const auto* made = dynamic_cast<const OwnGraph*>(graph);
  return made != nullptr ? made->core() : nullptr;
}

bool Fail(GraphCore& core, const Status& status) {
  const Status recorded = Recorded(core, status);
  return core.quiet ? Adopt(recorded) : Fail(recorded);
}

Status LogFailure(GraphCore& core, const Status& status) {
  Status complete = Recorded(core, status);
  TIM_LOG(kError, core.error);
  return complete;
}

bool FailToCompile(GraphCore& core, const Status& status) {
  const auto known = std::find_if(
      core.logged.begin(), core.logged.end(), [&](std::string_view text) {
        return std::string_view(status.message()).ends_with(text);
      });
  if (known == core.logged.end()) return Fail(core, status);
  core.logged.erase(known);
  return Adopt(Recorded(core, status));
}

}  // namespace tim::vx
