// Moves elements between tensors, .npy files and raw files.
#include "tools/timcl/tensor_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "base/write_file.h"
#include "ir/dump/file_names.h"
#include "ir/dump/npy.h"
#include "kernels/elements.h"
#include "tools/timcl/npy.h"
#include "tools/timcl/picture.h"
#include "tools/timcl/read_file.h"
#include "vx/core/given_name.h"

namespace tim::tool {
namespace {

using ir::DataType;

// Whether the elements of a .npy file are those of the tensor, bit for bit.
bool SameBits(DataType type) { return type == ir::NumpyType(type); }

int64_t Elements(const ir::TensorDesc& desc) {
  return desc.shape.NumElements().value_or(0);
}

std::vector<int64_t> NpyShape(const ir::TensorDesc& desc) {
  return {desc.shape.dims().rbegin(), desc.shape.dims().rend()};
}

std::string Text(const std::vector<int64_t>& shape) {
  return StrCat("(", StrJoin(shape, ", "), ")");
}

// Real values, where the elements are floats or have a scale.
Status StoreReals(const binary::Port& port, std::string_view data,
                  std::byte* memory) {
  kernels::ElementWriter writer(ir::MutableTensor{&port.desc, memory});
  for (int64_t i = 0; i < Elements(port.desc); ++i) {
    float value = 0;
    std::memcpy(&value, data.data() + i * 4, sizeof(value));
    writer.StoreReal(i, value);
  }
  return OkStatus();
}

Status StoreNpy(const binary::Port& port, const std::string& file,
                std::byte* memory) {
  TIM_ASSIGN_OR_RETURN(const NpyArray array, ParseNpy(file));
  const ir::TensorDesc& desc = port.desc;
  // A scalar of NumPy has no extents, that of a tensor is 1.
  const bool scalar =
      array.shape.empty() && NpyShape(desc) == std::vector<int64_t>{1};
  if (array.shape != NpyShape(desc) && !scalar) {
    return InvalidArgument("its shape is ", Text(array.shape),
                           "; expected that of ", desc.ToString(),
                           " with the slowest axis first, ",
                           Text(NpyShape(desc)));
  }
  const std::string own = ir::NumpyTypeText(ir::NumpyType(desc.type));
  const bool is_real = ir::IsFloat(desc.type) || desc.quantized();
  if (array.type == own && SameBits(desc.type)) {
    std::memcpy(memory, array.data.data(), array.data.size());
    return OkStatus();
  }
  if (array.type == "<f4" && is_real) {
    return StoreReals(port, array.data, memory);
  }
  if (array.type == own) {
    kernels::ElementWriter writer(ir::MutableTensor{&desc, memory});
    for (int64_t i = 0; i < Elements(desc); ++i) {
      const char code = array.data[static_cast<size_t>(i)];
      writer.StoreCode(i, own == "|i1" ? static_cast<signed char>(code)
                                       : static_cast<unsigned char>(code));
    }
    return OkStatus();
  }
  return InvalidArgument(
      "its elements are ", array.type, "; expected ", own,
      is_real && own != "<f4" ? ", or real values as <f4" : "", " for ",
      desc.ToString());
}

Status StoreFile(const binary::Port& port, const std::string& path,
                 const PictureArguments& picture, std::byte* memory) {
  if (IsPictureName(path)) return StorePicture(port, path, picture, memory);
  TIM_ASSIGN_OR_RETURN(const std::string file, ReadFile(path));
  if (path.ends_with(".npy")) {
    return StoreNpy(port, file, memory)
        .WithContext(StrCat("'", path, "' for input '", port.name, "'"));
  }
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(port.desc));
  if (std::cmp_not_equal(file.size(), bytes)) {
    return InvalidArgument("'", path, "' has ", file.size(), " bytes; input '",
                           port.name, "' is ", port.desc.ToString(),
                           " and has ", bytes,
                           " (only names that end in .npy or as those of "
                           "pictures are read as such)");
  }
  std::memcpy(memory, file.data(), file.size());
  return OkStatus();
}

void StoreRandom(const ir::TensorDesc& desc, std::mt19937_64& random,
                 std::byte* memory) {
  kernels::ElementWriter writer(ir::MutableTensor{&desc, memory});
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  const bool any_code =
      ir::IsInteger(desc.type) && (desc.quantized() || info.bits <= 8);
  const int64_t least = any_code ? std::max<int64_t>(info.min, -128) : 0;
  const int64_t most =
      any_code ? std::min<int64_t>(info.max, least < 0 ? 127 : 255) : 1;
  for (int64_t i = 0; i < Elements(desc); ++i) {
    const uint64_t bits = random() >> 40;
    if (ir::IsFloat(desc.type)) {
      writer.StoreReal(i, static_cast<float>(bits) * 0x1p-23f - 1);
    } else {
      const auto codes = static_cast<uint64_t>(most - least + 1);
      writer.StoreCode(i, least + static_cast<int64_t>(bits % codes));
    }
  }
}

// The input that a name or number means; nothing where there is none.
std::optional<size_t> FindInput(const Tensors& inputs,
                                const std::string& name) {
  for (size_t i = 0; i < inputs.ports.size(); ++i) {
    if (inputs.ports[i]->name == name) return i;
  }
  for (size_t i = 0; i < inputs.ports.size(); ++i) {
    if (vx::GivenIn(inputs.ports[i]->name) == name) return i;
  }
  for (size_t i = 0; i < inputs.ports.size(); ++i) {
    if (StrCat(i) == name) return i;
  }
  return std::nullopt;
}

std::string NamesOf(const Tensors& tensors) {
  std::string names;
  for (size_t i = 0; i < tensors.ports.size(); ++i) {
    names += StrCat(i == 0 ? "" : ", ", i, " '",
                    vx::GivenIn(tensors.ports[i]->name), "'");
  }
  return names;
}

// Per input its file, empty where it has none.
Result<std::vector<std::string>> FilesOf(const std::vector<std::string>& given,
                                         const Tensors& inputs) {
  std::vector<std::string> files(inputs.ports.size());
  size_t next = 0;
  for (const std::string& argument : given) {
    const size_t equal = argument.find('=');
    size_t index = next;
    std::string path = argument;
    if (equal != std::string::npos && !std::ifstream(argument).is_open()) {
      const auto found = FindInput(inputs, argument.substr(0, equal));
      if (!found) {
        return InvalidArgument("--input ", argument, ": there is no input '",
                               argument.substr(0, equal), "'; there are ",
                               NamesOf(inputs));
      }
      index = *found;
      path = argument.substr(equal + 1);
    }
    if (index >= files.size()) {
      return InvalidArgument("--input ", argument, ": the graph has only ",
                             files.size(), " inputs: ", NamesOf(inputs));
    }
    if (!files[index].empty()) {
      return InvalidArgument("--input ", argument, ": input ", index, " '",
                             inputs.ports[index]->name, "' has '", files[index],
                             "' already");
    }
    if (path.empty()) {
      return InvalidArgument("--input ", argument,
                             ": the file's name is empty");
    }
    files[index] = path;
    next = index + 1;
  }
  return files;
}

// Options of pictures do nothing to other files.
Status CheckPictures(const PictureArguments& picture,
                     const std::vector<std::string>& paths) {
  const bool asked = !picture.mean.empty() || !picture.scale.empty() ||
                     !picture.layout.empty() || picture.bgr ||
                     picture.fit != Fit::kStretch;
  if (!asked || std::any_of(paths.begin(), paths.end(), IsPictureName)) {
    return OkStatus();
  }
  return InvalidArgument(
      "--mean, --scale, --layout, --fit and --bgr are for pictures, and no "
      "input has one");
}

// A file that cannot be written is none of the command line.
Status AsNotFound(const Status& status) {
  return status.ok() ? status : NotFound(status.message());
}

}  // namespace

