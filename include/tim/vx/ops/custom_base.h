// Custom operators: kernels of the user's own.
#ifndef TIM_VX_OPS_CUSTOM_BASE_H_
#define TIM_VX_OPS_CUSTOM_BASE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "tim/vx/export.h"
#include "tim/vx/operation.h"
#include "tim/vx/ops/custom_param.h"
#include "tim/vx/tensor.h"
#include "tim/vx/types.h"

/// `n` rounded up to a multiple of `align`, a power of two.
#define gpu_align(n, align) (((n) + ((align)-1)) & ~((align)-1))

namespace tim {
namespace vx {
namespace ops {

/// TIM-VX's classes count themselves with it, to make their kernel ids.  Here
/// ids have no effect: an operator is its source, build options and function.
static int32_t gobal_kernel_id_ __attribute__((unused)) = 0;

/// An operand in the memory of the host: dense codes, dimension 0 fastest;
/// INT4 and UINT4 packed, each row of dimension 0 a whole number of bytes.
struct HostInput {
  TensorSpec spec;
  const void* data;  ///< Null where an optional input is absent.

  /// `data` as T, which has the size of an element; throws where it has not.
  /// FLOAT16 elements are tim::vx::Half.
  template <typename T>
  const T* Data() const {
    CheckElement(spec, sizeof(T));
    return static_cast<const T*>(data);
  }

  static void CheckElement(const TensorSpec& spec, std::size_t size) {
    if (static_cast<int64_t>(size) == spec.GetElementByteSize()) return;
    throw std::invalid_argument("Data<T>(): T has " + std::to_string(size) +
                                " bytes, an element of the tensor has " +
                                std::to_string(spec.GetElementByteSize()));
  }
};

struct HostOutput {
  TensorSpec spec;
  void* data;

  template <typename T>
  T* Data() const {
    HostInput::CheckElement(spec, sizeof(T));
    return static_cast<T*>(data);
  }
};

/// New axis i is old axis perm[i], both fastest-varying first.
using Permutation = std::vector<uint32_t>;

/// How the axes of an operator's operands are permuted together, one
/// Permutation each; an empty one: the axes stay.
struct PermutedOperands {
  std::vector<Permutation> inputs;
  std::vector<Permutation> outputs;
};

/// What an argument of one of several kernels of an operator is, for
/// AddKernel() and SetKernelArgs().
class TIM_VX_API KernelArg {
 public:
  enum class Kind : uint8_t {
    kInput,
    kOutput,
    kScratch,
    kTable,
    kLocal,
    kScalar
  };

  static KernelArg Input(uint32_t i) { return KernelArg(Kind::kInput, i); }
  static KernelArg Output(uint32_t i) { return KernelArg(Kind::kOutput, i); }
  /// Of the numbers that AddScratch(), AddTable() and AddLocal() return.
  static KernelArg Scratch(uint32_t i) { return KernelArg(Kind::kScratch, i); }
  static KernelArg Table(uint32_t i) { return KernelArg(Kind::kTable, i); }
  static KernelArg Local(uint32_t i) { return KernelArg(Kind::kLocal, i); }
  /// The i-th of param_list_; a vector counts as one.
  static KernelArg Scalar(uint32_t i) { return KernelArg(Kind::kScalar, i); }

  Kind kind() const { return kind_; }
  uint32_t index() const { return index_; }

 private:
  KernelArg(Kind kind, uint32_t index) : kind_(kind), index_(index) {}

