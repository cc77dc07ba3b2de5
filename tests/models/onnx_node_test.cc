// ONNX's own tests of nodes and of small models, as Debian's libonnx-testdata
// has them: each is right, or refused with a reason that is on record.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "models/build/value.h"
#include "models/onnx/messages.h"
#include "models/onnx/tensor_reader.h"
#include "tim/models/onnx.h"
#include "tim/vx/context.h"

namespace tim::models::onnx {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "/usr/share/libonnx-testdata/data";
constexpr const char* kRecord = "tests/models/onnx_node_refusals.txt";
struct Group {
  const char* folder;
  size_t least_passed;  ///< Cases that pass; more may.
};
constexpr Group kGroups[] = {{"node", 804},
                             {"pytorch-converted", 59},
                             {"pytorch-operator", 24},
                             {"simple", 13}};

// The numbers of these tests do not depend on kernels.
const int kHostByDefault = setenv("TIMCL_DEVICE", "host", 0);

std::string_view TextOf(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

// Files of one case.
struct Case {
  std::string path;
  ModelMessage model;
  std::shared_ptr<const MappedFile> file;  ///< Keeps the model's texts.
  std::vector<fs::path> sets;
};

Result<Case> Open(const fs::path& folder) {
  Case made;
  made.path = (folder / "model.onnx").string();
  TIM_ASSIGN_OR_RETURN(made.file, MapFile(made.path));
  TIM_ASSIGN_OR_RETURN(made.model, ReadModel(TextOf(*made.file)));
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) made.sets.push_back(entry.path());
  }
  std::sort(made.sets.begin(), made.sets.end());
  return made;
}

Result<HostArray> ReadArray(const fs::path& path) {
  TIM_ASSIGN_OR_RETURN(const auto file, MapFile(path.string()));
  TIM_ASSIGN_OR_RETURN(const TensorMessage tensor, ReadTensor(TextOf(*file)));
  return TensorReader(file, "").Read(tensor);
}

// Inputs of a data set that are tensors, by name.
std::map<std::string, HostArray> ReadInputs(const Case& tested,
                                            const fs::path& set) {
  std::map<std::string, HostArray> inputs;
  const auto& ports = tested.model.graph.inputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].kind != ValueMessage::Kind::kTensor) continue;
    auto array = ReadArray(set / StrCat("input_", i, ".pb"));
    if (array.ok()) inputs[std::string(ports[i].name)] = *std::move(array);
  }
  return inputs;
}

// Loads the model with the inputs in `constants` as values.
Model Load(const Case& tested, const std::map<std::string, HostArray>& inputs,
           const std::set<std::string>& constants) {
  static const std::shared_ptr<vx::Context> context = vx::Context::Create();
  OnnxOptions options;
  for (const auto& [name, array] : inputs) {
    // Tensors without elements can be no inputs.
    if (constants.count(name) != 0 || array.bytes == 0) {
      options.values[name] = {array.type, array.dims, array.data};
    } else {
      options.shapes[name] = array.dims;
    }
  }
  return LoadOnnx(context, tested.path, options);
}

// Inputs that a refusal says must be known.
std::set<std::string> MustBeKnown(
    const Model& model, const std::map<std::string, HostArray>& inputs) {
  std::set<std::string> names;
  for (const Refusal& refusal : model.refusals) {
    if (refusal.reason.find("must be known") == std::string::npos) continue;
    for (const auto& [name, array] : inputs) {
      if (refusal.reason.find(StrCat("'", name, "'")) != std::string::npos) {
        names.insert(name);
      }
    }
  }
  return names;
}

// As Load(), with those inputs as values that must be known; where what must be
// known is made of inputs, with all integers as values, then with others.
Model LoadAsFarAsItGoes(const Case& tested,
                        const std::map<std::string, HostArray>& inputs) {
  std::set<std::string> constants;
  Model model = Load(tested, inputs, constants);
  while (!model) {
    const size_t before = constants.size();
    constants.merge(MustBeKnown(model, inputs));
    if (constants.size() == before) {
      if (model.error.find("must be known") == std::string::npos) break;
      for (const auto& [name, array] : inputs) {
        if (Integers(array).ok()) constants.insert(name);
      }
      for (const auto& [name, array] : inputs) {
        if (constants.size() == before) constants.insert(name);
      }
      if (constants.size() == before) break;
    }
    model = Load(tested, inputs, constants);
  }
  return model;
}

