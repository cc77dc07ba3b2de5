#include "binary/blob.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "binary/blob_generated.h"
#include "binary/desc_tables.h"
#include "binary/table_file.h"

namespace tim::binary {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using PortList = flatbuffers::Vector<Offset<fbs::Port>>;

constexpr char kWhat[] = "the binary graph";
constexpr int64_t kPortBytes = sizeof(Port) + 64;

Offset<PortList> WritePorts(FlatBufferBuilder& builder,
                            const std::vector<Port>& ports) {
  std::vector<Offset<fbs::Port>> tables;
  for (const Port& port : ports) {
    const auto name = builder.CreateString(port.name);
    tables.push_back(fbs::CreatePort(
        builder, name, WriteDesc(builder, port.desc), port.unused));
  }
  return builder.CreateVector(tables);
}

Encoding EncodeContents(const BlobContent& content) {
  FlatBufferBuilder builder;
  const auto library = builder.CreateString(content.library);
  const auto graph = builder.CreateString(content.graph_name);
  const auto inputs = WritePorts(builder, content.inputs);
  const auto outputs = WritePorts(builder, content.outputs);
  const auto kernels = builder.CreateString(content.kernels);
  builder.Finish(
      fbs::CreateContents(builder, library, graph, inputs, outputs, kernels));
  return Encoding({builder.GetBufferPointer(), builder.GetSize()}, {});
}

BlobSection SectionAt(int64_t end, const Encoding& encoding) {
  return {.offset = static_cast<uint64_t>(AlignUp(end, encoding.alignment())),
          .bytes = static_cast<uint64_t>(encoding.bytes())};
}

int64_t EndOf(const BlobSection& section) {
  return static_cast<int64_t>(section.offset + section.bytes);
}

Result<std::vector<Port>> ReadPorts(const PortList* list, ReadBudget& budget) {
  std::vector<Port> ports;
  for (uint32_t i = 0; list != nullptr && i < list->size(); ++i) {
    const fbs::Port& table = *list->Get(i);
    TIM_RETURN_IF_ERROR(budget.Take(kPortBytes));
    Port& port = ports.emplace_back();
    TIM_ASSIGN_OR_RETURN(port.name, budget.Copy(table.name()));
    TIM_ASSIGN_OR_RETURN(port.desc, ReadDesc(table.desc(), budget));
    TIM_RETURN_IF_ERROR(ir::ByteSize(port.desc).status());
    port.unused = table.unused();
  }
  return ports;
}

Result<Blob> Open(std::span<const std::byte> bytes,
                  std::shared_ptr<const void> keeper, Checksum checksum) {
  TIM_ASSIGN_OR_RETURN(const BlobHeader header,
                       ReadBlobHeader(bytes.data(), bytes.size(), checksum));
  bytes = bytes.first(static_cast<size_t>(
      std::min<uint64_t>(bytes.size(), header.total_bytes)));
  TIM_RETURN_IF_ERROR(CheckBlob(header, bytes, checksum));
  const auto section = [&](const BlobSection& where) {
    return bytes.subspan(static_cast<size_t>(where.offset),
                         static_cast<size_t>(where.bytes));
  };
  TIM_ASSIGN_OR_RETURN(const TableFile file,
                       TableFile::Open(section(header.contents), nullptr));
  TIM_ASSIGN_OR_RETURN(const auto* contents, file.Verified<fbs::Contents>());
  ReadBudget budget(kMaxGrowth * file.table_bytes());
  Blob blob;
  TIM_ASSIGN_OR_RETURN(blob.library, budget.Copy(contents->library()));
  TIM_ASSIGN_OR_RETURN(blob.graph_name, budget.Copy(contents->graph()));
  TIM_ASSIGN_OR_RETURN(blob.inputs, ReadPorts(contents->inputs(), budget));
  TIM_ASSIGN_OR_RETURN(blob.outputs, ReadPorts(contents->outputs(), budget));
  TIM_ASSIGN_OR_RETURN(blob.kernels, budget.Copy(contents->kernels()));
  blob.graph = section(header.graph);
  if (header.plan.bytes != 0) blob.plan = section(header.plan);
  if (header.programs.bytes != 0) blob.programs = section(header.programs);
  if (header.record.bytes != 0) blob.record = section(header.record);
  blob.keeper = std::move(keeper);
  return blob;
}

Status CheckPorts(const char* what, const ir::Graph& graph,
                  const std::vector<ir::ValueId>& operands,
                  const std::vector<Port>& ports) {
  if (operands.size() != ports.size()) {
    return InvalidArgument("it lists ", ports.size(), " ", what,
                           "s, its graph has ", operands.size());
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    if (operands[i] == ir::kNone && ports[i].unused) continue;
    if (operands[i] != ir::kNone && !ports[i].unused &&
        graph.value(operands[i]).desc == ports[i].desc) {
      continue;
    }
    return InvalidArgument("its list of ", what, "s differs from its graph in ",
                           what, " ", i);
  }
  return OkStatus();
}

// A copy at an address where devices can read constants in place.
Result<std::pair<std::shared_ptr<const std::byte[]>, size_t>> CopyOf(
    const std::byte* blob) {
  TIM_ASSIGN_OR_RETURN(const BlobHeader header,
                       ReadBlobHeader(blob, std::numeric_limits<size_t>::max(),
                                      Checksum::kChecked));
  if (header.total_bytes < sizeof(header) || header.total_bytes > uint64_t{1}
                                                                      << 62) {
    return InvalidArgument("its header says that it has ", header.total_bytes,
                           " bytes");
  }
  const auto size = static_cast<size_t>(header.total_bytes);
  AlignedMemory memory =
      AllocateAligned(static_cast<int64_t>(size), kBlobAlignment);
  if (memory == nullptr) {
    return OutOfMemory("no host memory for a copy of its ", size, " bytes");
  }
  std::memcpy(memory.get(), blob, size);
  return std::pair(std::shared_ptr<const std::byte[]>(std::move(memory)), size);
}

}  // namespace

