// A model of a file as a graph, and what an importer says of it.
#ifndef TIM_MODELS_MODEL_H_
#define TIM_MODELS_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tim/vx/export.h"
#include "tim/vx/graph.h"
#include "tim/vx/tensor.h"

namespace tim {
namespace models {

/// Extents in the order of the file, slowest-varying first; -1: not known.
using Dims = std::vector<int64_t>;

/// An input or output of a model.
struct Port {
  std::string name;  ///< As in the file.
  vx::DataType type = vx::DataType::UNKNOWN;
  Dims dims;  ///< As in the file; the tensor has the same bytes.
  /// INPUT or OUTPUT of Model::graph; a scalar has shape {1}.
  std::shared_ptr<vx::Tensor> tensor;
};

/// Something that an importer does not take.
struct Refusal {
  std::string node;    ///< Its name, or "#12", its number in the file.
  std::string op;      ///< "com.microsoft.Attention", "CONV_2D".
  std::string about;   ///< The attribute or operand; empty: all of it.
  std::string reason;  ///< One line.
};

/// Elements of a tensor given by the caller: dense, in the order of the file,
/// aligned for their type.  The graph keeps what `data` owns; the elements must
/// not change while it lives.
struct GivenTensor {
  vx::DataType type = vx::DataType::UNKNOWN;
  Dims dims;
  std::shared_ptr<const void> data;
};

/// A node that the library does not take, for NodeSupplier.
struct SuppliedNode {
  std::string name;
  std::string op;  ///< As Refusal::op.
  /// Numbers, texts and lists of them by name, as the file has them.
  std::map<std::string, std::vector<int64_t>> ints;
  std::map<std::string, std::vector<double>> floats;
  std::map<std::string, std::vector<std::string>> texts;
  /// Operands by place; null where an optional one is absent.
  std::vector<std::shared_ptr<vx::Tensor>> inputs;
  size_t output_count = 0;
};

/// Adds operations for `node` to `graph` (custom operators, functions of the
/// host) and returns the tensors that they write, TRANSIENT, one for each
/// output; none: the node stays refused.  It is called on the thread that
/// imports; what it throws becomes Model::error.
using NodeSupplier = std::function<std::vector<std::shared_ptr<vx::Tensor>>(
    vx::Graph& graph, const SuppliedNode& node)>;

/// Options of all importers.  A name that the file does not have is an error.
struct ImportOptions {
  /// Shapes of inputs by name, for files that leave extents open, and in place
  /// of those that the file has.
  std::map<std::string, Dims> shapes;
  /// Extents by the names that the file gives them ("batch", "N"); those of
  /// TFLite have no names for extents.
  std::map<std::string, int64_t> dimensions;
  /// Inputs that become constants: their values are known.
  std::map<std::string, GivenTensor> values;
  /// Asked for every node that the library does not take.
  NodeSupplier supplier;
  /// A loop with a constant trip count is unrolled up to so many trips.
  int64_t most_trips = 256;
  /// ONNX: rows of what a Loop stacks whose trips are known when the model
  /// runs, and the most trips that it makes then.  Rows behind the last trip
  /// are zeros, which the nodes read that read the stack.  Such a loop adds an
  /// output to the model, "<loop>/trips", INT64 of one element: the number of
  /// trips, which is above `stacked_rows` where the loop was cut short.
  /// 0: what such loops stack is refused.
  int64_t stacked_rows = 0;
  /// Not empty: a C++ program that builds the graph is written there, see
  /// `timcl import`; its weights go into a file beside it.
  std::string cpp_path;
};

/// A graph made of a file, or why there is none.
struct Model {
  std::shared_ptr<vx::Graph> graph;  ///< Not compiled; null after a failure.
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  /// Nodes of the file by operator, named as Refusal::op, with how many there
  /// are; of a file that cannot be read none.
  std::map<std::string, size_t> operators;
  /// All that was not taken; not empty: there is no graph.
  std::vector<Refusal> refusals;
  /// Text that says why there is no graph, with all refusals; else empty.
  std::string error;
  /// Warnings, one line each.
  std::vector<std::string> warnings;

  explicit operator bool() const { return graph != nullptr; }
};

}  // namespace models
}  // namespace tim

#endif  // TIM_MODELS_MODEL_H_
