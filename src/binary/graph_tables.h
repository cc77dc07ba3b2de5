// Graphs, and what they are made of, as tables of a file.
#ifndef TIM_BINARY_GRAPH_TABLES_H_
#define TIM_BINARY_GRAPH_TABLES_H_

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "binary/encoding.h"
#include "binary/graph_generated.h"
#include "binary/read_budget.h"
#include "binary/table_file.h"
#include "ir/attribute.h"
#include "ir/graph.h"
#include "ir/op_registry.h"

namespace tim::binary {

/// Writes into one builder; what graphs share as constants is one piece.
class GraphWriter {
 public:
  template <typename T>
  using Offset = flatbuffers::Offset<T>;

  /// \param registry where operators with users' kernels are frozen, that
  /// which has them; null: they are named like others.
  GraphWriter(flatbuffers::FlatBufferBuilder& builder, DataPieces& data,
              const ir::OpRegistry* registry = nullptr)
      : builder_(builder), data_(data), registry_(registry) {}

  /// Fails where graphs are nested deeper than kMaxGraphDepth.
  Result<Offset<fbs::Graph>> Write(const ir::Graph& graph);
  Result<Offset<flatbuffers::Vector<Offset<fbs::Attribute>>>> Write(
      const ir::AttributeMap& attributes);
  Result<Offset<fbs::Composite>> Write(const ir::Composite& composite);
  /// Of all graphs that were written.
  Offset<flatbuffers::Vector<Offset<fbs::UserOperator>>> WriteUserOperators();
  /// Of everything else.
  Offset<flatbuffers::Vector<const fbs::Extent*>> WriteExtents();

 private:
  Result<Offset<fbs::Attribute>> Write(const std::string& name,
                                       const ir::Attribute& attribute);
  Offset<fbs::Value> Write(const ir::Value& value);
  Result<Offset<fbs::Node>> Write(const ir::Graph& graph, const ir::Node& node,
                                  std::span<const int32_t> value_index);

  flatbuffers::FlatBufferBuilder& builder_;
  DataPieces& data_;
  const ir::OpRegistry* registry_;
  std::map<std::string, Offset<fbs::UserOperator>> frozen_;  // by key
  int depth_ = 0;
};

/// Reads verified tables.  Whatever they hold, what comes back is consistent:
/// operands exist, values have one producer and constants the bytes of their
/// descs, operators are the registry's, with complete attributes and as many
/// operands as they allow, bodies have the operands of their nodes, and there
/// is no cycle.  The rules of each operator are the compiler's to check.
class GraphReader {
 public:
  /// Reads the file's data; the others must outlive the reader.
  static Result<GraphReader> Create(
      const TableFile& file,
      const flatbuffers::Vector<const fbs::Extent*>* data,
      const ir::OpRegistry& registry, ReadBudget& budget);
  /// Registers the frozen operators, as binary::Register does, for the graphs
  /// that are read after it.
  Status ReadUserOperators(
      const flatbuffers::Vector<flatbuffers::Offset<fbs::UserOperator>>* list,
      const std::string& prefix, ir::OpRegistry* registry);

  Result<ir::Graph> Read(const fbs::Graph& table);
  Result<ir::AttributeMap> Read(
      const flatbuffers::Vector<flatbuffers::Offset<fbs::Attribute>>* list);
  /// The body of a node with so many operands.
  Result<std::shared_ptr<const ir::Composite>> Read(const fbs::Composite& table,
                                                    size_t inputs,
                                                    size_t outputs);
  /// By key; a failure says that this library lacks it.
  Result<const ir::OpSchema*> FindOperator(
      const flatbuffers::String* key) const;
  /// Null for -1.
  Result<std::shared_ptr<const ir::ConstantData>> Data(int index) const;

 private:
  GraphReader(const ir::OpRegistry& registry, ReadBudget& budget)
      : registry_(registry), budget_(budget) {}

  Result<ir::Attribute> ReadAttribute(const fbs::Attribute& table);
  Result<ir::Attribute> ReadList(const fbs::Attribute& table);
  Status ReadValue(const fbs::Value& table, ir::Graph* graph);
  Status ReadNode(const fbs::Node& table, ir::Graph* graph);
  Result<ir::Node> MakeNode(const fbs::Node& table, const ir::Graph& graph);
  Status ReadEnds(const fbs::Graph& table, ir::Graph* graph);
  Result<std::vector<ir::ValueId>> ReadOperands(
      const flatbuffers::Vector<int32_t>* list, const ir::Graph& graph);

  const ir::OpRegistry& registry_;
  ReadBudget& budget_;
  std::map<std::string, const ir::OpSchema*, std::less<>> frozen_;  // by key
  std::vector<std::shared_ptr<const ir::ConstantData>> data_;
  int depth_ = 0;
};

}  // namespace tim::binary

#endif  // TIM_BINARY_GRAPH_TABLES_H_
