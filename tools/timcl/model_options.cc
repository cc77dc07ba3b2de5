// Reads what command lines say of a model's inputs.
#include "tools/timcl/model_options.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include "base/aligned_memory.h"
#include "tools/timcl/npy.h"
#include "tools/timcl/read_file.h"
#include "vx/tensor/type_convert.h"

namespace tim::tool {
namespace {

constexpr int64_t kAlignment = 64;

Result<int64_t> ParseExtent(std::string_view text) {
  int64_t extent = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, extent);
  if (error == std::errc() && stop == end && extent > 0) return extent;
  return InvalidArgument("'", text, "' is no extent; expected 1, 2, 3, ...");
}

Result<models::Dims> ParseDims(std::string_view text) {
  models::Dims dims;
  if (text.empty()) return dims;
  while (true) {
    const size_t comma = text.find(',');
    TIM_ASSIGN_OR_RETURN(dims.emplace_back(),
                         ParseExtent(text.substr(0, comma)));
    if (comma == std::string_view::npos) return dims;
    text.remove_prefix(comma + 1);
  }
}

Result<models::GivenTensor> ReadValue(const std::string& path) {
  TIM_ASSIGN_OR_RETURN(const std::string file, ReadFile(path));
  const auto array = ParseNpy(file);
  if (!array.ok()) {
    return array.status().WithContext(StrCat("'", path, "'"));
  }
  models::GivenTensor given;
  given.type = vx::ToVx(TypeOfNpy(array->type));
  if (given.type == vx::DataType::UNKNOWN) {
    return InvalidArgument("'", path, "' has elements of type ", array->type,
                           ", of which there are no tensors");
  }
  given.dims = array->shape;
  const auto bytes = static_cast<int64_t>(array->data.size());
  AlignedMemory memory =
      AllocateAligned(std::max(bytes, kAlignment), kAlignment);
  if (memory == nullptr) {
    return OutOfMemory("no memory for the ", bytes, " bytes of '", path, "'");
  }
  std::copy_n(reinterpret_cast<const std::byte*>(array->data.data()), bytes,
              memory.get());
  const std::shared_ptr<const std::byte[]> kept = std::move(memory);
  given.data = std::shared_ptr<const void>(kept, kept.get());
  return given;
}

// `given` under its name, which is to be new.
template <typename Map, typename Value>
Status Insert(const std::string& option, const std::string& name, Value given,
              Map* map) {
  if (map->emplace(name, std::move(given)).second) return OkStatus();
  return InvalidArgument(option, " ", name, "=...: it is given twice");
}

}  // namespace

Result<NamedText> SplitAtLast(const std::string& option,
                              const std::string& word) {
  const size_t equal = word.rfind('=');
  if (equal == std::string::npos || equal == 0) {
    return InvalidArgument(option, " ", word, ": expected NAME=...");
  }
  return NamedText{word.substr(0, equal), word.substr(equal + 1)};
}

Status FillImportOptions(const ModelArguments& arguments,
                         models::ImportOptions* options) {
  for (const std::string& word : arguments.shapes) {
    TIM_ASSIGN_OR_RETURN(const NamedText named, SplitAtLast("--shape", word));
    auto dims = ParseDims(named.text);
    if (!dims.ok()) return dims.status().WithContext("--shape " + word);
    TIM_RETURN_IF_ERROR(Insert("--shape", named.name, *dims, &options->shapes));
  }
  for (const std::string& word : arguments.dims) {
    TIM_ASSIGN_OR_RETURN(const NamedText named, SplitAtLast("--dim", word));
    const auto extent = ParseExtent(named.text);
    if (!extent.ok()) return extent.status().WithContext("--dim " + word);
    TIM_RETURN_IF_ERROR(
        Insert("--dim", named.name, *extent, &options->dimensions));
  }
  for (const std::string& word : arguments.values) {
    TIM_ASSIGN_OR_RETURN(const NamedText named, SplitAtLast("--value", word));
    auto value = ReadValue(named.text);
    if (!value.ok()) return value.status().WithContext("--value " + word);
    TIM_RETURN_IF_ERROR(
        Insert("--value", named.name, *std::move(value), &options->values));
  }
  options->most_trips = arguments.most_trips;
  options->stacked_rows = arguments.stacked_rows;
  return OkStatus();
}

bool IsDefault(const ModelArguments& arguments) {
  return arguments.shapes.empty() && arguments.dims.empty() &&
         arguments.values.empty() && arguments.external_data.empty() &&
         arguments.signature.empty();
}

std::vector<std::string> WordsOf(const ModelArguments& arguments) {
  std::vector<std::string> words;
  const auto add = [&](const char* option,
                       const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      words.insert(words.end(), {option, text});
    }
  };
  add("--shape", arguments.shapes);
  add("--dim", arguments.dims);
  add("--value", arguments.values);
  if (!arguments.signature.empty()) add("--signature", {arguments.signature});
  if (!arguments.external_data.empty()) {
    add("--external-data", {arguments.external_data});
  }
  add("--trips", {StrCat(arguments.most_trips)});
  add("--stacked-rows", {StrCat(arguments.stacked_rows)});
  return words;
}

}  // namespace tim::tool