std::vector<runtime::PortMemory> Tensors::ForRun() const {
  std::vector<runtime::PortMemory> made;
  for (size_t i = 0; i < ports.size(); ++i) {
    made.emplace_back(memory[i].get(), *ir::ByteSize(ports[i]->desc));
  }
  return made;
}

Result<Tensors> MakeTensors(const std::vector<binary::Port>& ports) {
  Tensors made;
  for (const binary::Port& port : ports) {
    if (port.unused) continue;
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(port.desc));
    AlignedMemory memory = AllocateAligned(bytes, binary::kBlobAlignment);
    if (memory == nullptr) {
      return OutOfMemory("no host memory for the ", bytes, " bytes of '",
                         port.name, "'");
    }
    std::fill_n(memory.get(), bytes, std::byte{0});
    made.ports.push_back(&port);
    made.memory.push_back(std::move(memory));
  }
  return made;
}

Status FillInputs(const RunArguments& arguments,
                  const std::vector<std::span<const std::byte>>& recorded,
                  Tensors* inputs) {
  TIM_ASSIGN_OR_RETURN(const auto paths, FilesOf(arguments.inputs, *inputs));
  TIM_RETURN_IF_ERROR(CheckPictures(arguments.picture, paths));
  for (size_t i = 0; i < paths.size(); ++i) {
    const binary::Port& port = *inputs->ports[i];
    std::byte* const memory = inputs->memory[i].get();
    if (!paths[i].empty()) {
      TIM_RETURN_IF_ERROR(StoreFile(port, paths[i], arguments.picture, memory));
      continue;
    }
    if (i < recorded.size() && !recorded[i].empty()) {
      std::copy(recorded[i].begin(), recorded[i].end(), memory);
      continue;
    }
    std::mt19937_64 random(arguments.seed.value_or(1) + i);
    StoreRandom(port.desc, random, memory);
  }
  return OkStatus();
}

