// Facts and tensors of a record, as tables and back.
#include "binary/record_file.h"

#include <utility>

#include "binary/read_budget.h"
#include "binary/record_generated.h"
#include "binary/table_file.h"

namespace tim::binary {
namespace {

using Indices = flatbuffers::Vector<int32_t>;
using Pieces = std::vector<std::span<const std::byte>>;

std::vector<int32_t> AddAll(const Pieces& pieces, DataPieces& data) {
  std::vector<int32_t> indices;
  for (const auto& bytes : pieces) {
    indices.push_back(bytes.empty() ? -1 : data.Add(bytes, nullptr));
  }
  return indices;
}

Result<std::vector<Fact>> ReadFacts(
    const flatbuffers::Vector<flatbuffers::Offset<fbs::Fact>>* list,
    ReadBudget& budget) {
  std::vector<Fact> facts;
  for (uint32_t i = 0; list != nullptr && i < list->size(); ++i) {
    const fbs::Fact& table = *list->Get(i);
    TIM_RETURN_IF_ERROR(budget.Take(int64_t{sizeof(Fact)}));
    Fact& fact = facts.emplace_back();
    TIM_ASSIGN_OR_RETURN(fact.name, budget.Copy(table.name()));
    TIM_ASSIGN_OR_RETURN(fact.value, budget.Copy(table.value()));
  }
  return facts;
}

using Strings = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

Result<std::vector<std::string>> ReadMessages(const Strings* list,
                                              ReadBudget& budget) {
  std::vector<std::string> messages;
  for (uint32_t i = 0; list != nullptr && i < list->size(); ++i) {
    TIM_RETURN_IF_ERROR(budget.Take(int64_t{sizeof(std::string)}));
    TIM_ASSIGN_OR_RETURN(messages.emplace_back(), budget.Copy(list->Get(i)));
  }
  return messages;
}

// One entry per port, or none at all.
Result<Pieces> ReadData(const char* what, const Indices* list,
                        const Pieces& pieces, const std::vector<Port>& ports) {
  Pieces data;
  if (list == nullptr || list->size() == 0) return data;
  TIM_RETURN_IF_ERROR(CheckAligned(list));
  if (list->size() != ports.size()) {
    return InvalidArgument("it has ", list->size(), " ", what,
                           "s, the binary graph has ", ports.size());
  }
  for (uint32_t i = 0; i < list->size(); ++i) {
    const int32_t index = list->Get(i);
    std::span<const std::byte>& bytes = data.emplace_back();
    if (index == -1) continue;
    if (index < 0 || static_cast<size_t>(index) >= pieces.size()) {
      return InvalidArgument(what, " ", i, " is data ", index, " of ",
                             pieces.size());
    }
    bytes = pieces[index];
    TIM_ASSIGN_OR_RETURN(const int64_t size, ir::ByteSize(ports[i].desc));
    if (std::cmp_equal(bytes.size(), size)) continue;
    return InvalidArgument(what, " ", i, " has ", bytes.size(), " bytes, ",
                           ports[i].desc.ToString(), " has ", size);
  }
  return data;
}

Result<Record> Read(const Blob& blob) {
  TIM_ASSIGN_OR_RETURN(const TableFile file,
                       TableFile::Open(blob.record, nullptr));
  TIM_ASSIGN_OR_RETURN(const auto* root, file.Verified<fbs::Record>());
  TIM_ASSIGN_OR_RETURN(const auto pieces, file.Pieces(root->data()));
  ReadBudget budget(kMaxGrowth * file.table_bytes());
  Record record;
  TIM_ASSIGN_OR_RETURN(record.facts, ReadFacts(root->facts(), budget));
  if (root->end() > fbs::RunEnd::MAX) {
    return InvalidArgument("its run has ended in way ",
                           static_cast<int>(root->end()));
  }
  record.run = root->run();
  record.end = static_cast<RunEnd>(root->end());
  TIM_ASSIGN_OR_RETURN(record.message, budget.Copy(root->message()));
  TIM_ASSIGN_OR_RETURN(record.inputs,
                       ReadData("input", root->inputs(), pieces, blob.inputs));
  TIM_ASSIGN_OR_RETURN(record.outputs, ReadData("output", root->outputs(),
                                                pieces, blob.outputs));
  TIM_ASSIGN_OR_RETURN(record.messages, ReadMessages(root->messages(), budget));
  return record;
}

}  // namespace

Encoding EncodeRecord(const Record& record) {
  flatbuffers::FlatBufferBuilder builder;
  DataPieces data;
  std::vector<flatbuffers::Offset<fbs::Fact>> facts;
  for (const Fact& fact : record.facts) {
    const auto name = builder.CreateString(fact.name);
    facts.push_back(
        fbs::CreateFact(builder, name, builder.CreateString(fact.value)));
  }
  const auto fact_list = builder.CreateVector(facts);
  const auto message = builder.CreateString(record.message);
  const auto inputs = builder.CreateVector(AddAll(record.inputs, data));
  const auto outputs = builder.CreateVector(AddAll(record.outputs, data));
  std::vector<fbs::Extent> extents;
  for (const DataPieces::Piece& piece : data.pieces()) {
    extents.emplace_back(static_cast<uint64_t>(piece.offset),
                         piece.bytes.size());
  }
  const auto places = builder.CreateVectorOfStructs(extents);
  const auto messages = builder.CreateVectorOfStrings(record.messages);
  builder.Finish(fbs::CreateRecord(builder, fact_list, record.run,
                                   static_cast<fbs::RunEnd>(record.end),
                                   message, inputs, outputs, places, messages));
  return Encoding({builder.GetBufferPointer(), builder.GetSize()},
                  std::move(data));
}

Result<Record> ReadRecord(const Blob& blob) {
  auto record = Read(blob);
  if (!record.ok()) return record.status().WithContext("the record");
  return record;
}

}  // namespace tim::binary
