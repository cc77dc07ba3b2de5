// What Compile() says of graphs that are legal and hardly meant.
#ifndef TIM_TESTS_SUPPORT_VX_DOUBTS_H_
#define TIM_TESTS_SUPPORT_VX_DOUBTS_H_

#include <functional>
#include <memory>
#include <string>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {

/// Makes a graph in the context.
using MakeGraph =
    std::function<std::shared_ptr<vx::Graph>(vx::Context& context)>;

enum class Lenient : uint8_t { kNo, kYes };
/// On the host, as under TIMCL_LENIENT=0 or 1.
std::shared_ptr<vx::Context> HostContext(Lenient lenient);

/// What `act` prints to stderr.
std::string LogOf(const std::function<void()>& act);
/// How often `part` stands in `text`.
int Count(const std::string& text, const std::string& part);

/// The graph compiles with one warning about an operation, which has all
/// `parts`, and says nothing when it compiles again; with TIMCL_LENIENT=0
/// Compile() fails and says them.
void ExpectDoubt(const MakeGraph& make, const std::vector<std::string>& parts);
/// It compiles without a warning in both modes.
void ExpectNoDoubt(const MakeGraph& make);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_VX_DOUBTS_H_
