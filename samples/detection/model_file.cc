#include "model_file.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace detection {
namespace {

using tim::vx::DataType;

const char kMagic[] = "timcl-detector 1";
const char kEndOfHeader[] = "\ndata\n";
constexpr std::uint32_t kMaxExtent = 4096;

struct ElementType {
  DataType type;
  std::size_t bytes;
};

const std::map<std::string, ElementType>& ElementTypes() {
  static const std::map<std::string, ElementType> types = {
      {"f32", {DataType::FLOAT32, 4}},
      {"i32", {DataType::INT32, 4}},
      {"u8", {DataType::UINT8, 1}}};
  return types;
}

// CRC-32 of zlib, PNG and Ethernet.
std::uint32_t Crc32(const std::string& content, std::size_t from) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (std::size_t i = from; i < content.size(); ++i) {
    crc ^= static_cast<unsigned char>(content[i]);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0xEDB88320u : 0u);
    }
  }
  return ~crc;
}

// The first line: kMagic, how many bytes follow it, and their CRC-32.
bool CheckContent(const std::string& content, std::size_t* start,
                  std::string* error) {
  std::uint64_t bytes = 0;
  std::uint32_t crc = 0;
  const std::size_t end = content.find('\n');
  const std::string line = content.substr(0, end);
  const std::string magic = std::string(kMagic) + " ";
  std::istringstream fields(line.substr(std::min(magic.size(), line.size())));
  if (end == std::string::npos || line.compare(0, magic.size(), magic) != 0 ||
      !(fields >> bytes >> std::hex >> crc)) {
    *error = std::string("it is not a '") + kMagic + "' file";
    return false;
  }
  *start = end + 1;
  if (content.size() - *start != bytes) {
    *error = std::to_string(content.size() - *start) +
             " bytes follow its first line, which says " +
             std::to_string(bytes) + ": it was cut off, or changed";
    return false;
  }
  if (Crc32(content, *start) == crc) return true;
  *error = "its checksum is not that of its first line: it was changed";
  return false;
}

class Parser {
 public:
  Parser(const std::string& content, std::size_t data, Model* model)
      : content_(content), offset_(data), model_(model) {}

  // One line of the header: a word that says what it is, and its fields.
  bool Line(const std::string& line) {
    std::istringstream fields(line);
    std::string word;
    fields >> word;
    if (word == "input") return Input(&fields);
    if (word == "scales") return Scales(&fields);
    if (word == "class") return Class(&fields);
    if (word == "activation" || word == "tensor") {
      return Tensor(word == "tensor", &fields);
    }
    return false;
  }

  std::size_t BytesLeft() const { return content_.size() - offset_; }

 private:
  static bool AtEnd(std::istringstream* fields) {
    fields->clear();
    return (*fields >> std::ws).eof();
  }

  bool Input(std::istringstream* fields) {
    return *fields >> model_->extent && AtEnd(fields) &&
           model_->extent <= kMaxExtent;
  }

  bool Scales(std::istringstream* fields) {
    for (float& scale : model_->scales) *fields >> scale;
    return *fields && AtEnd(fields);
  }

  bool Class(std::istringstream* fields) {
    std::string name;
    if (!(*fields >> name)) return false;
    model_->classes.push_back(name);
    return AtEnd(fields);
  }

  bool Tensor(bool has_data, std::istringstream* fields) {
    std::string name, type;
    StoredTensor tensor;
    *fields >> name >> type >> tensor.scale >> tensor.zero_point;
    const auto it = ElementTypes().find(type);
    if (!*fields || it == ElementTypes().end()) return false;
    tensor.type = it->second.type;
    std::uint32_t extent = 0;
    while (*fields >> extent) tensor.shape.push_back(extent);
    if (!AtEnd(fields) || tensor.shape.empty() == has_data) return false;
    return (!has_data || Data(it->second.bytes, &tensor)) &&
           model_->tensors.emplace(name, std::move(tensor)).second;
  }

  // Takes the next bytes of the data, as many as the shape asks for.
  bool Data(std::size_t element_bytes, StoredTensor* tensor) {
    std::size_t bytes = element_bytes;
    for (const std::uint32_t extent : tensor->shape) {
      if (extent == 0 || extent > BytesLeft() / bytes) return false;
      bytes *= extent;
    }
    const auto first = content_.begin() + static_cast<std::ptrdiff_t>(offset_);
    tensor->data.assign(first, first + static_cast<std::ptrdiff_t>(bytes));
    offset_ += bytes;
    return true;
  }

  const std::string& content_;
  std::size_t offset_;
  Model* model_;
};

bool Parse(const std::string& content, Model* model, std::string* error) {
  std::size_t start = 0;
  if (!CheckContent(content, &start, error)) return false;
  const std::size_t end = content.find(kEndOfHeader, start);
  if (end == std::string::npos) {
    *error = "its header has no end";
    return false;
  }
  Parser parser(content, end + sizeof(kEndOfHeader) - 1, model);
  std::istringstream header(content.substr(start, end - start));
  for (std::string line; std::getline(header, line);) {
    if (parser.Line(line)) continue;
    *error = "a bad line, or data missing for '" + line + "'";
    return false;
  }
  if (parser.BytesLeft() == 0) return true;
  *error = std::to_string(parser.BytesLeft()) + " bytes belong to no tensor";
  return false;
}

}  // namespace

tim::vx::Quantization StoredTensor::Quantization() const {
  if (type == DataType::FLOAT32) return tim::vx::Quantization();
  return tim::vx::Quantization(tim::vx::QuantType::ASYMMETRIC, scale,
                               zero_point);
}

bool ReadModel(const std::string& path, Model* model, std::string* error) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    *error = path + ": cannot be opened";
    return false;
  }
  const std::string content{std::istreambuf_iterator<char>(stream),
                            std::istreambuf_iterator<char>()};
  *model = Model();
  if (Parse(content, model, error)) return true;
  *error = path + ": " + *error;
  return false;
}

}  // namespace detection