// Why `found` is not `wanted`; empty where it is.
std::string Difference(const HostArray& wanted, const HostArray& found) {
  if (wanted.type != found.type) return "another type";
  if (wanted.dims != found.dims) {
    return StrCat("extents [", StrJoin(found.dims, ","), "], expected [",
                  StrJoin(wanted.dims, ","), "]");
  }
  const auto exact = Integers(wanted);
  if (exact.ok()) {
    const auto made = Integers(found);
    if (!made.ok()) return made.status().message();
    for (size_t i = 0; i < exact->size(); ++i) {
      if ((*exact)[i] == (*made)[i]) continue;
      return StrCat("element ", i, " is ", (*made)[i], ", expected ",
                    (*exact)[i]);
    }
    return "";
  }
  const auto a = Floats(wanted);
  const auto b = Floats(found);
  if (!a.ok() || !b.ok()) return "no floats";
  for (size_t i = 0; i < a->size(); ++i) {
    const float x = (*a)[i];
    const float y = (*b)[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (std::fabs(x - y) <= 1e-7f + 1e-3f * std::fabs(x)) continue;
    return StrCat("element ", i, " is ", y, ", expected ", x);
  }
  return "";
}

std::string RunSet(const Case& tested, const Model& model,
                   const std::map<std::string, HostArray>& inputs,
                   const fs::path& set) {
  for (const Port& port : model.inputs) {
    const HostArray& array = inputs.at(port.name);
    if (!port.tensor->CopyDataToTensor(array.data.get())) {
      return StrCat("input ", port.name, ": ", vx::LastError());
    }
  }
  if (!model.graph->Compile() || !model.graph->Run()) {
    return model.graph->ErrorMessage();
  }
  const auto& ports = tested.model.graph.outputs;
  if (model.outputs.size() != ports.size()) return "outputs are missing";
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = model.outputs[i];
    const auto wanted = ReadArray(set / StrCat("output_", i, ".pb"));
    if (!wanted.ok()) return wanted.status().message();
    HostArray found = {port.type, port.dims, 0, nullptr};
    const int64_t bytes = ByteSizeOf(port.type, port.dims);
    if (port.name != ports[i].name || bytes < 0) return "another output";
    found.bytes = static_cast<size_t>(bytes);
    auto words = std::make_shared<std::vector<uint64_t>>(found.bytes / 8 + 1);
    found.data = std::shared_ptr<const void>(words, words->data());
    if (!port.tensor->CopyDataFromTensor(words->data())) {
      return StrCat("output ", port.name, ": ", vx::LastError());
    }
    const std::string difference = Difference(*wanted, found);
    if (!difference.empty()) return StrCat("output ", i, ": ", difference);
  }
  return "";
}

// The model's error on one line, without the file's path.
std::string ReasonOf(const Case& tested, const Model& model) {
  if (!model.refusals.empty()) {
    const Refusal& first = model.refusals.front();
    return StrCat(first.op, ": ", first.reason);
  }
  std::string text = model.error;
  const std::string prefix = StrCat("'", tested.path, "': ");
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

struct Outcome {
  std::string refused;  ///< The reason.
  std::string failed;   ///< What is wrong.
};

Outcome Try(const fs::path& folder) {
  const auto tested = Open(folder);
  if (!tested.ok()) return {"", tested.status().message()};
  for (const fs::path& set : tested->sets) {
    const auto inputs = ReadInputs(*tested, set);
    const Model model = LoadAsFarAsItGoes(*tested, inputs);
    if (!model) return {ReasonOf(*tested, model), ""};
    const std::string failed = RunSet(*tested, model, inputs, set);
    if (!failed.empty()) return {"", failed};
  }
  return {};
}

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Tries all cases of a group, and appends those that are refused.
void TryGroup(const Group& group, std::string* record) {
  std::vector<fs::path> folders;
  for (const auto& entry :
       fs::directory_iterator(fs::path(kFolder) / group.folder)) {
    if (fs::exists(entry.path() / "model.onnx")) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  size_t passed = 0;
  size_t refused = 0;
  for (const fs::path& folder : folders) {
    const std::string name =
        StrCat(group.folder, "/", folder.filename().string());
    const Outcome outcome = Try(folder);
    if (!outcome.failed.empty()) {
      ADD_FAILURE() << name << ": " << outcome.failed;
    } else if (!outcome.refused.empty()) {
      *record += StrCat(name, ": ", outcome.refused, "\n");
      ++refused;
    } else {
      ++passed;
    }
  }
  std::printf("%s: %zu cases, %zu passed, %zu refused\n", group.folder,
              folders.size(), passed, refused);
  EXPECT_GE(passed, group.least_passed) << group.folder;
}

TEST(OnnxNodes, EachIsRightOrRefusedForAReasonOnRecord) {
  if (!fs::is_directory(kFolder)) {
    GTEST_SKIP() << kFolder << " is missing: install libonnx-testdata";
  }
  std::string record;
  for (const Group& group : kGroups) TryGroup(group, &record);
  if (const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR")) {
    std::ofstream(fs::path(outputs) / "onnx_node_refusals.txt") << record;
  }
  EXPECT_EQ(record, Read(kRecord))
      << "what is refused has changed; the new list is in the outputs of the "
         "test, its record is "
      << kRecord;
}

}  // namespace
}  // namespace tim::models::onnx
