// The bridge between tim::vx and tim::values as the public header has it.
#include "tim/values/vx_bridge.h"

#include <utility>

#include "base/guarded.h"
#include "bridges/from_vx.h"
#include "bridges/to_vx.h"
#include "values/access.h"
#include "values/failure.h"

namespace tim::values {

Graph FromVxGraph(const std::shared_ptr<vx::Graph>& graph) {
  auto made = GuardedCall([&] { return bridges::FromVx(graph.get()); });
  if (made.ok()) return internal::Access::Make<Graph>(*std::move(made));
  auto failed = std::make_shared<internal::GraphState>("");
  failed->Fail(made.status().WithContext("of tim::vx"));
  internal::Fail(failed->status());
  return internal::Access::Make<Graph>(std::move(failed));
}

std::shared_ptr<vx::Graph> ToVxGraph(
    const Graph& graph, const std::shared_ptr<vx::Context>& context) {
  const auto& state = internal::Access::StateOf(graph);
  auto made = GuardedCall([&] { return bridges::ToVx(*state, context.get()); });
  if (made.ok()) return *std::move(made);
  internal::Fail(made.status().WithContext(
      StrCat("graph '", state->name(), "' in tim::vx")));
  return nullptr;
}

}  // namespace tim::values
