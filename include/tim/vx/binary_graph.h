// Ports of binary graphs.
#ifndef TIM_VX_BINARY_GRAPH_H_
#define TIM_VX_BINARY_GRAPH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tim/vx/export.h"
#include "tim/vx/tensor.h"

namespace tim {
namespace vx {

/// Inputs and outputs of a binary graph, in the order of ops::NBG.
struct BinaryGraphInfo {
  std::string graph;    ///< Name in messages.
  std::string library;  ///< Version that wrote it.
  /// Specs as ops::NBG wants them: INPUT, and OUTPUT.  Names are those that the
  /// client has given, else the numbers of the graph that was written ("t3").
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
};

/// Reads the header of what Graph::CompileToBinary() wrote; an addition to
/// TIM-VX, for programs that run binary graphs of others.
///
/// \param binary `size` bytes, which are checked as ops::NBG does, and not
///     kept.
/// \param info not null; not changed where the call fails.
/// \return false, with LastError(), where it is no binary graph of this
///     library, of another version, damaged or cut short.
TIM_VX_API bool ReadBinaryGraph(const void* binary, std::size_t size,
                                BinaryGraphInfo* info);

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_BINARY_GRAPH_H_
