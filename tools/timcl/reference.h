// Results to compare a run with: of another engine, or from files.
#ifndef TIM_TOOLS_TIMCL_REFERENCE_H_
#define TIM_TOOLS_TIMCL_REFERENCE_H_

#include <map>
#include <memory>
#include <string>

#include "base/status.h"
#include "ir/tensor_desc.h"
#include "tools/timcl/arguments.h"
#include "tools/timcl/recorded_run.h"
#include "tools/timcl/temporary_folder.h"
#include "tools/timcl/tensor_data.h"

namespace tim::tool {

/// Arrays in files of NumPy, by the names of the tensors or files.
struct Reference {
  std::string origin;  ///< "onnxruntime 1.17.0", "folder 'x'".
  /// Paths by name: of outputs of a model, or of files without ".npy".
  std::map<std::string, std::string> files = {};
  bool by_file_name = false;
  std::unique_ptr<TemporaryFolder> folder = nullptr;  ///< May be null.
};

/// Runs the model of `arguments` on `inputs` by the engine that --against
/// names, in Python.  kInvalidArgument where the engine does not take such
/// files, kFailedPrecondition where Python, a package or the run fails.
Result<Reference> RunReference(const Arguments& arguments,
                               const Tensors& inputs);

/// The .npy files of a folder.  kNotFound where it cannot be read or has none.
Result<Reference> ReferenceIn(const std::string& folder);

/// The array of a file as a value of that name.  Integers of the type of
/// `like`, which may be quantized, are its codes.
/// kInvalidArgument, which names the file, where it is none or its shape is
/// another one.
Result<RecordedValue> ValueOf(const std::string& path, const std::string& name,
                              const std::string& producer,
                              const ir::TensorDesc& like);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_REFERENCE_H_
