// Binary graphs in tests.
#ifndef TIM_TESTS_SUPPORT_VX_BINARY_GRAPH_H_
#define TIM_TESTS_SUPPORT_VX_BINARY_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "tim/vx/graph.h"
#include "tim/vx/ops/nbg.h"

namespace tim::testing {

/// What CompileToBinary() writes; empty after a failure, which is reported.
std::vector<char> ToBinary(vx::Graph& graph);

/// A graph of one NBG, whose inputs and outputs have the source's specs.
struct LoadedBinary {
  LoadedBinary(const std::vector<char>& binary, vx::Graph& source,
               std::shared_ptr<vx::Graph> on);

  std::shared_ptr<vx::Graph> graph;
  std::vector<std::shared_ptr<vx::Tensor>> inputs;
  std::vector<std::shared_ptr<vx::Tensor>> outputs;
  std::shared_ptr<vx::ops::NBG> nbg;
};

/// A file that is removed at the end.
class BinaryFile {
 public:
  explicit BinaryFile(const std::vector<char>& binary);
  ~BinaryFile();
  BinaryFile(const BinaryFile&) = delete;
  BinaryFile& operator=(const BinaryFile&) = delete;

  const std::string& path() const { return path_; }
  static std::vector<char> Read(const std::string& path);

 private:
  std::string path_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_VX_BINARY_GRAPH_H_
