// Custom operators: kernels of the user's own.
#ifndef TIM_VX_OPS_CUSTOM_BASE_H_
#define TIM_VX_OPS_CUSTOM_BASE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tim/vx/export.h"
#include "tim/vx/half.h"
#include "tim/vx/operation.h"
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

/// A scalar argument of a kernel.  `type` says which member of `data` counts:
///   FLOAT32, FLOAT16     f            INT64           l
///   INT8, INT16, INT32   i            BOOL8           b
///   UINT8, UINT16, UINT32 ui
/// unless `wide` names one that DataType cannot.
struct Param {
  union {
    float f;
    int i;
    bool b;
    unsigned int ui;
    int64_t l;
    uint64_t ul;
    double d;
  } data;
  DataType type;
  enum class Wide : uint8_t { kNone, kUint64, kDouble } wide = Wide::kNone;
};

/// The scalar that a C++ value is.
template <typename T, typename Enable = void>
struct ParamOf {
  static_assert(sizeof(T) == 0,
                "a custom operator's scalar must be a bool, an integer, a "
                "float, a double or a tim::vx::Half");
};

template <>
struct ParamOf<bool> {
  static Param Make(bool value) {
    Param param;
    param.data.ul = 0;
    param.data.b = value;
    param.type = DataType::BOOL8;
    return param;
  }
};

template <typename T>
struct ParamOf<T, typename std::enable_if<std::is_integral<T>::value &&
                                          std::is_signed<T>::value>::type> {
  static Param Make(T value) {
    Param param;
    param.data.l = 0;
    param.type = sizeof(T) == 1   ? DataType::INT8
                 : sizeof(T) == 2 ? DataType::INT16
                 : sizeof(T) == 4 ? DataType::INT32
                                  : DataType::INT64;
    if (sizeof(T) == 8) {
      param.data.l = static_cast<int64_t>(value);
    } else {
      param.data.i = static_cast<int>(value);
    }
    return param;
  }
};

template <typename T>
struct ParamOf<T, typename std::enable_if<std::is_integral<T>::value &&
                                          std::is_unsigned<T>::value>::type> {
  static Param Make(T value) {
    Param param;
    param.data.ul = 0;
    param.type = sizeof(T) == 1   ? DataType::UINT8
                 : sizeof(T) == 2 ? DataType::UINT16
                                  : DataType::UINT32;
    if (sizeof(T) == 8) {
      param.type = DataType::UNKNOWN;
      param.wide = Param::Wide::kUint64;
      param.data.ul = static_cast<uint64_t>(value);
    } else {
      param.data.ui = static_cast<unsigned int>(value);
    }
    return param;
  }
};

template <>
struct ParamOf<float> {
  static Param Make(float value) {
    Param param;
    param.data.ul = 0;
    param.data.f = value;
    param.type = DataType::FLOAT32;
    return param;
  }
};

template <>
struct ParamOf<double> {
  static Param Make(double value) {
    Param param;
    param.data.d = value;
    param.type = DataType::UNKNOWN;
    param.wide = Param::Wide::kDouble;
    return param;
  }
};

template <>
struct ParamOf<Half> {
  static Param Make(Half value) {
    Param param;
    param.data.ul = 0;
    param.data.f = static_cast<float>(value);
    param.type = DataType::FLOAT16;
    return param;
  }
};

/// Appends the elements of `tup`, from I on, to `param_list`.  Other types
/// than bool, integers, float, double and Half do not compile.
template <std::size_t I = 0, typename... Ts>
typename std::enable_if<I == sizeof...(Ts)>::type param_transform(
    std::tuple<Ts...>, std::vector<Param>&) {}

template <std::size_t I = 0, typename... Ts>
typename std::enable_if<(I < sizeof...(Ts))>::type param_transform(
    std::tuple<Ts...> tup, std::vector<Param>& param_list) {
  using T = typename std::tuple_element<I, std::tuple<Ts...>>::type;
  param_list.push_back(
      ParamOf<typename std::remove_cv<T>::type>::Make(std::get<I>(tup)));
  param_transform<I + 1>(tup, param_list);
}

/// An operand in the memory of the host: dense codes, dimension 0 fastest;
/// INT4 and UINT4 packed, each row of dimension 0 a whole number of bytes.
struct HostInput {
  TensorSpec spec;
  const void* data;

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

/// Base of operators that bring an OpenCL C kernel.
///
/// The kernel's parameters are the inputs in order, the outputs, then the
/// scalars of param_list_.  A tensor is
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
/// parameter that can hold it, a floating-point one to half, float or double.
/// A typedef counts as the builtin type that the source declares it as.  Inputs
/// are `__global const T*` or `__constant T*`; without const the kernel gets a
/// copy of the input on each run, which it may write.  No output goes to a
/// parameter that is const, __constant or __read_only, and no input to a
/// __write_only image; an image that says neither goes either way, and what is
/// __write_only can be read.
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
/// on devices with unified memory: there it is the tensor's content.
///
/// Compile() calls, of every operator in the order of the graph, SetupTypes()
/// and SetupShapeInfor(), then every SetupParams(), then every SetupEnqueue():
/// each once, on its thread.  Run() calls nothing of the user's but HostEval().
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
/// Errors, all of Compile(), naming operator, argument and rule: no device that
/// runs it; another number of tensors than input_num and output_num; shapes
/// that are not set; no function name or an unknown one; a source that does not
/// build (with the compiler's log, lines counted in kernel_resource_); a kernel
/// whose parameters do not fit; sizes that the device does not allow; an
/// exception.  One of HostEval() fails Run().  A subclass also defines Clone().
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
  /// is empty, to compiler options; may change the values of param_list_.
  virtual void SetupParams(std::vector<DataType> input_types,
                           std::string& build_option) = 0;

  /// Sets `dim`, 1 to 3, as many global sizes (work-items), and local sizes
  /// that divide them.  Both vectors hold three zeros.  All local sizes 0: the
  /// runtime chooses; some: those count as 1.
  virtual void SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                            std::vector<size_t>& local_size) = 0;

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
  /// not.  A pure function, which may be called often.  For layout inference
  /// to come.
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
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_CUSTOM_BASE_H_
