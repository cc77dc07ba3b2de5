// Graphs as Python builds and runs them.
#ifndef TIMCL_PYTHON_GRAPH_H_
#define TIMCL_PYTHON_GRAPH_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "python_call.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"
#include "tim/vx/tensor.h"

namespace timcl {

namespace vx = tim::vx;

/// A tensor, or what stands for an absent one.
class Tensor {
 public:
  explicit Tensor(std::shared_ptr<vx::Tensor> tensor,
                  std::shared_ptr<const void> data = nullptr)
      : tensor_(std::move(tensor)), data_(std::move(data)) {}
  ~Tensor();

  const std::shared_ptr<vx::Tensor>& get() const { return tensor_; }
  /// Array that a constant or state was made of, else null.
  const std::shared_ptr<const void>& data() const { return data_; }

  nb::tuple Spec() const;
  int64_t Bytes() const { return tensor_->GetSpec().GetByteSize(); }
  uint32_t Id() const { return tensor_->GetId(); }
  /// Copies between the tensor and as many bytes of an array.
  void Write(nb::handle buffer);
  void Read(nb::handle buffer) const;

 private:
  void CheckSize(const Buffer& buffer) const;

  std::shared_ptr<vx::Tensor> tensor_;
  std::shared_ptr<const void> data_;
};

/// A run that has been started, and the arrays that it uses.
class Running {
 public:
  Running(vx::RunEvent event, std::vector<Buffer> buffers)
      : event_(std::move(event)), buffers_(std::move(buffers)) {}
  ~Running();

  void Wait();
  bool Ready() const { return event_.Ready(); }

 private:
  vx::RunEvent event_;
  std::vector<Buffer> buffers_;
};

/// One graph.  Any thread: calls of the library follow one another, runs may be
/// in flight at the same time.  Members change with the interpreter's lock
/// held.
class Graph {
 public:
  /// \param device a number of Devices(); below 0: the default one.
  explicit Graph(int device);
  /// A graph that others have made.
  explicit Graph(std::shared_ptr<vx::Graph> graph) : graph_(std::move(graph)) {}
  ~Graph();

  std::shared_ptr<Tensor> AddTensor(nb::tuple spec, const std::string& role,
                                    const std::string& name, nb::object data);
  std::shared_ptr<Tensor> PlaceHolder();
  /// Adds an operator of the registry; the outputs are inferred.  `attributes`:
  /// (name, "int", value) and the like.
  void AddOperation(const std::string& op,
                    const std::vector<std::shared_ptr<Tensor>>& inputs,
                    const std::vector<std::shared_ptr<Tensor>>& outputs,
                    nb::list attributes, const std::string& name);
  /// Adds a custom operator, see custom_operator.h.
  void AddCustom(const std::string& op, nb::object hooks,
                 const std::vector<int>& optional,
                 const std::vector<std::shared_ptr<Tensor>>& inputs,
                 const std::vector<std::shared_ptr<Tensor>>& outputs,
                 const std::string& name);
  /// Adds a binary graph as one operation.
  void AddBinary(nb::handle bytes,
                 const std::vector<std::shared_ptr<Tensor>>& inputs,
                 const std::vector<std::shared_ptr<Tensor>>& outputs);

  /// The same operations in a new graph in which `outputs` are OUTPUT tensors
  /// of these names; the tensors of `asked` there are the second result.
  nb::tuple Finish(const std::vector<std::shared_ptr<Tensor>>& outputs,
                   const std::vector<std::string>& names,
                   const std::vector<std::shared_ptr<Tensor>>& asked,
                   int device);

  void Compile();
  void Run(nb::list inputs, nb::list outputs);
  std::unique_ptr<Running> Start(nb::list inputs, nb::list outputs);
  nb::dict Profile(int runs);
  void Dump(const std::string& directory, const std::string& names);
  nb::bytes ToBytes();
  /// INPUT or OUTPUT tensors, in the order of Run().
  std::vector<std::shared_ptr<Tensor>> Ports(bool inputs);

 private:
  /// Starts a run; "" or why there is none.  Without the interpreter's lock.
  std::string Begin(const std::vector<Buffer>& inputs,
                    const std::vector<Buffer>& outputs, vx::RunEvent* event);
  std::string Infer(const std::shared_ptr<vx::Operation>& operation);
  using Create = std::function<std::shared_ptr<vx::Operation>(vx::Graph*)>;
  void Add(const Create& create,
           const std::vector<std::shared_ptr<Tensor>>& inputs,
           const std::vector<std::shared_ptr<Tensor>>& outputs,
           const std::string& name);

  std::shared_ptr<vx::Graph> graph_;
  /// Taken without the interpreter's lock only.
  std::mutex mutex_;
  /// Operations with their operands, in order, for Finish().
  struct Bound {
    std::shared_ptr<vx::Operation> operation;
    std::vector<std::shared_ptr<Tensor>> inputs;
    std::vector<std::shared_ptr<Tensor>> outputs;
  };
  std::vector<Bound> bound_;
  std::vector<std::shared_ptr<Tensor>> tensors_;
};

}  // namespace timcl

#endif  // TIMCL_PYTHON_GRAPH_H_
