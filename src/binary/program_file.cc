#include "binary/program_file.h"

#include <utility>
#include <vector>

#include "binary/programs_generated.h"
#include "binary/read_budget.h"
#include "binary/table_file.h"

namespace tim::binary {
namespace {

// What an entry takes besides its key, generously.
constexpr int64_t kProgramBytes = 128;

Result<std::map<std::string, std::span<const std::byte>>> Read(
    std::span<const std::byte> bytes) {
  TIM_ASSIGN_OR_RETURN(const TableFile file, TableFile::Open(bytes, nullptr));
  TIM_ASSIGN_OR_RETURN(const auto* root, file.Verified<fbs::ProgramFile>());
  TIM_ASSIGN_OR_RETURN(const auto pieces, file.Pieces(root->data()));
  ReadBudget budget(kMaxGrowth * file.table_bytes());
  std::map<std::string, std::span<const std::byte>> programs;
  const auto* list = root->programs();
  for (uint32_t i = 0; list != nullptr && i < list->size(); ++i) {
    const fbs::Program& program = *list->Get(i);
    if (program.data() < 0 ||
        static_cast<size_t>(program.data()) >= pieces.size()) {
      return InvalidArgument("program ", i, " is data ", program.data(), " of ",
                             pieces.size());
    }
    TIM_RETURN_IF_ERROR(budget.Take(kProgramBytes));
    TIM_ASSIGN_OR_RETURN(std::string key, budget.Copy(program.key()));
    programs[std::move(key)] = pieces[program.data()];
  }
  return programs;
}

}  // namespace

Encoding EncodePrograms(const Programs& programs) {
  flatbuffers::FlatBufferBuilder builder;
  DataPieces data;
  std::vector<flatbuffers::Offset<fbs::Program>> tables;
  for (const auto& [key, bytes] : programs) {
    const int piece =
        data.Add(std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr);
    tables.push_back(
        fbs::CreateProgram(builder, builder.CreateString(key), piece));
  }
  std::vector<fbs::Extent> extents;
  for (const DataPieces::Piece& piece : data.pieces()) {
    extents.emplace_back(static_cast<uint64_t>(piece.offset),
                         piece.bytes.size());
  }
  const auto list = builder.CreateVector(tables);
  const auto places = builder.CreateVectorOfStructs(extents);
  builder.Finish(fbs::CreateProgramFile(builder, list, places));
  return Encoding({builder.GetBufferPointer(), builder.GetSize()},
                  std::move(data));
}

Result<std::map<std::string, std::span<const std::byte>>> ReadPrograms(
    std::span<const std::byte> file) {
  auto programs = Read(file);
  if (!programs.ok()) return programs.status().WithContext("stored programs");
  return programs;
}

}  // namespace tim::binary
