// A graph of operations: built, compiled once, run many times.
#ifndef TIM_VX_GRAPH_H_
#define TIM_VX_GRAPH_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tim/vx/error.h"
#include "tim/vx/export.h"
#include "tim/vx/profile.h"
#include "tim/vx/run_event.h"

namespace tim {
namespace vx {

class BuiltinOp;
class CompileOption;
struct DmaBufferDesc;
class Operation;
class Tensor;
struct TensorSpec;

/// Created by Context::CreateGraph().  One thread at a time; different graphs,
/// of one context or several, run concurrently.
///
/// Functions that fail return false or null, set LastError() and
/// ErrorMessage(), and log the reason.  No function throws, but for
/// CreateOperation(): an exception of the operation's constructor passes
/// through it, and the graph has the operations that it had (tensors that the
/// constructor made stay).
class TIM_VX_API Graph {
 public:
  virtual ~Graph() = default;

  /// Counts if called before the first Compile().
  virtual void SetCompileOption(const CompileOption& options) = 0;

  /// A tensor of this graph, never null: an impossible request gives one with
  /// id 0xFFFFFFFF, whose use fails Compile().  `data`, the whole tensor, is
  /// copied before the call returns; without it INPUT, OUTPUT and VARIABLE
  /// tensors hold the real value 0.  TRANSIENT tensors take no data.
  virtual std::shared_ptr<Tensor> CreateTensor(const TensorSpec& spec,
                                               const void* data = nullptr) = 0;
  /// INPUT and OUTPUT: on memory that another device shares.  Its first bytes
  /// are the tensor; it is mapped into this process, so that devices that work
  /// in the host's memory need no copy.  The caller may close the descriptor
  /// afterwards, and must not shorten a file while a run or a copy uses it.
  /// Fails where the descriptor is not open, cannot be mapped or has too few
  /// bytes; what may only be read serves INPUT.  Other attributes ignore it.
  virtual std::shared_ptr<Tensor> CreateTensor(const TensorSpec& spec,
                                               const DmaBufferDesc& dmafd) = 0;
  /// INPUT and OUTPUT only: `data` is used in place and must stay valid until
  /// the graph is gone or SwapHandle() replaced it.  64-byte aligned memory
  /// saves a copy per Run().
  virtual std::shared_ptr<Tensor> CreateIOTensor(const TensorSpec& spec,
                                                 void* data = nullptr) = 0;
  /// Stands for an absent optional input or output; one object per graph.
  virtual std::shared_ptr<Tensor> CreateTensorPlaceHolder() = 0;

  /// Checks the graph, infers shapes and prepares it for Run().  After a
  /// success it does nothing until operations or constants have changed.
  ///
  /// A graph without operations copies: the first INPUT tensor to the first
  /// OUTPUT tensor, the second to the second and so on.  They must be as many,
  /// and two by two of one type, shape and quantization.  Without an OUTPUT its
  /// outputs are its INPUT tensors themselves, and Run() changes nothing.
  ///
  /// A Compile() that fails because of the graph, its operators' own kernels
  /// and functions included, is final: later calls of Compile() and Run() fail
  /// as well and say that it failed before, why, and that a new graph is
  /// needed.  One that fails for want of memory, because a device was lost or
  /// because of an error of this library is tried again by the next Compile()
  /// or Run().
  ///
  /// What TIM-VX lets pass and is hardly meant is computed as it is documented,
  /// with a warning, once for each operation and kind of mistake; with
  /// TIMCL_LENIENT=0 it is an error:
  /// - layout arguments other than the native ones, where the graph is not one
  ///   that tim::transform::LayoutInference() returned;
  /// - declared extents of an output that no rounding of the operator's rule
  ///   gives, and a declared shape of as many elements (of a TRANSIENT tensor,
  ///   too) whose extents other than 1 are others or in another order;
  /// - an integer bias without quantization of a float sum, and a bias whose
  ///   scale is not input scale x weight scale, within 2 %;
  /// - codes of at most 8 bits without quantization beside quantized operands;
  /// - arguments that have no effect and contradict those that have: pads that
  ///   a padding mode discards, a kernel size that is not the kernel's, a
  ///   window for another input size, targets beside a factor.
  virtual bool Compile() = 0;
  /// Compiles, and writes the graph as bytes that ops::NBG and
  /// tim::lite::Execution run, in any process of the same library; constants
  /// are in them, and the content that VARIABLE tensors have now.
  /// `buf`: of *size bytes, or null, so that the call only tells how many are
  /// needed.  `size`: in both cases set to the number of bytes of the binary.
  /// False, with LastError(), where Compile() fails, where `size` is null or
  /// the buffer too small, and where the graph cannot be written.
  virtual bool CompileToBinary(void* buf, size_t* size) = 0;
  /// Compiles where needed, runs, and waits for the results.  After a failure
  /// OUTPUT tensors have no content, see Tensor::CopyDataFromTensor().
  virtual bool Run() = 0;

