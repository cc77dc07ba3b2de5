#include "binary/graph_file.h"

#include <utility>

#include "binary/graph_tables.h"

namespace tim::binary {
namespace {

Result<ir::Graph> Read(std::span<const std::byte> bytes,
                       const ir::OpRegistry& registry,
                       const ReadOptions& options) {
  TIM_ASSIGN_OR_RETURN(const TableFile file,
                       TableFile::Open(bytes, options.keeper));
  TIM_ASSIGN_OR_RETURN(const auto* root, file.Verified<fbs::GraphFile>());
  if (root->graph() == nullptr) return InvalidArgument("it has no graph");
  ReadBudget budget(kMaxGrowth * file.table_bytes());
  TIM_ASSIGN_OR_RETURN(
      GraphReader reader,
      GraphReader::Create(file, root->data(), registry, budget));
  const auto* operators = root->user_operators();
  if (options.user_operators != nullptr) {
    TIM_RETURN_IF_ERROR(reader.ReadUserOperators(operators, options.prefix,
                                                 options.user_operators));
  } else if (operators != nullptr && operators->size() != 0) {
    return InvalidArgument("it has custom operations, but no place for them");
  }
  return reader.Read(*root->graph());
}

}  // namespace

Result<Encoding> EncodeGraph(const ir::Graph& graph,
                             const ir::OpRegistry* registry) {
  flatbuffers::FlatBufferBuilder builder;
  DataPieces data;
  GraphWriter writer(builder, data, registry);
  TIM_ASSIGN_OR_RETURN(const auto written, writer.Write(graph));
  const auto operators = writer.WriteUserOperators();
  const auto extents = writer.WriteExtents();
  builder.Finish(fbs::CreateGraphFile(builder, written, extents, operators));
  return Encoding({builder.GetBufferPointer(), builder.GetSize()},
                  std::move(data));
}

Result<std::vector<std::byte>> WriteGraph(const ir::Graph& graph) {
  TIM_ASSIGN_OR_RETURN(const Encoding encoding, EncodeGraph(graph));
  return encoding.ToBytes();
}

Result<ir::Graph> ReadGraph(std::span<const std::byte> bytes,
                            const ir::OpRegistry& registry,
                            const ReadOptions& options) {
  Result<ir::Graph> graph = Read(bytes, registry, options);
  if (!graph.ok()) return graph.status().WithContext("binary graph");
  return graph;
}

}  // namespace tim::binary
