#include "tests/support/data/golden.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace tim::testing {
namespace {

namespace fs = std::filesystem;

// Numbers between "[" and "]".
template <typename T>
std::vector<T> ReadList(std::istream& in) {
  std::vector<T> list;
  std::string word;
  in >> word;
  while (in >> word && word != "]") {
    std::istringstream number(word);
    if (!(number >> list.emplace_back())) in.setstate(std::ios::failbit);
  }
  return list;
}

void ReadType(std::istream& in, ir::DataType* type) {
  std::string name;
  in >> name;
  for (int i = 0; i < ir::kDataTypeCount; ++i) {
    const auto candidate = static_cast<ir::DataType>(i);
    if (name == ir::ToString(candidate)) *type = candidate;
  }
  if (*type == ir::DataType::kUnknown) in.setstate(std::ios::failbit);
}

ir::Quantization ReadQuantization(std::istream& in) {
  ir::Quantization quantization;
  std::string kind;
  in >> kind;
  if (kind == "tensor") {
    float scale = 0;
    int32_t zero_point = 0;
    in >> scale >> zero_point;
    return ir::Quantization::PerTensor(scale, zero_point);
  }
  if (kind == "fixed") {
    quantization.kind = ir::QuantizationKind::kFixedPoint;
    in >> quantization.fl;
  } else if (kind == "channel") {
    quantization.kind = ir::QuantizationKind::kPerChannel;
    in >> quantization.axis;
    quantization.scales = ReadList<float>(in);
    quantization.zero_points = ReadList<int32_t>(in);
  } else if (kind != "none") {
    in.setstate(std::ios::failbit);
  }
  return quantization;
}

ir::Layout ReadLayout(std::istream& in) {
  std::string kind;
  in >> kind;
  if (kind == "dense") return ir::Layout::Dense();
  int axis = 0;
  int64_t block = 0;
  in >> axis >> block;
  if (kind != "blocked") in.setstate(std::ios::failbit);
  return ir::Layout::Blocked(axis, block);
}

void ReadAttribute(std::istream& in, ir::AttributeMap* attributes) {
  std::string name, type, text;
  in >> name >> type;
  if (type == "ints") return attributes->Set(name, ReadList<int64_t>(in));
  in >> text;
  if (type == "bool") {
    attributes->Set(name, text == "1");
  } else if (type == "int") {
    attributes->Set(name, static_cast<int64_t>(std::atoll(text.c_str())));
  } else if (type == "float") {
    attributes->Set(name, std::atof(text.c_str()));
  } else if (type == "string") {
    attributes->Set(name, text);
  } else {
    in.setstate(std::ios::failbit);
  }
}

// One cases.txt, line by line; the first word of a line says what it is.
class Reader {
 public:
  Reader(std::string prefix, std::vector<char> data)
      : prefix_(std::move(prefix)), data_(std::move(data)) {}

  Status ReadLine(const std::string& line) {
    std::istringstream in(line);
    std::string key;
    if (!(in >> key) || key[0] == '#') return OkStatus();
    Read(key, in);
    if (in.fail()) return InvalidArgument("cannot read '", line, "'");
    return OkStatus();
  }

  std::vector<Golden> Take() { return std::move(goldens_); }

 private:
  void Read(const std::string& key, std::istream& in) {
    if (key == "case") {
      std::string name;
      in >> name;
      goldens_.emplace_back().name = prefix_ + "_" + name;
      return;
    }
    if (goldens_.empty()) return in.setstate(std::ios::failbit);
    Golden& golden = goldens_.back();
    if (key == "op") {
      in >> golden.op;
    } else if (key == "attribute") {
      ReadAttribute(in, &golden.attributes);
    } else if (key == "input") {
      bool constant = false;
      golden.inputs.push_back(ReadOperand(in, "const", &constant));
      golden.constant.push_back(constant);
    } else if (key == "output") {
      bool declared = false;
      auto output = ReadOperand(in, "declared", &declared);
      if (!output) return in.setstate(std::ios::failbit);
      golden.outputs.push_back(*std::move(output));
      golden.declared.push_back(declared);
    } else if (key == "tolerance") {
      std::string kind;
      in >> kind;
      if (kind != "exact")
        in >> golden.tolerance.absolute >> golden.tolerance.relative;
    } else if (key != "seed" && key != "end") {
      in.setstate(std::ios::failbit);
    }
  }

  // "absent", or type, dims, quantization, layout, role, offset, size.
  std::optional<TensorData> ReadOperand(std::istream& in,
                                        const std::string& flag,
                                        bool* is_flagged) const {
    const auto start = in.tellg();
    std::string word;
    if (in >> word && word == "absent") return std::nullopt;
    in.seekg(start);
    TensorData tensor;
    ReadType(in, &tensor.desc.type);
    tensor.desc.shape = ir::Shape(ReadList<int64_t>(in));
    tensor.desc.quantization = ReadQuantization(in);
    tensor.desc.layout = ReadLayout(in);
    size_t offset = 0;
    size_t size = 0;
    in >> word >> offset >> size;
    *is_flagged = word == flag;
    const Result<int64_t> bytes = ir::ByteSize(tensor.desc);
    if (!bytes.ok() || static_cast<size_t>(*bytes) != size ||
        offset + size > data_.size()) {
      in.setstate(std::ios::failbit);
      return std::nullopt;
    }
    const auto* first = reinterpret_cast<const std::byte*>(&data_[0]) + offset;
    tensor.bytes.assign(first, first + size);
    return tensor;
  }

