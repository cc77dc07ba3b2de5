// Messages of an ONNX file, with the names of its format.  Texts, tensors and
// subgraphs are parts of the file's bytes, which outlive them.
#ifndef TIM_MODELS_ONNX_MESSAGES_H_
#define TIM_MODELS_ONNX_MESSAGES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tim::models::onnx {

/// TensorProto.data_type.
enum class ElementType {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
  kUint4 = 21,
  kInt4 = 22,
};

/// TensorProto, of which the elements stay in `body`.
struct TensorMessage {
  std::string_view name;
  int64_t data_type = 0;
  std::vector<int64_t> dims;
  std::string_view body;
};

/// SparseTensorProto.
struct SparseMessage {
  TensorMessage values;
  TensorMessage indices;
  std::vector<int64_t> dims;
};

/// AttributeProto.type.
enum class AttributeKind {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kSparse = 11,
};

struct AttributeMessage {
  std::string_view name;
  std::string_view reference;  ///< Attribute of the function around it.
  int64_t kind = 0;            ///< An AttributeKind, or one of newer formats.
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  /// Body of a TensorProto, GraphProto or SparseTensorProto.
  std::string_view message;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
};

struct NodeMessage {
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::string_view name;
  std::string_view op;
  std::string_view domain;
  std::string_view overload;
  std::vector<AttributeMessage> attributes;
};

/// One extent: a number, a name, or neither.
struct ExtentMessage {
  int64_t value = -1;
  std::string_view name;
};

/// ValueInfoProto.
struct ValueMessage {
  std::string_view name;
  enum class Kind { kNone, kTensor, kSparse, kSequence, kMap, kOptional };
  Kind kind = Kind::kNone;
  int64_t data_type = 0;
  bool has_shape = false;
  std::vector<ExtentMessage> shape;
};

struct GraphMessage {
  std::string_view name;
  std::vector<NodeMessage> nodes;
  std::vector<TensorMessage> initializers;
  std::vector<SparseMessage> sparse_initializers;
  std::vector<ValueMessage> inputs;
  std::vector<ValueMessage> outputs;
};

/// Versions of operator sets, by domain; that of ai.onnx is empty.
using Opsets = std::map<std::string, int64_t, std::less<>>;

struct FunctionMessage {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<AttributeMessage> defaults;
  std::vector<NodeMessage> nodes;
  Opsets opsets;
};

struct ModelMessage {
  int64_t ir_version = 0;
  Opsets opsets;
  GraphMessage graph;
  bool has_graph = false;
  std::vector<FunctionMessage> functions;
};

/// Reads a ModelProto.  Fails where the bytes are none.
Result<ModelMessage> ReadModel(std::string_view bytes);
/// Reads a GraphProto, that of an attribute.
Result<GraphMessage> ReadGraph(std::string_view bytes);
Result<TensorMessage> ReadTensor(std::string_view bytes);
Result<SparseMessage> ReadSparse(std::string_view bytes);

/// "ai.onnx" is the empty domain.
inline std::string_view PlainDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_MESSAGES_H_
