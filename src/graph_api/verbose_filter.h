// Filters of verbose lines, as oneDNN's users write them.
#ifndef TIM_GRAPH_API_VERBOSE_FILTER_H_
#define TIM_GRAPH_API_VERBOSE_FILTER_H_

#include <string_view>

namespace tim::graph {

/// True where a part of `component` matches the pattern: alternatives with "|"
/// between, of characters, "." for any, "*" for any number of the one before,
/// "+" for one or more of it, "^" and "$" for both ends.  Other characters of
/// regular expressions stand for themselves.
bool FilterTakes(std::string_view pattern, std::string_view component);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_VERBOSE_FILTER_H_
