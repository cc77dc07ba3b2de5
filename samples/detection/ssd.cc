#include "ssd.h"

#include <array>
#include <vector>

#include "custom_ops/detection_postprocess.h"
#include "tim/vx/ops.h"

namespace detection {
namespace {

using TensorPtr = std::shared_ptr<tim::vx::Tensor>;
using tim::custom_ops::DetectionPostProcess;
using tim::vx::DataType;
using tim::vx::ShapeType;
using tim::vx::TensorAttribute;
using tim::vx::TensorSpec;
namespace ops = tim::vx::ops;

constexpr std::uint32_t kKernel = 3;
constexpr std::uint32_t kCoordinates = 4;

struct Layer {
  const char* name;
  std::uint32_t stride;
  const char* heads;  // the number of the heads on its result, or none
};

const std::array<Layer, 7>& Layers() {
  static const std::array<Layer, 7> layers = {{{"conv1", 2, ""},
                                               {"conv2", 2, ""},
                                               {"conv3", 1, ""},
                                               {"conv4", 2, ""},
                                               {"conv5", 1, "1"},
                                               {"conv6", 2, ""},
                                               {"conv7", 1, "2"}}};
  return layers;
}

// Holds a model to what the graph takes for granted.
class ModelCheck {
 public:
  ModelCheck(const Model& model, std::string* error)
      : model_(model), error_(error) {}

  bool Passes() {
    if (model_.extent == 0 || model_.classes.empty()) {
      return Fail("has no line 'input' or no 'class'");
    }
    for (const char* name : {"input", "box", "class", "score"}) {
      if (!HasActivation(name)) return false;
    }
    std::uint32_t channels = 3, extent = model_.extent, anchors = 0;
    for (const Layer& layer : Layers()) {
      if (!HasActivation(layer.name) || !HasConv(layer.name, channels)) {
        return false;
      }
      channels = Outputs(layer.name);
      extent = (extent - 1) / layer.stride + 1;  // pads of 1, a kernel of 3
      const std::string heads = layer.heads;
      if (heads.empty()) continue;
      if (!HasHeads(heads, channels)) return false;
      anchors += Outputs("box" + heads) / kCoordinates * extent * extent;
    }
    return HasTensor("anchors", {kCoordinates, anchors}, Type());
  }

 private:
  DataType Type() const { return model_.tensors.at("input").type; }

  DataType BiasType() const {
    return Type() == DataType::UINT8 ? DataType::INT32 : Type();
  }

  std::uint32_t Outputs(const std::string& conv) const {
    return model_.tensors.at(conv + ".weight").shape[3];
  }

  bool Fail(const std::string& what) {
    *error_ = "the model " + what;
    return false;
  }

  bool HasActivation(const std::string& name) {
    const auto it = model_.tensors.find(name);
    if (it != model_.tensors.end() && it->second.shape.empty() &&
        it->second.type == Type()) {
      return true;
    }
    return Fail("has no activation '" + name + "' of the input's type");
  }

  bool HasTensor(const std::string& name, const ShapeType& shape,
                 DataType type) {
    const auto it = model_.tensors.find(name);
    if (it != model_.tensors.end() && it->second.shape == shape &&
        it->second.type == type) {
      return true;
    }
    std::string extents;
    for (const std::uint32_t extent : shape) {
      extents += ' ';
      extents += std::to_string(extent);
    }
    return Fail("has no tensor '" + name + "' of the extents" + extents +
                " and of the type that it needs");
  }

  bool HasConv(const std::string& name, std::uint32_t inputs) {
    const auto it = model_.tensors.find(name + ".weight");
    if (it == model_.tensors.end() || it->second.shape.size() != 4) {
      return Fail("has no tensor '" + name + ".weight' of four extents");
    }
    const std::uint32_t outputs = it->second.shape[3];
    return HasTensor(name + ".weight", {kKernel, kKernel, inputs, outputs},
                     Type()) &&
           HasTensor(name + ".bias", {outputs}, BiasType());
  }

  bool HasHeads(const std::string& number, std::uint32_t inputs) {
    const std::string box = "box" + number, scores = "class" + number;
    if (!HasConv(box, inputs) || !HasConv(scores, inputs)) return false;
    const auto classes = static_cast<std::uint32_t>(model_.classes.size());
    const std::uint32_t per_cell = Outputs(box) / kCoordinates;
    if (Outputs(box) == per_cell * kCoordinates &&
        Outputs(scores) == per_cell * classes) {
      return true;
    }
    return Fail("has '" + box + "' and '" + scores +
                "' that differ in their anchors per place");
  }

  const Model& model_;
  std::string* error_;
};

// Each layer reads x, adds operations to the graph and returns their result.
class SsdBuilder {
 public:
  SsdBuilder(tim::vx::Graph* graph, const Model& model)
      : graph_(graph), model_(model) {}

  TensorPtr Input() {
    const ShapeType shape = {model_.extent, model_.extent, 3, 1};
    return Create(model_.tensors.at("input"), shape, TensorAttribute::INPUT);
  }

  TensorPtr Constant(const std::string& name) {
    const StoredTensor& stored = model_.tensors.at(name);
    return Create(stored, stored.shape, TensorAttribute::CONSTANT);
  }