  Kind kind_;
  uint32_t index_;
};

/// Base of operators that bring OpenCL C kernels.
///
/// A kernel's parameters are the inputs in order, the outputs, then what the
/// operator adds: scratch tensors, tables, local memory; last the scalars of
/// param_list_.  A tensor is
///   __global T*       dense, element (w, h, c, n) at w + W * (h + H * (c ...))
///   image2d_t         dimension 0 is x, 1 is y
///   image2d_array_t   and all further dimensions are the layer
/// with one element per texel, in .x, without dequantization.  Reads outside
/// of an image give the nearest texel, writes outside are dropped, so that the
/// global size may overrun it; both are checked accesses of plain memory.
///   INT8 char   UINT8 uchar   INT16 short   UINT16 ushort   INT32 int
///   UINT32 uint   INT64 long   FLOAT32 float   FLOAT16 half or ushort
///   BOOL8 char, uchar or bool   INT4, UINT4 uchar (two elements)
/// or vectors of these, or void.  An integer or bool scalar goes to any integer
/// parameter that can hold it, a floating-point one to half, float or double,
/// and a std::array of them to a vector of as many elements of such a type.
/// A typedef counts as the builtin type that the source declares it as.  Inputs
/// are `__global const T*` or `__constant T*`; without const the kernel gets a
/// copy of the input on each run, which it may write.  No output goes to a
/// parameter that is const, __constant or __read_only, but for one that a
/// kernel before has had, and no input to a __write_only image; an image that
/// says neither goes either way, and what is __write_only can be read.
///
/// An input that SetInputOptional() names may be absent: the parameter is a
/// null pointer then, or an empty image, whose texels are 0.  TIM_HAS_INPUT2 is
/// 1 where the optional input 2 is bound, else 0.
///
/// Several kernels of kernel_resource_, in sequence, with scratch tensors
/// between them:
///
///     void SetupParams(...) override {
///       func_name_ = "partial_sums";    // (x, y, partial, lanes)
///       partial_ = AddScratch(DataType::FLOAT32, {groups_});
///       lanes_ = AddLocal(256 * sizeof(float));
///     }
///     void SetupEnqueue(...) override {
///       dim = 1; gobal_size[0] = groups_ * 256; local_size[0] = 256;
///       AddKernel("total", {1}, {},
///                 {KernelArg::Scratch(partial_), KernelArg::Output(0)});
///     }
///
/// A source may include files.  As they may change, what is built of it is not
/// kept: each Compile() of a new or changed graph builds it again.
///
/// An output that is a VARIABLE holds its last value when the kernel starts:
/// that of the last Run(), or what the host has written since.  What the kernel
/// does not write stays as it is, so that it may count, or append a row to a
/// cache.  Where something else reads the tensor in the same run, an input of
/// this operator included, that sees the value from before the run, which costs
/// a copy of the tensor per Run(); else the kernel works in the only memory of
/// the tensor.  After a failed Run() the content is undefined.  What another
/// output holds before the kernel runs is not defined, but for OUTPUT tensors
/// on devices with unified memory: there it is the tensor's content; and for
/// those of FillWithZeros().
///
/// Compile() calls, of every operator in the order of the graph, SetupTypes()
/// and SetupShapeInfor(), then every SetupParams(), then every SetupEnqueue():
/// each once, on its thread.  Run() calls nothing of the user's but HostEval(),
/// tim::transform::LayoutInference() SetupTypes() and SetupShapeInfor().
///
/// Compile() also builds the kernels, and runs none of them: what they write,
/// count or print begins with the first Run().  Some drivers make the code of a
/// kernel for its local sizes only when it is first launched; PoCL 3.1, which
/// does, is made to do it in Compile(), and local sizes that are left open are
/// chosen there as it would.  With others that put it off, as PoCL from 4 on,
/// the first Run() takes that time.
///
/// In all of them InputSpec(i) is final: type, shape and quantization, of
/// tensors too whose shape or type Compile() has just found out.  OutputSpec(i)
/// is what the graph declares, with the types that SetupTypes() set, and final
/// from SetupParams() on, with the shape of outputs_size_[i].
///
/// A kernel knows the quantization of operands by macros, those of input 0 and
/// output 1 are
///   TIM_SCALE_INPUT0       a float: 1 where there is no quantization, 2^-fl
///                          for DYNAMIC_FIXED_POINT
///   TIM_ZERO_POINT_OUTPUT1 an int
/// They are not defined where scales are per channel: those a source takes from
/// `build_option`, which SetupParams() may make of InputSpec(i).
///
/// Shapes are macros as well, of every tensor, scratch included, up to rank 8:
///   TIM_INDEX_INPUT0(x, y, c)  the offset of an element, dimension 0 first, of
///                              as many arguments as the tensor has dimensions;
///                              not of INT4 and UINT4, nor of images
///   TIM_SIZE_OUTPUT1_2         the extent of dimension 2 of output 1
/// likewise _SCRATCH0.  An absent input has none.  They are defined where the
/// source mentions them, so that other kernels are not built for each shape.
///
/// Errors, all of Compile(), naming operator, argument and rule: no device that
/// runs it; another number of tensors than input_num and output_num; shapes
/// that are not set; no function name or an unknown one; a source that does not
/// build (with the compiler's log, lines counted in kernel_resource_); a kernel
/// whose parameters do not fit; sizes that the device does not allow, of
/// scratch and local memory, too; an output, an optional input or something
/// added that no kernel has as an argument; an exception.  What the functions
/// below refuse (a number out of range, a call in another place than they name)
/// they throw, but outside of Compile() and HostEval(), in a constructor, it is
/// recorded and the next Compile() fails.  An exception of HostEval() fails
/// Run().
///
/// A subclass also defines Clone().
class TIM_VX_API CustomOpBase : public Operation {
 public:
  /// \param kernel_id has no effect.
  /// \param kernel_name "Gate": the operator is "user.Gate" to messages, dumps
  ///        and Override(); a class that others may override so says it by
  ///        `static const char* OpName() { return "user.Gate"; }`.
  /// \param attributes what GetAttribute() finds, for those who override it.
  CustomOpBase(Graph* graph, uint32_t input_num, uint32_t output_num,
               int32_t kernel_id, const char* kernel_name,
               std::initializer_list<NamedAttribute> attributes = {});
  ~CustomOpBase() override;

