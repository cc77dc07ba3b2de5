// Reads the messages of ONNX files from their wire format; field numbers are
// those of onnx.proto.
#include "models/onnx/messages.h"

#include <utility>

#include "models/onnx/wire.h"

namespace tim::models::onnx {
namespace {

Result<ExtentMessage> ReadExtent(std::string_view bytes) {
  ExtentMessage extent;
  WireReader reader(bytes, "TensorShapeProto.Dimension");
  while (reader.Next()) {
    const Field& field = reader.field();
    if (field.number == 1) extent = {field.AsInt(), {}};
    if (field.number == 2) extent = {-1, field.bytes};
  }
  TIM_RETURN_IF_ERROR(reader.status());
  return extent;
}

Status ReadShape(std::string_view bytes, ValueMessage* value) {
  value->has_shape = true;
  WireReader reader(bytes, "TensorShapeProto");
  while (reader.Next()) {
    if (reader.field().number != 1) continue;
    TIM_ASSIGN_OR_RETURN(ExtentMessage extent,
                         ReadExtent(reader.field().bytes));
    value->shape.push_back(extent);
  }
  return reader.status();
}

Status ReadTensorType(std::string_view bytes, ValueMessage* value) {
  WireReader reader(bytes, "TypeProto.Tensor");
  while (reader.Next()) {
    const Field& field = reader.field();
    if (field.number == 1) value->data_type = field.AsInt();
    if (field.number == 2) TIM_RETURN_IF_ERROR(ReadShape(field.bytes, value));
  }
  return reader.status();
}

Status ReadType(std::string_view bytes, ValueMessage* value) {
  using Kind = ValueMessage::Kind;
  WireReader reader(bytes, "TypeProto");
  while (reader.Next()) {
    const Field& field = reader.field();
    switch (field.number) {
      case 1:
        value->kind = Kind::kTensor;
        TIM_RETURN_IF_ERROR(ReadTensorType(field.bytes, value));
        break;
      case 4:
        value->kind = Kind::kSequence;
        break;
      case 5:
        value->kind = Kind::kMap;
        break;
      case 8:
        value->kind = Kind::kSparse;
        break;
      case 9:
        value->kind = Kind::kOptional;
        break;
      default:
        break;
    }
  }
  return reader.status();
}

Result<ValueMessage> ReadValue(std::string_view bytes) {
  ValueMessage value;
  WireReader reader(bytes, "ValueInfoProto");
  while (reader.Next()) {
    const Field& field = reader.field();
    if (field.number == 1) value.name = field.bytes;
    if (field.number == 2) TIM_RETURN_IF_ERROR(ReadType(field.bytes, &value));
  }
  TIM_RETURN_IF_ERROR(reader.status());
  return value;
}

// The kind of an attribute in files that do not say it: that of its field.
int64_t KindOfField(int number) {
  switch (number) {
    case 2:
      return 1;
    case 3:
      return 2;
    case 4:
      return 3;
    case 5:
      return 4;
    case 6:
      return 5;
    case 7:
      return 6;
    case 8:
      return 7;
    case 9:
      return 8;
    case 22:
      return 11;
    default:
      return 0;
  }
}

Result<AttributeMessage> ReadAttribute(std::string_view bytes) {
  AttributeMessage attribute;
  int64_t likely = 0;
  WireReader reader(bytes, "AttributeProto");
  while (reader.Next()) {
    const Field& field = reader.field();
    if (KindOfField(field.number) != 0) likely = KindOfField(field.number);
    switch (field.number) {
      case 1:
        attribute.name = field.bytes;
        break;
      case 2:
        attribute.f = field.AsFloat();
        break;
      case 3:
        attribute.i = field.AsInt();
        break;
      case 4:
        attribute.s = field.bytes;
        break;
      case 5:
      case 6:
      case 22:
        attribute.message = field.bytes;
        break;
      case 7:
        TIM_RETURN_IF_ERROR(AppendFloats(field, &attribute.floats));
        break;
      case 8:
        TIM_RETURN_IF_ERROR(AppendInts(field, &attribute.ints));
        break;
      case 9:
        attribute.strings.push_back(field.bytes);
        break;
      case 20:
        attribute.kind = field.AsInt();
        break;
      case 21:
        attribute.reference = field.bytes;
        break;
      default:
        break;
    }
  }
  TIM_RETURN_IF_ERROR(reader.status());
  if (attribute.kind == 0) attribute.kind = likely;
  return attribute;
}

Result<NodeMessage> ReadNode(std::string_view bytes) {
  NodeMessage node;
  WireReader reader(bytes, "NodeProto");
  while (reader.Next()) {
    const Field& field = reader.field();
    switch (field.number) {
      case 1:
        node.inputs.push_back(field.bytes);
        break;
      case 2:
        node.outputs.push_back(field.bytes);
        break;
      case 3:
        node.name = field.bytes;
        break;
      case 4:
        node.op = field.bytes;
        break;
      case 5: {
        TIM_ASSIGN_OR_RETURN(AttributeMessage attribute,
                             ReadAttribute(field.bytes));
        node.attributes.push_back(std::move(attribute));
        break;
      }
      case 7:
        node.domain = PlainDomain(field.bytes);
        break;
      case 8:
        node.overload = field.bytes;
        break;
      default:
        break;
    }
  }
  TIM_RETURN_IF_ERROR(reader.status());
  return node;
}

Status ReadOpset(std::string_view bytes, Opsets* opsets) {
  std::string_view domain;
  int64_t version = 0;
  WireReader reader(bytes, "OperatorSetIdProto");
  while (reader.Next()) {
    const Field& field = reader.field();
    if (field.number == 1) domain = PlainDomain(field.bytes);
    if (field.number == 2) version = field.AsInt();
  }
  (*opsets)[std::string(domain)] = version;
  return reader.status();
}

Result<FunctionMessage> ReadFunction(std::string_view bytes) {
  FunctionMessage function;
  WireReader reader(bytes, "FunctionProto");
  while (reader.Next()) {
    const Field& field = reader.field();
    switch (field.number) {
      case 1:
        function.name = field.bytes;
        break;
      case 4:
        function.inputs.push_back(field.bytes);
        break;
      case 5:
        function.outputs.push_back(field.bytes);
        break;
      case 7: {
        TIM_ASSIGN_OR_RETURN(NodeMessage node, ReadNode(field.bytes));
        function.nodes.push_back(std::move(node));
        break;
      }
      case 9:
        TIM_RETURN_IF_ERROR(ReadOpset(field.bytes, &function.opsets));
        break;
      case 10:
        function.domain = PlainDomain(field.bytes);
        break;
      case 11: {
        TIM_ASSIGN_OR_RETURN(AttributeMessage attribute,
                             ReadAttribute(field.bytes));
        function.defaults.push_back(std::move(attribute));
        break;
      }
      case 13:
        function.overload = field.bytes;
        break;
      default:
        break;
    }
  }
  TIM_RETURN_IF_ERROR(reader.status());
  return function;
}

// Reads the field with `read` and appends what it makes.
template <typename T>
Status Append(const Field& field, Result<T> (*read)(std::string_view),
              std::vector<T>* list) {
  TIM_ASSIGN_OR_RETURN(T made, read(field.bytes));
  list->push_back(std::move(made));
  return OkStatus();
}

}  // namespace

Result<TensorMessage> ReadTensor(std::string_view bytes) {
  TensorMessage tensor;
  tensor.body = bytes;
  WireReader reader(bytes, "TensorProto");
  while (reader.Next()) {
    const Field& field = reader.field();
    if (field.number == 1) {
      TIM_RETURN_IF_ERROR(AppendInts(field, &tensor.dims));
    }
    if (field.number == 2) tensor.data_type = field.AsInt();
    if (field.number == 8) tensor.name = field.bytes;
  }
  TIM_RETURN_IF_ERROR(reader.status());
  return tensor;
}

Result<SparseMessage> ReadSparse(std::string_view bytes) {
  SparseMessage sparse;
  WireReader reader(bytes, "SparseTensorProto");
  while (reader.Next()) {
    const Field& field = reader.field();
    if (field.number == 1) {
      TIM_ASSIGN_OR_RETURN(sparse.values, ReadTensor(field.bytes));
    }
    if (field.number == 2) {
      TIM_ASSIGN_OR_RETURN(sparse.indices, ReadTensor(field.bytes));
    }
    if (field.number == 3) {
      TIM_RETURN_IF_ERROR(AppendInts(field, &sparse.dims));
    }
  }
  TIM_RETURN_IF_ERROR(reader.status());
  return sparse;
}

Result<GraphMessage> ReadGraph(std::string_view bytes) {
  GraphMessage graph;
  WireReader reader(bytes, "GraphProto");
  while (reader.Next()) {
    const Field& field = reader.field();
    switch (field.number) {
      case 1:
        TIM_RETURN_IF_ERROR(Append(field, &ReadNode, &graph.nodes));
        break;
      case 2:
        graph.name = field.bytes;
        break;
      case 5:
        TIM_RETURN_IF_ERROR(Append(field, &ReadTensor, &graph.initializers));
        break;
      case 11:
        TIM_RETURN_IF_ERROR(Append(field, &ReadValue, &graph.inputs));
        break;
      case 12:
        TIM_RETURN_IF_ERROR(Append(field, &ReadValue, &graph.outputs));
        break;
      case 15:
        TIM_RETURN_IF_ERROR(
            Append(field, &ReadSparse, &graph.sparse_initializers));
        break;
      default:
        break;
    }
  }
  TIM_RETURN_IF_ERROR(reader.status());
  return graph;
}

Result<ModelMessage> ReadModel(std::string_view bytes) {
  ModelMessage model;
  WireReader reader(bytes, "ModelProto");
  while (reader.Next()) {
    const Field& field = reader.field();
    switch (field.number) {
      case 1:
        model.ir_version = field.AsInt();
        break;
      case 7: {
        if (model.has_graph) {
          return InvalidArgument("the file is damaged: it has two graphs");
        }
        TIM_ASSIGN_OR_RETURN(model.graph, ReadGraph(field.bytes));
        model.has_graph = true;
        break;
      }
      case 8:
        TIM_RETURN_IF_ERROR(ReadOpset(field.bytes, &model.opsets));
        break;
      case 25:
        TIM_RETURN_IF_ERROR(Append(field, &ReadFunction, &model.functions));
        break;
      default:
        break;
    }
  }
  TIM_RETURN_IF_ERROR(reader.status());
  return model;
}

}  // namespace tim::models::onnx
