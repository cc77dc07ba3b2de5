// Text of recorded programs: reading files, running, printing results.
#include "models/build/source_program.h"

namespace tim::models {

const char kProgramHead[] = R"(
using namespace tim::vx;

namespace {

// A tensor that the program fills or prints, by the model's name.
struct Port {
  const char* name;
  size_t tensor;
};

std::shared_ptr<Graph> graph;
std::vector<std::shared_ptr<Tensor>> t;  // by number
std::shared_ptr<Tensor> none;            // an operand that is absent
std::vector<char> weights;

bool ReadFile(const std::string& path, std::vector<char>* bytes) {
  std::ifstream file(path, std::ios::binary);
  bytes->assign(std::istreambuf_iterator<char>(file),
                std::istreambuf_iterator<char>());
  return file.is_open() && !file.bad();
}

inline const void* WeightsAt(size_t offset) { return weights.data() + offset; }

)";

const char kProgramMain[] = R"(
// The elements of an .npy file; other files are elements as they are.
bool TakeElements(const std::string& path, std::vector<char>* bytes) {
  if (!ReadFile(path, bytes)) return false;
  if (bytes->size() < 10 || std::memcmp(bytes->data(), "\x93NUMPY", 6) != 0) {
    return true;
  }
  const auto byte = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>((*bytes)[i]));
  };
  size_t begin = 10 + byte(8) + 256 * byte(9);
  if (byte(6) > 1) begin = 12 + byte(8) + 256 * byte(9) + 65536 * byte(10);
  if (begin > bytes->size()) return false;
  const std::string header(bytes->begin(), bytes->begin() + begin);
  if (header.find("'fortran_order': True") != std::string::npos) return false;
  bytes->erase(bytes->begin(), bytes->begin() + begin);
  return true;
}

template <typename T>
void PrintFirst(const std::vector<char>& bytes) {
  for (size_t i = 0; i < 8 && (i + 1) * sizeof(T) <= bytes.size(); ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    std::cout << " " << +element;
  }
}

bool Print(const Port& port, Tensor& tensor) {
  const TensorSpec spec = tensor.GetSpec();
  std::cout << port.name << " [";
  for (size_t i = spec.shape_.size(); i-- > 0;) {
    std::cout << spec.shape_[i] << (i > 0 ? "," : "");
  }
  std::cout << "]:";
  std::vector<char> bytes(static_cast<size_t>(spec.GetByteSize()));
  if (!tensor.CopyDataFromTensor(bytes.data())) return false;
  if (spec.datatype_ == DataType::INT64) {
    PrintFirst<int64_t>(bytes);
  } else if (spec.datatype_ == DataType::UINT32) {
    PrintFirst<uint32_t>(bytes);
  } else {
    float* values = tensor.ConvertTensorToFloat32Data();
    if (values == nullptr) return false;
    for (int64_t i = 0; i < 8 && i < spec.GetElementNum(); ++i) {
      std::cout << " " << values[i];
    }
    std::free(values);
  }
  std::cout << "\n";
  return true;
}

bool Fail(const std::string& text) {
  std::cerr << text << "\n";
  return false;
}

// "NAME=FILE" of the command line; inputs that are not named hold zeros.
bool FillInputs(const std::vector<std::string>& given,
                const std::vector<std::shared_ptr<Tensor>>& tensors) {
  for (const std::string& text : given) {
    bool known = false;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const std::string begin = std::string(kInputs[i].name) + "=";
      if (text.compare(0, begin.size(), begin) != 0) continue;
      std::vector<char> bytes;
      const std::string path = text.substr(begin.size());
      if (!TakeElements(path, &bytes)) return Fail(path + " cannot be read");
      const int64_t wanted = tensors[i]->GetSpec().GetByteSize();
      if (static_cast<int64_t>(bytes.size()) != wanted) {
        std::cerr << path << " has " << bytes.size()
                  << " bytes of elements, the input takes " << wanted << "\n";
        return false;
      }
      if (!tensors[i]->CopyDataToTensor(bytes.data())) return false;
      known = true;
    }
    if (!known) return Fail("no input is meant by " + text);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::string program = argv[0];
  const size_t slash = program.rfind('/');
  std::string path = slash == std::string::npos
                         ? std::string(kWeights)
                         : program.substr(0, slash + 1) + kWeights;
  std::vector<std::string> given(argv + 1, argv + argc);
  if (given.size() > 1 && given[0] == "--weights") {
    path = given[1];
    given.erase(given.begin(), given.begin() + 2);
  }
  if (!ReadFile(path, &weights) && !ReadFile(kWeights, &weights)) {
    Fail("usage: [--weights FILE] [INPUT=FILE.npy ...]; there is no file " +
         path);
    return 2;
  }
  if (weights.size() != kWeightBytes) {
    Fail("the file of weights is another model's: " + path);
    return 2;
  }
  auto context = Context::Create();
  if (context == nullptr) return 1;
  graph = context->CreateGraph();
  none = graph->CreateTensorPlaceHolder();
  Build();
  std::vector<std::shared_ptr<Tensor>> inputs;
  std::vector<std::shared_ptr<Tensor>> outputs;
  for (const Port& port : kInputs) inputs.push_back(t[port.tensor]);
  for (const Port& port : kOutputs) outputs.push_back(t[port.tensor]);
)";

const char kProgramLayouts[] = R"(
  // Operators with layout arguments get their native order.
  auto native = tim::transform::LayoutInference(graph, context);
  graph = native.first;
  for (auto& tensor : inputs) tensor = native.second[tensor];
  for (auto& tensor : outputs) tensor = native.second[tensor];
)";

const char kProgramRun[] = R"(
  if (!graph->Compile() || !FillInputs(given, inputs) || !graph->Run()) {
    return 1;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!Print(kOutputs[i], *outputs[i])) return 1;
  }
  return 0;
}
)";

}  // namespace tim::models