  std::string prefix_;
  std::vector<char> data_;
  std::vector<Golden> goldens_;
};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::vector<TensorData> Golden::VariableInputs() const {
  std::vector<TensorData> variable;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] && !constant[i]) variable.push_back(*inputs[i]);
  }
  return variable;
}

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

Result<std::string> GoldensFolder() {
  const std::string runfiles = Variable("TEST_SRCDIR");
  for (const std::string& root :
       {std::string("."), runfiles + "/" + Variable("TEST_WORKSPACE"),
        runfiles + "/_main", Variable("TIMCL_SOURCE_ROOT")}) {
    const std::string folder = root + "/tests/goldens";
    if (!root.empty() && fs::is_directory(folder)) return folder;
  }
  return NotFound(
      "no folder tests/goldens here; set TIMCL_SOURCE_ROOT to the source tree");
}

const std::set<std::string>& HostSteps() {
  static const auto* const kSteps = [] {
    auto* steps = new std::set<std::string>();
    const Result<std::string> folder = GoldensFolder();
    if (!folder.ok()) return steps;
    std::ifstream file(*folder + "/host_steps.txt");
    for (std::string line; std::getline(file, line);) {
      if (!line.empty() && line[0] != '#') steps->insert(line);
    }
    return steps;
  }();
  return *kSteps;
}

Result<std::vector<Golden>> LoadGoldens(const std::string& folder) {
  std::ifstream binary(folder + "/cases.bin", std::ios::binary);
  std::ifstream text(folder + "/cases.txt");
  if (!binary || !text) return NotFound(folder, ": no cases.txt or cases.bin");
  Reader reader(fs::path(folder).filename().string(),
                {std::istreambuf_iterator<char>(binary), {}});
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const Status status = reader.ReadLine(line);
    if (!status.ok()) {
      return InvalidArgument(folder, "/cases.txt:", number, ": ",
                             status.message());
    }
  }
  return reader.Take();
}

Result<std::vector<Golden>> LoadAllGoldens() {
  TIM_ASSIGN_OR_RETURN(const std::string root, GoldensFolder());
  std::vector<std::string> folders;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (fs::exists(entry.path() / "cases.txt"))
      folders.push_back(entry.path().string());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<Golden> all;
  for (const std::string& folder : folders) {
    TIM_ASSIGN_OR_RETURN(std::vector<Golden> goldens, LoadGoldens(folder));
    std::move(goldens.begin(), goldens.end(), std::back_inserter(all));
  }
  return all;
}

Result<TestNode> MakeNode(const Golden& golden) {
  std::vector<std::optional<ir::TensorDesc>> inputs;
  std::map<int, TensorData> constants;
  for (size_t i = 0; i < golden.inputs.size(); ++i) {
    auto& input = inputs.emplace_back();
    if (!golden.inputs[i]) continue;
    input = golden.inputs[i]->desc;
    if (golden.constant[i]) constants[static_cast<int>(i)] = *golden.inputs[i];
  }
  std::vector<ir::TensorDesc> outputs;
  for (size_t i = 0; i < golden.outputs.size(); ++i) {
    outputs.push_back(golden.outputs[i].desc);
    if (!golden.declared[i]) outputs.back().shape = ir::Shape();
  }
  return MakeNode(golden.op, golden.attributes, inputs, outputs,
                  std::move(constants));
}

// In the file a word with a dot starts an operator.
std::map<std::string, std::vector<std::string>> GoldenTypes() {
  std::map<std::string, std::vector<std::string>> types;
  const Result<std::string> folder = GoldensFolder();
  if (!folder.ok()) return types;
  std::ifstream file(*folder + "/types.txt");
  std::string op;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line[0] == '#' ? "" : line);
    for (std::string word; words >> word;) {
      if (word.find('.') != std::string::npos) {
        op = word;
      } else {
        types[op].push_back(word);
      }
    }
  }
  return types;
}

std::string TypeToken(const ir::TensorDesc& desc) {
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  if (info.kind == ir::NumberKind::kFloat)
    return StrCat(desc.type == ir::DataType::kBFloat16 ? "bf" : "f", info.bits);
  if (info.kind == ir::NumberKind::kBool) return "b8";
  const char* sign = info.kind == ir::NumberKind::kSigned ? "i" : "u";
  static constexpr const char* kSuffixes[] = {"", "a", "pc", "d"};
  return StrCat(sign, info.bits,
                kSuffixes[static_cast<int>(desc.quantization.kind)]);
}

}  // namespace tim::testing
