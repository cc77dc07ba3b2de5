#include "binary/graph_file.h"

#include <utility>

#include "binary/graph_tables.h"

namespace tim::binary {
namespace {

Result<ir::Graph> Read(std::span<const std::byte> bytes,
                       const ir::OpRegistry& registry,
                       const std::shared_ptr<const void>& keeper) {
  TIM_ASSIGN_OR_RETURN(const TableFile file, TableFile::Open(bytes, keeper));
  TIM_ASSIGN_OR_RETURN(const auto* root, file.Verified<fbs::GraphFile>());
  if (root->graph() == nullptr) return InvalidArgument("it has no graph");
  ReadBudget budget(kMaxGrowth * file.table_bytes());
  TIM_ASSIGN_OR_RETURN(
      GraphReader reader,
      GraphReader::Create(file, root->data(), registry, budget));
  return reader.Read(*root->graph());
}

}  // namespace

Result<Encoding> EncodeGraph(const ir::Graph& graph) {
  flatbuffers::FlatBufferBuilder builder;
  DataPieces data;
  GraphWriter writer(builder, data);
  TIM_ASSIGN_OR_RETURN(const auto written, writer.Write(graph));
  builder.Finish(fbs::CreateGraphFile(builder, written, writer.WriteExtents()));
  return Encoding({builder.GetBufferPointer(), builder.GetSize()},
                  std::move(data));
}

Result<std::vector<std::byte>> WriteGraph(const ir::Graph& graph) {
  TIM_ASSIGN_OR_RETURN(const Encoding encoding, EncodeGraph(graph));
  return encoding.ToBytes();
}

Result<ir::Graph> ReadGraph(std::span<const std::byte> bytes,
                            const ir::OpRegistry& registry,
                            const std::shared_ptr<const void>& keeper) {
  Result<ir::Graph> graph = Read(bytes, registry, keeper);
  if (!graph.ok()) return graph.status().WithContext("binary graph");
  return graph;
}

}  // namespace tim::binary
