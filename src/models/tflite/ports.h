// Names and shapes of a model's inputs and outputs.
#ifndef TIM_MODELS_TFLITE_PORTS_H_
#define TIM_MODELS_TFLITE_PORTS_H_

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "models/tflite/reader.h"
#include "tim/models/tflite.h"

namespace tim::models::tflite {

/// The subgraph that is imported, and what its ports are called.
struct Signature {
  int subgraph = 0;
  /// Names by tensor; tensors without one have their own.
  std::map<int, std::string> inputs;
  std::map<int, std::string> outputs;
};

/// The signature `key`; empty: subgraph 0.  Fails, with those that there are,
/// where the file has none of this name.
Result<Signature> SignatureOf(const File& file, const std::string& key);

/// Extents of an input: those that are given, else those of the file.
/// `declared` is the input's DeclaredOf().
Result<Dims> InputDims(const fbs::Tensor& tensor, const Value& declared,
                       const std::string& name, const ImportOptions& options,
                       std::vector<std::string>* warnings);

/// The elements that are given for an input.
Result<Value> GivenValue(const GivenTensor& given, const Value& declared,
                         const std::string& name);

}  // namespace tim::models::tflite

#endif  // TIM_MODELS_TFLITE_PORTS_H_