  /// Compiles where needed, starts a run and returns before it has ended; an
  /// addition to TIM-VX.  The run reads and writes memory of its own: the
  /// tensors' contents, and memory that CreateIOTensor() was given, stay as
  /// they are.  Several may be in flight at a time; where four are, the call
  /// waits until one has ended.
  ///
  /// Runs of a graph with VARIABLE tensors, or with steps of the host (of
  /// operators without kernels, custom operators' HostEval() among them), are
  /// made by threads of the library; those that share a VARIABLE follow one
  /// another in the order of the calls.  Run(), SwapHandle(), access to
  /// VARIABLE tensors, a Compile() for what has changed and the destructor wait
  /// for what is in flight.
  ///
  /// \param inputs as InputsTensor(), dense memory with as many bytes as the
  ///     tensor; not written to, and must not change before the run has ended.
  ///     64-byte aligned memory saves a copy.
  /// \param outputs as OutputsTensor(), likewise; what runs in flight write
  ///     must not overlap with anything that others use.  It is the caller's
  ///     again when RunEvent::Wait() has returned.
  /// \return an event that is false where there is no run: with LastError().
  ///     What fails later, RunEvent::Wait() tells.
  RunEvent RunAsync(const std::vector<const void*>& inputs,
                    const std::vector<void*>& outputs);

  /// Runs the graph `runs` times, on the tensors' memory as Run() does, but
  /// step by step, and tells where the time goes; an addition to TIM-VX.
  /// Compiles where needed; the first call measures what the devices reach,
  /// which takes about a second and is kept in the cache folder.  VARIABLE
  /// tensors change with every run.
  ///
  /// \param runs 0: none is added; with TIMCL_PROFILE=1, which makes every run
  ///     such a run, that tells of those that there were.
  /// \return all such runs since Compile(); one that is false, with
  ///     LastError(), where there were none, where one of them fails, and
  ///     where `runs` is negative.
  GraphProfile Profile(int runs = 1);

  /// Compiles, whether it was compiled or not, runs as Run() does, but step by
  /// step, and writes what it sees on the way into a folder, which it makes
  /// where needed; an addition to TIM-VX.  docs/dump.md lists the files: the
  /// graph after each pass, the plan, its memory, and of the run every tensor
  /// that is left after fusion, with statistics.  TIMCL_DUMP does the same
  /// for programs as they are.
  ///
  /// \param directory files in it stay: new ones begin with another number.
  /// \param names of which tensors the elements are written: those of tensors
  ///     or of the operations that make them, with "," between and "*" for any
  ///     characters; empty: of all.  Names that match nothing are a warning.
  /// \return false, with LastError(), where the folder or a file cannot be
  ///     written, and where Compile() or the run fails; what was written till
  ///     then stays.
  bool Dump(const std::string& directory, const std::string& names = "");

