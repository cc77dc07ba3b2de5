// Descriptions of tensors.
#ifndef TIM_GRAPH_LOGICAL_TENSOR_HPP_
#define TIM_GRAPH_LOGICAL_TENSOR_HPP_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tim/graph/c.h"
#include "tim/graph/common.hpp"

namespace tim {
namespace graph {

/// A value: id, type, dims, layout and property of a tensor.
class logical_tensor {
 public:
  using dim = std::int64_t;
  using dims = std::vector<dim>;

  enum class data_type {
    undef = tim_graph_data_type_undef,
    f16 = tim_graph_f16,
    bf16 = tim_graph_bf16,
    f32 = tim_graph_f32,
    s32 = tim_graph_s32,
    s8 = tim_graph_s8,
    u8 = tim_graph_u8,
    boolean = tim_graph_boolean,
    f8_e5m2 = tim_graph_f8_e5m2,
    f8_e4m3 = tim_graph_f8_e4m3,
    s4 = tim_graph_s4,
    u4 = tim_graph_u4,
    s64 = tim_graph_s64,
  };
  enum class layout_type {
    undef = tim_graph_layout_type_undef,
    any = tim_graph_layout_type_any,
    strided = tim_graph_layout_type_strided,
    opaque = tim_graph_layout_type_opaque,
  };
  enum class property_type {
    undef = tim_graph_tensor_property_undef,
    variable = tim_graph_tensor_property_variable,
    constant = tim_graph_tensor_property_constant,
    host_scalar = tim_graph_tensor_property_host_scalar,
  };

  /// All members are 0.
  logical_tensor() : data_() {}
  explicit logical_tensor(const tim_graph_logical_tensor_t& c_data)
      : data_(c_data) {}

  /// \param ndims -1: unknown; 0: a scalar; n: n dims that are unknown.
  logical_tensor(std::size_t tid, data_type dtype, std::int32_t ndims,
                 layout_type ltype, property_type ptype = property_type::undef)
      : data_() {
    error::wrap_c_api(
        tim_graph_logical_tensor_init(&data_, tid, to_c(dtype), ndims,
                                      to_c(ltype), to_c(ptype)),
        "could not create a logical tensor");
  }

  /// A tensor of unknown rank.
  logical_tensor(std::size_t tid, data_type dtype,
                 layout_type ltype = layout_type::undef)
      : logical_tensor(tid, dtype, TIM_GRAPH_UNKNOWN_NDIMS, ltype) {}

  /// \param adims Empty: a scalar.
  logical_tensor(std::size_t tid, data_type dtype, const dims& adims,
                 layout_type ltype, property_type ptype = property_type::undef)
      : data_() {
    init(tid, dtype, adims, ltype, ptype);
  }

  /// Strided.
  logical_tensor(std::size_t tid, data_type dtype, const dims& adims,
                 const dims& strides,
                 property_type ptype = property_type::undef)
      : data_() {
    require(adims.size() == strides.size(),
            "dims and strides of a logical tensor differ in their number");
    require_rank(adims);
    error::wrap_c_api(
        tim_graph_logical_tensor_init_with_strides(
            &data_, tid, to_c(dtype), static_cast<std::int32_t>(adims.size()),
            pointer(adims), pointer(strides), to_c(ptype)),
        "could not create a logical tensor with strides");
  }

  /// Opaque.
  logical_tensor(std::size_t tid, data_type dtype, const dims& adims,
                 std::size_t lid, property_type ptype = property_type::undef)
      : data_() {
    init(tid, dtype, adims, layout_type::opaque, ptype);
    data_.layout.layout_id = lid;
  }

  std::size_t get_id() const { return data_.id; }
  data_type get_data_type() const {
    return static_cast<data_type>(data_.data_type);
  }
  property_type get_property_type() const {
    return static_cast<property_type>(data_.property);
  }
  layout_type get_layout_type() const {
    return static_cast<layout_type>(data_.layout_type);
  }

  dims get_dims() const {
    require(data_.ndims >= 0,
            "cannot get dims: the logical tensor's rank is unknown");
    return {data_.dims, data_.dims + data_.ndims};
  }

  dims get_strides() const {
    require(data_.layout_type == tim_graph_layout_type_strided,
            "cannot get strides: the logical tensor is not strided");
    require(data_.ndims >= 0,
            "cannot get strides: the logical tensor's rank is unknown");
    return {data_.layout.strides, data_.layout.strides + data_.ndims};
  }

  std::size_t get_layout_id() const {
    require(data_.layout_type == tim_graph_layout_type_opaque,
            "cannot get a layout id: the logical tensor is not opaque");
    return data_.layout.layout_id;
  }

  /// Bytes; SIZE_MAX where layout or dims do not tell.
  std::size_t get_mem_size() const {
    std::size_t size = 0;
    error::wrap_c_api(tim_graph_logical_tensor_get_mem_size(&data_, &size),
                      "could not get the size of a logical tensor");
    return size;
  }

  /// Members are equal, and bytes lie alike.
  bool is_equal(const logical_tensor& other) const {
    std::uint8_t equal = 0;
    error::wrap_c_api(
        tim_graph_logical_tensor_is_equal(&data_, &other.data_, &equal),
        "could not compare logical tensors");
    return equal != 0;
  }

 private:
  friend class op;
  friend class tensor;
  friend class partition;
  friend class compiled_partition;
  friend const tim_graph_logical_tensor_t* convert_to_c(
      const logical_tensor& of) {
    return &of.data_;
  }

  static tim_graph_data_type_t to_c(data_type type) {
    return static_cast<tim_graph_data_type_t>(type);
  }
  static tim_graph_layout_type_t to_c(layout_type type) {
    return static_cast<tim_graph_layout_type_t>(type);
  }
  static tim_graph_tensor_property_t to_c(property_type type) {
    return static_cast<tim_graph_tensor_property_t>(type);
  }
  // Never null, as the boundary wants.
  static const dim* pointer(const dims& list) {
    static const dim nothing = 0;
    return list.empty() ? &nothing : list.data();
  }
  static void require(bool holds, const char* text) {
    if (!holds) error::fail(tim_graph_invalid_arguments, text);
  }
  static void require_rank(const dims& adims) {
    require(adims.size() <= TIM_GRAPH_MAX_NDIMS,
            "a logical tensor has more than 12 dims");
  }

  void init(std::size_t tid, data_type dtype, const dims& adims,
            layout_type ltype, property_type ptype) {
    require_rank(adims);
    error::wrap_c_api(
        tim_graph_logical_tensor_init_with_dims(
            &data_, tid, to_c(dtype), static_cast<std::int32_t>(adims.size()),
            pointer(adims), to_c(ltype), to_c(ptype)),
        "could not create a logical tensor with dims");
  }

  tim_graph_logical_tensor_t data_;
};

}  // namespace graph
}  // namespace tim

#endif  // TIM_GRAPH_LOGICAL_TENSOR_HPP_
