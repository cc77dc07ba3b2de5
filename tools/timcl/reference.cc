// Has a model run by another engine, and reads arrays of files.
#include "tools/timcl/reference.h"

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "base/write_file.h"
#include "tools/timcl/child_process.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/model_file.h"
#include "tools/timcl/model_options.h"
#include "tools/timcl/npy.h"
#include "tools/timcl/page_parts.h"
#include "tools/timcl/read_file.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

namespace fs = std::filesystem;

Status CheckFormat(const Arguments& arguments) {
  const std::string& engine = arguments.compare.against;
  const ModelFormat format = FormatOf(arguments.file);
  const ModelFormat taken =
      engine == "onnxruntime" ? ModelFormat::kOnnx : ModelFormat::kTflite;
  if (format == taken) return OkStatus();
  return InvalidArgument("--against ", engine, ": it takes models of ",
                         ToString(taken), ", and '", arguments.file,
                         "' is none");
}

std::string ScriptText() {
  for (const PagePart& part : PageParts()) {
    if (std::string_view(part.name) == "reference.py") return part.text;
  }
  return "";
}

// The inputs of the run and the values that became constants.
Result<Json> RequestOf(const Arguments& arguments, const Tensors& inputs,
                       const std::string& folder) {
  Json given = Json::array();
  TIM_ASSIGN_OR_RETURN(const auto paths, WriteTensors(inputs, folder));
  for (size_t i = 0; i < paths.size(); ++i) {
    given.push_back({{"name", inputs.ports[i]->name},
                     {"file", fs::absolute(paths[i]).string()}});
  }
  for (const std::string& word : arguments.model.values) {
    TIM_ASSIGN_OR_RETURN(const NamedText named, SplitAtLast("--value", word));
    given.push_back(
        {{"name", named.name}, {"file", fs::absolute(named.text).string()}});
  }
  return Json{{"signature", arguments.model.signature}, {"inputs", given}};
}

Result<Json> RunScript(const Arguments& arguments, const std::string& folder) {
  const std::string script = folder + "/reference.py";
  TIM_RETURN_IF_ERROR(WriteFile(script, {ScriptText()}));
  const std::string& python = arguments.compare.python;
  ShowProgress(StrCat("running ", arguments.compare.against));
  const auto done = RunProgram(python,
                               {python, script, arguments.compare.against,
                                fs::absolute(arguments.file).string(), folder},
                               Environment());
  ClearProgress();
  if (!done.ok()) {
    return FailedPrecondition("Python: ", done.status().message(),
                              "; --python names another one");
  }
  const auto text = ReadFile(folder + "/result.json");
  Json result = text.ok() ? Json::parse(*text, nullptr, false) : Json(nullptr);
  if (!result.is_object()) {
    return FailedPrecondition("'", python, "' ended with status ",
                              done->exit_status, " and without a result");
  }
  return result;
}

Result<Reference> ReadResult(const Json& result, const std::string& folder) {
  if (result.contains("error")) {
    return FailedPrecondition(result["error"].get<std::string>());
  }
  Reference reference = {.origin = result["engine"].get<std::string>()};
  for (const Json& output : result["outputs"]) {
    reference.files[output["name"].get<std::string>()] =
        folder + "/" + output["file"].get<std::string>();
  }
  return reference;
}

// The tensor's own extents for a scalar of NumPy.
std::vector<int64_t> ShapeOf(const NpyArray& array) {
  if (array.shape.empty()) return {1};
  return {array.shape.rbegin(), array.shape.rend()};
}

}  // namespace

Result<Reference> RunReference(const Arguments& arguments,
                               const Tensors& inputs) {
  TIM_RETURN_IF_ERROR(CheckFormat(arguments));
  TIM_ASSIGN_OR_RETURN(auto folder, TemporaryFolder::Create("the inputs"));
  TIM_ASSIGN_OR_RETURN(const Json request,
                       RequestOf(arguments, inputs, folder->path()));
  TIM_RETURN_IF_ERROR(WriteFile(
      folder->path() + "/request.json",
      {request.dump(-1, ' ', false, Json::error_handler_t::replace)}));
  TIM_ASSIGN_OR_RETURN(const Json result, RunScript(arguments, folder->path()));
  auto reference = ReadResult(result, folder->path());
  if (!reference.ok()) {
    return reference.status().WithContext("--against " +
                                          arguments.compare.against);
  }
  reference->folder = std::move(folder);
  return reference;
}

Result<Reference> ReferenceIn(const std::string& folder) {
  Reference reference = {.origin = StrCat("folder '", folder, "'"),
                         .by_file_name = true};
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".npy") continue;
    reference.files[at->path().stem().string()] = at->path().string();
  }
  if (error) {
    return NotFound("--against ", folder,
                    ": it is neither onnxruntime nor litert nor a folder that "
                    "can be read: ",
                    error.message());
  }
  if (!reference.files.empty()) return reference;
  return NotFound("--against ", folder, ": no file in it ends in .npy");
}

Result<RecordedValue> ValueOf(const std::string& path, const std::string& name,
                              const std::string& producer,
                              const ir::TensorDesc& like) {
  TIM_ASSIGN_OR_RETURN(const std::string file, ReadFile(path));
  const auto array = ParseNpy(file);
  if (!array.ok()) {
    return array.status().WithContext(StrCat("'", path, "'"));
  }
  const ir::DataType type = TypeOfNpy(array->type);
  if (type == ir::DataType::kUnknown) {
    return InvalidArgument("'", path, "' has elements of type ", array->type,
                           ", of which there are no tensors");
  }
  const std::vector<int64_t> dims = ShapeOf(*array);
  if (dims != like.shape.dims()) {
    return InvalidArgument(
        "'", path, "' has the shape (", StrJoin(array->shape, ", "), "), '",
        name, "' is ", like.ToString(), ", whose fastest extent is the first");
  }
  RecordedValue value;
  value.name = name;
  value.producer = producer;
  value.desc.type = type;
  value.desc.shape = like.shape;
  if (type == like.type) value.desc.quantization = like.quantization;
  const auto* const bytes =
      reinterpret_cast<const std::byte*>(array->data.data());
  value.bytes.assign(bytes, bytes + array->data.size());
  return value;
}

}  // namespace tim::tool
