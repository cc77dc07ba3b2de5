// Writes and reads programs: a header of fixed size, then a graph file.
#include "values/program_file.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/mapped_file.h"
#include "base/write_file.h"
#include "binary/graph_file.h"
#include "ops/registered.h"

namespace tim::values::internal {
namespace {

constexpr char kMagic[8] = {'T', 'I', 'M', 'V', 'A', 'L', 'S', '\0'};
constexpr uint32_t kVersion = 1;

struct Header {
  char magic[8] = {};
  uint32_t version = kVersion;
  uint32_t inputs = 0;
  int32_t max_plans = 1;
  uint32_t flags = 0;
  uint64_t graph_bytes = 0;
  Hash128 hash = {};  ///< Of the graph.
};

constexpr uint32_t kStrict = 1;
constexpr uint32_t kManyShapes = 2;

Result<Header> ReadHeader(std::span<const std::byte> bytes) {
  Header header;
  if (bytes.size() < sizeof(header) ||
      std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0) {
    return InvalidArgument("it is no program of tim::values");
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.version != kVersion) {
    return InvalidArgument("it has version ", header.version,
                           "; this library reads version ", kVersion);
  }
  const auto graph = bytes.subspan(sizeof(header));
  if (graph.size() != header.graph_bytes ||
      HashBytes(graph.data(), graph.size()) != header.hash) {
    return InvalidArgument("it is damaged");
  }
  return header;
}

Result<std::shared_ptr<ProgramState>> Load(std::span<const std::byte> bytes) {
  TIM_ASSIGN_OR_RETURN(const Header header, ReadHeader(bytes));
  TIM_ASSIGN_OR_RETURN(
      ir::Graph graph,
      binary::ReadGraph(bytes.subspan(sizeof(header)), ops::KnownOperators()));
  if (header.inputs > graph.inputs().size()) {
    return InvalidArgument("it is damaged");
  }
  std::vector<TensorSpec> inputs;
  for (size_t i = 0; i < header.inputs; ++i) {
    const ir::Value& value = graph.value(graph.inputs()[i]);
    inputs.push_back({value.desc, value.is_scalar});
  }
  ProgramOptions options;
  options.max_plans = header.max_plans;
  options.strict = (header.flags & kStrict) != 0;
  options.many_shapes = (header.flags & kManyShapes) != 0;
  return ProgramState::Create(std::move(graph), std::move(inputs), options);
}

}  // namespace

Status SaveProgram(const ProgramState& program, const std::string& path) {
  TIM_ASSIGN_OR_RETURN(const ir::Graph graph, program.GraphToSave());
  TIM_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                       binary::WriteGraph(graph));
  const ProgramOptions& options = program.options();
  Header header;
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.inputs = static_cast<uint32_t>(program.inputs().size());
  header.max_plans = options.max_plans;
  header.flags =
      (options.strict ? kStrict : 0) | (options.many_shapes ? kManyShapes : 0);
  header.graph_bytes = bytes.size();
  header.hash = HashBytes(bytes.data(), bytes.size());
  std::vector<std::byte> file(sizeof(header) + bytes.size());
  std::memcpy(file.data(), &header, sizeof(header));
  if (!bytes.empty()) {
    std::memcpy(file.data() + sizeof(header), bytes.data(), bytes.size());
  }
  return ReplaceFile(path, file);
}

Result<std::shared_ptr<ProgramState>> LoadProgram(const std::string& path) {
  TIM_ASSIGN_OR_RETURN(const auto file, MapFile(path));
  auto program = Load(file->bytes);
  if (program.ok()) return program;
  return program.status().WithContext(StrCat("the program in ", path));
}

}  // namespace tim::values::internal