Result<Tensors> ConvertInputs(const Tensors& inputs,
                              const std::vector<binary::Port>& ports) {
  TIM_ASSIGN_OR_RETURN(Tensors made, MakeTensors(ports));
  if (made.ports.size() != inputs.ports.size()) {
    return InvalidArgument("the graphs have ", inputs.ports.size(), " and ",
                           made.ports.size(), " inputs");
  }
  for (size_t i = 0; i < made.ports.size(); ++i) {
    const ir::TensorDesc& from = inputs.ports[i]->desc;
    const ir::TensorDesc& to = made.ports[i]->desc;
    if (from.shape != to.shape) {
      return InvalidArgument("input ", i, " '", inputs.ports[i]->name, "' is ",
                             from.ToString(), " in the first graph and ",
                             to.ToString(), " in the second");
    }
    kernels::ElementConverter converter(
        ir::ConstTensor{&from, inputs.memory[i].get()},
        ir::MutableTensor{&to, made.memory[i].get()});
    for (int64_t e = 0; e < Elements(from); ++e) converter.Convert(e, e);
  }
  return made;
}

Result<std::vector<std::string>> WriteTensors(const Tensors& tensors,
                                              const std::string& folder) {
  TIM_RETURN_IF_ERROR(AsNotFound(CreateFolder(folder)));
  std::vector<std::string> paths;
  for (size_t i = 0; i < tensors.ports.size(); ++i) {
    const binary::Port& port = *tensors.ports[i];
    paths.push_back(StrCat(folder, "/", i, "_",
                           ir::FileNameOf(vx::GivenIn(port.name)), ".npy"));
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(port.desc));
    TIM_ASSIGN_OR_RETURN(
        const ir::NumpyArray array,
        ir::NumpyArrayOf(port.desc, std::span(tensors.memory[i].get(),
                                              static_cast<size_t>(bytes))));
    TIM_RETURN_IF_ERROR(AsNotFound(WriteFile(
        paths.back(), {ir::NpyHeader(array),
                       {reinterpret_cast<const char*>(array.data.data()),
                        array.data.size()}})));
  }
  return paths;
}

Statistics StatisticsOf(const ir::TensorDesc& desc, const void* data) {
  const kernels::ElementReader reader(ir::ConstTensor{&desc, data});
  Statistics found = {.least = std::numeric_limits<double>::infinity(),
                      .greatest = -std::numeric_limits<double>::infinity(),
                      .nans = 0};
  for (int64_t i = 0; i < Elements(desc); ++i) {
    const double value = reader.Real(i);
    if (std::isnan(value)) ++found.nans;
    found.least = std::fmin(found.least, value);
    found.greatest = std::fmax(found.greatest, value);
  }
  return found;
}

}  // namespace tim::tool