BlobWriter::BlobWriter(const BlobContent& content)
    : content_(content), contents_(EncodeContents(content)) {
  header_.contents = SectionAt(sizeof(BlobHeader), contents_);
  header_.graph = SectionAt(EndOf(header_.contents), content.graph);
  int64_t end = EndOf(header_.graph);
  if (content.plan) {
    header_.plan = SectionAt(end, *content.plan);
    end = EndOf(header_.plan);
  }
  if (content.programs) {
    header_.programs = SectionAt(end, *content.programs);
    end = EndOf(header_.programs);
  }
  if (content.record) {
    header_.record = SectionAt(end, *content.record);
    end = EndOf(header_.record);
  }
  header_.total_bytes = static_cast<uint64_t>(end);
}

void BlobWriter::WriteTo(std::byte* out) const {
  uint64_t written = sizeof(BlobHeader);
  const auto write = [&](const BlobSection& where, const Encoding& encoding) {
    std::fill(out + written, out + where.offset, std::byte{0});
    encoding.WriteTo(out + where.offset);
    written = where.offset + where.bytes;
  };
  write(header_.contents, contents_);
  write(header_.graph, content_.graph);
  if (content_.plan) write(header_.plan, *content_.plan);
  if (content_.programs) write(header_.programs, *content_.programs);
  if (content_.record) write(header_.record, *content_.record);
  BlobHeader header = header_;
  Seal(&header, {out + sizeof(header), out + header.total_bytes});
  std::memcpy(out, &header, sizeof(header));
}

Result<Blob> OpenBlob(std::span<const std::byte> bytes,
                      std::shared_ptr<const void> keeper, Checksum checksum) {
  Result<Blob> blob = Open(bytes, std::move(keeper), checksum);
  if (!blob.ok()) return blob.status().WithContext(kWhat);
  return blob;
}

Result<Blob> CopyBlob(const void* blob) {
  const auto copy = CopyOf(static_cast<const std::byte*>(blob));
  if (!copy.ok()) return copy.status().WithContext(kWhat);
  const auto& [memory, size] = *copy;
  return OpenBlob({memory.get(), size}, memory);
}

Result<ir::Graph> ReadBlobGraph(const Blob& blob,
                                const ir::OpRegistry& registry,
                                ir::OpRegistry* user_operators,
                                const std::string& prefix) {
  if (blob.frozen != nullptr) {
    return ThawGraph(*blob.frozen, prefix, user_operators);
  }
  TIM_ASSIGN_OR_RETURN(ir::Graph graph,
                       ReadGraph(blob.graph, registry,
                                 {.keeper = blob.keeper,
                                  .user_operators = user_operators,
                                  .prefix = prefix}));
  Status status = CheckPorts("input", graph, graph.inputs(), blob.inputs);
  if (status.ok()) {
    status = CheckPorts("output", graph, graph.outputs(), blob.outputs);
  }
  if (!status.ok()) return status.WithContext(kWhat);
  return graph;
}

}  // namespace tim::binary