  /// Makes an OpType(this, parameters...) and adds it to OpVector().
  /// Operations may be created and bound in any order.
  template <typename OpType, typename... Params>
  std::shared_ptr<OpType> CreateOperation(Params... parameters) {
    auto operation = std::make_shared<OpType>(this, parameters...);
    AddOperation(operation);
    return operation;
  }

  /// Makes the operation that takes the place of `original`: of this graph, not
  /// bound.  Operation::Name() and GetAttribute() tell what `original` is.
  using Replacement = std::function<std::shared_ptr<Operation>(
      Graph* graph, const Operation& original)>;

  /// From the next Compile() on, `factory` replaces every operation of the
  /// class Op in this graph, inside composed operations too; null ends it.  Op
  /// says what it is by `static const char* OpName()`: "Relu", "user.Gate".
  /// Where `factory` gives null the original stays.  OpVector() keeps the
  /// originals.  What `factory` creates is not replaced in its turn.  It goes
  /// before Context::Override().
  template <typename Op>
  void Override(Replacement factory) {
    SetOverride(Op::OpName(), std::move(factory));
  }
  /// \param operator_name "Relu", "user.Gate", or "Gate" of a user's.
  void Override(const char* operator_name, Replacement factory) {
    SetOverride(operator_name, std::move(factory));
  }

  /// In order of creation.
  virtual const std::vector<std::shared_ptr<Tensor>> InputsTensor() const = 0;
  virtual const std::vector<std::shared_ptr<Tensor>> OutputsTensor() const = 0;

  /// Called by Operation::BindInput(): `op`, once per binding, becomes a
  /// consumer of `tensor` if it is in OpVector().
  virtual void UpdateTensorConsumersMap(const std::shared_ptr<Tensor>& tensor,
                                        const Operation* op) = 0;
  /// `op` consumes `dst_tensor` in place of `org_tensor`.
  virtual void RenewTensorConsumersMap(
      const std::shared_ptr<Tensor>& org_tensor,
      const std::shared_ptr<Tensor>& dst_tensor, const Operation* op) = 0;
  /// Called by Operation::BindOutput(); the last writer counts.
  virtual void UpdateTensorProducerMap(const std::shared_ptr<Tensor>& tensor,
                                       const Operation* op) = 0;
  /// Empty where there is none.
  virtual const std::vector<std::shared_ptr<Operation>> GetConsumersOp(
      std::shared_ptr<Tensor> tensor) const = 0;
  /// Null where there is none.
  virtual std::shared_ptr<Operation> GetProducerOp(
      std::shared_ptr<Tensor> tensor) = 0;

  /// Prints tensors and operations to stderr.
  virtual void PrintGraph() const = 0;

  /// Operation::ConstantInputsTensor() of every operation, in order.
  const std::vector<std::shared_ptr<Tensor>> GetConstantInputs() const;

  /// Live lists.  Compile() takes the operations that OpVector() then holds,
  /// with the tensors bound to them.
  virtual std::vector<std::shared_ptr<Operation>>& OpVector() = 0;
  virtual std::map<std::shared_ptr<Tensor>,
                   std::vector<std::shared_ptr<Operation>>>&
  TensorConsumer() = 0;
  virtual std::map<std::shared_ptr<Tensor>, std::shared_ptr<Operation>>&
  TensorProducer() = 0;

  /// The last failure of this graph, empty if there was none.
  virtual std::string ErrorMessage() const = 0;

 protected:
  std::vector<std::shared_ptr<Operation>> op_vector_;

 private:
  friend class BuiltinOp;  // Clone() adds a copy.
  void AddOperation(const std::shared_ptr<Operation>& operation);
  void SetOverride(const char* operator_name, Replacement factory);
};

/// MD5 of `src`, 32 upper-case hex digits (RFC 1321).
TIM_VX_API const std::string calculateMd5Secret32(const std::string& src);

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_GRAPH_H_