  /// Optional: calls SetOutputType() for outputs whose type follows from those
  /// of the inputs.
  virtual void SetupTypes();

  /// For SetupTypes(): type and quantization of an output that is declared
  /// UNKNOWN.  Where the graph declares them they rule, and others are an
  /// error.  Throws where `output`, `type` or the caller is not right.
  void SetOutputType(uint32_t output, DataType type,
                     const Quantization& quantization = Quantization());

  /// Reads inputs_size_, one shape per input; sets every outputs_size_[i],
  /// which are empty.  They rule: an OUTPUT tensor may declare another shape
  /// only with as many elements.  An output of unknown type takes the type and
  /// quantization of input 0, unless SetupTypes() set them.
  virtual void SetupShapeInfor() = 0;

  /// Sets func_name_ to a kernel of kernel_resource_, and `build_option`, which
  /// is empty, to compiler options; may change param_list_.  The next Compile()
  /// begins with the param_list_ of before, unless it was changed since.
  virtual void SetupParams(std::vector<DataType> input_types,
                           std::string& build_option) = 0;

  /// Sets `dim`, 1 to 3, as many global sizes (work-items), and local sizes
  /// that divide them.  Both vectors hold three zeros.  All local sizes 0: the
  /// runtime chooses; some: those count as 1.
  virtual void SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                            std::vector<size_t>& local_size) = 0;

  /// In the constructor: `input` may be absent, which is a placeholder
  /// (Graph::CreateTensorPlaceHolder()) or, behind all others, nothing bound.
  /// Its InputSpec() is that of a placeholder, its inputs_size_ empty.
  void SetInputOptional(uint32_t input);

  /// Whether that input is bound, to no placeholder.  Anywhere; throws
  /// std::out_of_range beyond input_num.
  bool HasInput(uint32_t input) const;

