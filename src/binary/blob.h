// Binary graphs, which Graph::CompileToBinary() writes: inputs and outputs, the
// graph, and perhaps what it was compiled to, or a record of its last run.
#ifndef TIM_BINARY_BLOB_H_
#define TIM_BINARY_BLOB_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned_memory.h"
#include "base/status.h"
#include "binary/blob_header.h"
#include "binary/encoding.h"
#include "binary/frozen_graph.h"
#include "binary/graph_file.h"
#include "ir/graph.h"
#include "ir/tensor_desc.h"

namespace tim::binary {

/// An input or output as the user sees it.
struct Port {
  std::string name;
  ir::TensorDesc desc;
  bool unused = false;  ///< The graph has no operand at this place.
};

/// What is written; the graph's inputs and outputs are the ports, by place.
struct BlobContent {
  std::string library;  ///< Its version.
  std::string graph_name;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  Encoding graph;
  std::optional<Encoding> plan;
  std::optional<Encoding> programs;
  std::optional<Encoding> record;
  std::string kernels;  ///< Identity of the kernels that the plan names.
};

/// The same content gives the same bytes.
class BlobWriter {
 public:
  explicit BlobWriter(const BlobContent& content);

  int64_t bytes() const { return static_cast<int64_t>(header_.total_bytes); }
  /// Writes bytes() bytes.
  void WriteTo(std::byte* out) const;

 private:
  const BlobContent& content_;
  const Encoding contents_;
  BlobHeader header_;
};

/// Where the graph's constants lie while it is used.
inline constexpr int64_t kBlobAlignment = 4096;

/// A binary graph that has been checked, but for what its sections say; or one
/// of a graph of this process, which was never bytes.
struct Blob {
  std::string library;
  std::string graph_name;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::span<const std::byte> graph;
  std::shared_ptr<const FrozenGraph> frozen;  ///< In place of `graph`, or null.
  std::span<const std::byte> plan;            ///< Empty: there is none.
  std::span<const std::byte> programs;        ///< Empty: there are none.
  std::span<const std::byte> record;          ///< Empty: there is none.
  std::string kernels;
  std::shared_ptr<const void> keeper;
};

/// Its messages begin with "the binary graph".  `keeper` keeps the bytes, which
/// are used in place; bytes behind the binary graph do not matter.
Result<Blob> OpenBlob(std::span<const std::byte> bytes,
                      std::shared_ptr<const void> keeper,
                      Checksum checksum = Checksum::kChecked);

/// A copy of the binary graph at `blob`, whose header tells its length.  Reads
/// no further than the bytes are like a binary graph of this format.
Result<Blob> CopyBlob(const void* blob);

/// The graph, whose inputs and outputs are the ports.
Result<ir::Graph> ReadBlobGraph(const Blob& blob,
                                const ir::OpRegistry& registry,
                                ir::OpRegistry* user_operators,
                                const std::string& prefix);

}  // namespace tim::binary

#endif  // TIM_BINARY_BLOB_H_