  // `activation` names the type and quantization of the result.
  TensorPtr Conv(const TensorPtr& x, const std::string& name,
                 std::uint32_t stride, const std::string& activation) {
    const std::array<std::uint32_t, 4> pad = {{1, 1, 1, 1}};
    const std::array<std::uint32_t, 2> strides = {{stride, stride}};
    const std::array<std::uint32_t, 2> dilation = {{1, 1}};
    const TensorPtr y = Between(activation);
    graph_->CreateOperation<ops::Conv2d>(pad, strides, dilation)
        ->BindInputs({x, Constant(name + ".weight"), Constant(name + ".bias")})
        .BindOutput(y);
    return y;
  }

  // A head's result [W, H, anchors * size, 1] as a row per anchor: [size,
  // anchors * W * H, 1], place by place.
  TensorPtr Rows(const TensorPtr& x, const std::string& activation,
                 std::uint32_t size) {
    const TensorPtr moved = Between(activation);
    const TensorPtr rows = Between(activation);
    const std::vector<std::uint32_t> channels_first = {2, 0, 1, 3};
    const std::vector<std::uint32_t> shape = {
        size, static_cast<std::uint32_t>(-1), 1};
    graph_->CreateOperation<ops::Transpose>(channels_first)
        ->BindInput(x)
        .BindOutput(moved);
    graph_->CreateOperation<ops::Reshape>(shape)->BindInput(moved).BindOutput(
        rows);
    return rows;
  }

  TensorPtr Relu(const TensorPtr& x, const std::string& activation) {
    const TensorPtr y = Between(activation);
    graph_->CreateOperation<ops::Relu>()->BindInput(x).BindOutput(y);
    return y;
  }

  TensorPtr Joined(const std::vector<TensorPtr>& rows,
                   const std::string& activation) {
    const TensorPtr y = Between(activation);
    const auto count = static_cast<int>(rows.size());
    graph_->CreateOperation<ops::Concat>(1u, count)
        ->BindInputs(rows)
        .BindOutput(y);
    return y;
  }

  TensorPtr Sigmoid(const TensorPtr& x, const std::string& activation) {
    const TensorPtr y = Between(activation);
    graph_->CreateOperation<ops::Sigmoid>()->BindInput(x).BindOutput(y);
    return y;
  }

  TensorPtr Output(const ShapeType& shape) {
    return graph_->CreateTensor(
        TensorSpec(DataType::FLOAT32, shape, TensorAttribute::OUTPUT));
  }

 private:
  // Compile() finds out the shape.
  TensorPtr Between(const std::string& activation) {
    return Create(model_.tensors.at(activation), ShapeType(),
                  TensorAttribute::TRANSIENT);
  }

  TensorPtr Create(const StoredTensor& stored, const ShapeType& shape,
                   TensorAttribute attribute) {
    const TensorSpec spec(stored.type, shape, attribute, stored.Quantization());
    const void* data = stored.data.empty() ? nullptr : stored.data.data();
    return graph_->CreateTensor(spec, data);
  }

  tim::vx::Graph* graph_;
  const Model& model_;
};

DetectionPostProcess::Parameters ParametersOf(const Model& model,
                                              const Selection& selection) {
  DetectionPostProcess::Parameters parameters;
  parameters.max_detections =
      static_cast<std::int32_t>(selection.max_detections);
  parameters.nms_score_threshold = selection.score_threshold;
  parameters.nms_iou_threshold = selection.iou_threshold;
  parameters.num_classes = static_cast<std::int32_t>(model.classes.size());
  parameters.y_scale = model.scales[0];
  parameters.x_scale = model.scales[1];
  parameters.h_scale = model.scales[2];
  parameters.w_scale = model.scales[3];
  return parameters;
}

}  // namespace

bool BuildSsd(tim::vx::Context* context, const Model& model,
              const Selection& selection, Ssd* net, std::string* error) {
  if (!ModelCheck(model, error).Passes()) return false;
  net->graph = context->CreateGraph();
  SsdBuilder builder(net->graph.get(), model);
  net->input = builder.Input();
  TensorPtr x = net->input;
  std::vector<TensorPtr> boxes, logits;
  const auto classes = static_cast<std::uint32_t>(model.classes.size());
  for (const Layer& layer : Layers()) {
    x = builder.Conv(x, layer.name, layer.stride, layer.name);
    x = builder.Relu(x, layer.name);
    const std::string heads = layer.heads;
    if (heads.empty()) continue;
    const TensorPtr box = builder.Conv(x, "box" + heads, 1, "box");
    const TensorPtr logit = builder.Conv(x, "class" + heads, 1, "class");
    boxes.push_back(builder.Rows(box, "box", kCoordinates));
    logits.push_back(builder.Rows(logit, "class", classes));
  }
  const TensorPtr encodings = builder.Joined(boxes, "box");
  const TensorPtr scores =
      builder.Sigmoid(builder.Joined(logits, "class"), "score");
  net->boxes = builder.Output({kCoordinates, selection.max_detections, 1});
  net->classes = builder.Output({selection.max_detections, 1});
  net->scores = builder.Output({selection.max_detections, 1});
  net->count = builder.Output({1});
  net->graph
      ->CreateOperation<DetectionPostProcess>(ParametersOf(model, selection))
      ->BindInputs({encodings, scores, builder.Constant("anchors")})
      .BindOutputs({net->boxes, net->classes, net->scores, net->count});
  return true;
}

}  // namespace detection