  /// In SetupParams(): a tensor between the kernels of the operator, with no
  /// content that is defined when the first of them runs.
  /// \return the number of the tensor, from 0.
  uint32_t AddScratch(DataType type, const ShapeType& shape);

  /// In the constructor or SetupParams(): numbers that the kernels read, at
  /// `__global const T*` or `__constant T*`.  The graph keeps a copy; tables of
  /// equal content share it.  At least one number; T: float, double, Half or an
  /// integer.
  /// \return the number of the table, from 0.
  template <typename T>
  uint32_t AddTable(const std::vector<T>& numbers) {
    static_assert(!std::is_same<T, bool>::value, "a table has no bool");
    return AddTableOf(ParamOf<T>::Make(T()), numbers.data(), numbers.size());
  }

  /// In SetupParams() or SetupEnqueue(): local memory of at least one byte, at
  /// `__local T*`.
  /// \return its number, from 0.
  uint32_t AddLocal(std::size_t bytes);

  /// In SetupParams(): is set to zeros by each run, before the first kernel or
  /// HostEval().  Not a VARIABLE, which keeps its value.
  void FillWithZeros(uint32_t output);
  void FillScratchWithZeros(uint32_t scratch);

  /// In SetupEnqueue(): a further kernel of kernel_resource_, which runs after
  /// that of func_name_ and those added before; it sees what they have written.
  /// \param global 1 to 3 sizes, as those that SetupEnqueue() sets.
  /// \param local as many, or none: the runtime chooses.
  /// \param args one per parameter of the kernel; none: everything, in the
  ///        order that holds for the kernel of func_name_.
  void AddKernel(const std::string& function,
                 const std::vector<std::size_t>& global,
                 const std::vector<std::size_t>& local = {},
                 const std::vector<KernelArg>& args = {});

  /// In SetupEnqueue(): the arguments of the kernel of func_name_, one per
  /// parameter, in place of everything.
  void SetKernelArgs(const std::vector<KernelArg>& args);

  /// Whether the class has HostEval().
  virtual bool HasHostEval() const;

  /// Optional: the host reference, by which the operator runs where there is no
  /// OpenCL device.  Computes the outputs from the inputs.  What is said of
  /// kernels and VARIABLE outputs holds here, too.  Called by each Run() that
  /// needs it, on any thread, never twice at a time for one operation.
  /// \param inputs as many as input_num.
  /// \param outputs as many as output_num, on no memory of another operand.
  virtual void HostEval(const std::vector<HostInput>& inputs,
                        const std::vector<HostOutput>& outputs);

  /// Optional: the layout rule.  Were input `input` there with its axes
  /// permuted by `perm`, a permutation of its rank: how must the others be, and
  /// how do the outputs' axes then stand, for the operator, with its own
  /// functions called on the new shapes, to compute the same?  False: it would
  /// not.  A pure function, which may be called often, by
  /// tim::transform::LayoutInference().
  /// \param operands of as many empty permutations as there are operands, but
  ///        for `perm` in its place.
  virtual bool PermuteAxes(uint32_t input, const Permutation& perm,
                           PermutedOperands* operands) const;

  std::vector<Param> param_list_;
  std::vector<ShapeType> inputs_size_;
  std::vector<ShapeType> outputs_size_;

  /// Read after SetupParams() has returned: a string literal or a member's
  /// c_str(), not that of a local or temporary string.
  const char* func_name_ = nullptr;
  /// OpenCL C; must stay valid as long as the operation.
  const char* kernel_resource_ = nullptr;

  void* init_kernel_ = nullptr;  ///< Not used.
  void* vx_node_ = nullptr;      ///< Not used.

  uint32_t input_num_;
  uint32_t output_num_;

 private:
  /// Of `count` numbers of the type of `like`.
  uint32_t AddTableOf(const Param& like, const void* numbers,
                      std::size_t count);
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_CUSTOM_BASE_H_
