// Quantized ONNX models in Q-DQ form, and the same in operators on codes.
#ifndef TIM_TESTS_MODELS_ONNX_QDQ_MAKER_H_
#define TIM_TESTS_MODELS_ONNX_QDQ_MAKER_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace tim::models::onnx {

/// Float32 operators between DequantizeLinear and QuantizeLinear, or QLinear
/// operators.
enum class Form : uint8_t { kQdq, kOnCodes };

/// A tensor of uint8 codes.
struct Coded {
  std::string name;
  float scale = 0;
};

/// What weights have beside random codes.
struct Weights {
  std::vector<int64_t> dims;  ///< Output channels first.
  int8_t zero_point = 0;
};

/// A model in one of the forms; each operator is told once.  Results have the
/// scale and zero point that are given, weights of convolutions a scale for
/// each channel.
class QdqMaker {
 public:
  explicit QdqMaker(Form form);

  Coded Input(const std::vector<std::string>& extents, float scale, int zero);
  /// `limits` ("Relu", "Clip" between the constants "zero" and "six"): in Q-DQ
  /// form they are behind the sum; codes that begin at 0 have them anyway.
  Coded Conv(const Coded& x, const Weights& weights, float scale, int zero,
             const std::string& limits = "", int64_t group = 1);
  Coded Gemm(const Coded& x, const Weights& weights, float scale, int zero);
  Coded Add(const Coded& a, const Coded& b, float scale, int zero,
            const std::string& limits = "");
  /// Along the channels.
  Coded Concat(const Coded& a, const Coded& b, float scale, int zero);
  /// GlobalAveragePool, Sigmoid or Softmax.
  Coded Unary(const std::string& op, const Coded& x, float scale, int zero);
  /// An operator that takes codes too: they keep their scale.
  ::onnx::NodeProto* Move(const std::string& op, const Coded& x, Coded* y,
                          const std::vector<std::string>& more = {});
  /// Along the channels; in Q-DQ form.
  std::vector<Coded> Halves(const Coded& x);

  /// The real values of the result, before they become codes, are an output.
  void ReturnReal(const Coded& y);
  void Return(const Coded& y);

  ::onnx::GraphProto* graph() { return model_.mutable_graph(); }
  const ::onnx::ModelProto& model() const { return model_; }

 private:
  using Names = std::vector<std::string>;

  std::string NewName() { return "t" + std::to_string(count_++); }
  Coded NewCodes(const std::string& name, float scale, int zero);
  Names AddWeights(const Weights& weights, size_t scales);
  std::string AddBias(const Coded& x, int64_t count);
  std::string Real(const Names& codes);
  std::string Real(const Coded& x);
  /// The node on codes that makes y.
  ::onnx::NodeProto* OnCodes(const std::string& op, const Names& inputs,
                             const Coded& y);
  /// The float32 node that makes y, with the limits and Quantize behind it.
  ::onnx::NodeProto* OnReals(const std::string& op, const Names& inputs,
                             const Coded& y, const std::string& limits = "");
  void Quantize(const Coded& y, std::string real, const std::string& limits);

  Form form_;
  ::onnx::ModelProto model_;
  std::mt19937 rng_{5};
  int count_ = 0;
  std::map<std::string, int> zeros_;
  std::vector<float> weight_scales_;
};

}  // namespace tim::models::onnx

#endif  // TIM_TESTS_MODELS_ONNX_QDQ_MAKER_H_
