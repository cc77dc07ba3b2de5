// Images of user kernels as dense memory: this text stands before a user's
// source that names image2d_t or image2d_array_t.
//
// Memory: a header of 64 bytes (width, height, layers, element type), then the
// elements, x fastest, then y, then the layer.  One element per texel:
// - reads give (value, 0, 0, 1).  Coordinates outside are clamped to the edge;
//   writes outside are dropped.  Access qualifiers mean nothing: what is
//   __write_only can be read.
// - read_imagef, -i and -ui work on every element type: integers are codes
//   (BOOL8: 0 or 1), float <-> integer rounds to nearest even and saturates.
//   Halves overflow to infinity.  Writing BOOL8 stores "not 0".
// - coordinates are int2 or int4; an image2d_t ignores the layer .z, an array
//   without one means layer 0.  A scalar may be written in place of a vector.
// - samplers are accepted and ignored: coordinates count texels, the texel that
//   contains a float coordinate is taken, and the edge is clamped to.

#define TIM_IMAGE_FLOAT32 0
#define TIM_IMAGE_FLOAT16 1
#define TIM_IMAGE_INT8 2
#define TIM_IMAGE_UINT8 3
#define TIM_IMAGE_INT16 4
#define TIM_IMAGE_UINT16 5
#define TIM_IMAGE_INT32 6
#define TIM_IMAGE_UINT32 7
#define TIM_IMAGE_INT64 8
#define TIM_IMAGE_BOOL8 9

typedef struct {
  int width;
  int height;
  int layers;
  int type;
} tim_image;
// The host knows the parameters by the names of these types.
typedef struct {
  tim_image image;
} tim_image2d;
typedef struct {
  tim_image image;
} tim_image2d_array;

#define TIM_IMAGE_FUNCTION __attribute__((overloadable, unused)) static inline
#define TIM_IMAGE_ELEMENTS(T) ((__global T*)((__global char*)image + 64))

// tim_load_T(image, i): element i as a T.  Conversions of integers do not
// round: libclc, which Mesa compiles with, has none that say how.
#define TIM_IMAGE_LOAD(T, convert_real, convert)                            \
  TIM_IMAGE_FUNCTION T tim_load_##T(__global const tim_image* image,        \
                                    size_t i) {                             \
    switch (image->type) {                                                  \
      case TIM_IMAGE_FLOAT32:                                               \
        return convert_real(TIM_IMAGE_ELEMENTS(const float)[i]);            \
      case TIM_IMAGE_FLOAT16:                                               \
        return convert_real(vload_half(i, TIM_IMAGE_ELEMENTS(const half))); \
      case TIM_IMAGE_INT8:                                                  \
        return convert(TIM_IMAGE_ELEMENTS(const char)[i]);                  \
      case TIM_IMAGE_INT16:                                                 \
        return convert(TIM_IMAGE_ELEMENTS(const short)[i]);                 \
      case TIM_IMAGE_UINT16:                                                \
        return convert(TIM_IMAGE_ELEMENTS(const ushort)[i]);                \
      case TIM_IMAGE_INT32:                                                 \
        return convert(TIM_IMAGE_ELEMENTS(const int)[i]);                   \
      case TIM_IMAGE_UINT32:                                                \
        return convert(TIM_IMAGE_ELEMENTS(const uint)[i]);                  \
      case TIM_IMAGE_INT64:                                                 \
        return convert(TIM_IMAGE_ELEMENTS(const long)[i]);                  \
      default:                                                              \
        return convert(TIM_IMAGE_ELEMENTS(const uchar)[i]);                 \
    }                                                                       \
  }
TIM_IMAGE_LOAD(float, convert_float, convert_float)
TIM_IMAGE_LOAD(int, convert_int_sat_rte, convert_int_sat)
TIM_IMAGE_LOAD(uint, convert_uint_sat_rte, convert_uint_sat)

// tim_store(image, i, value): element i becomes `value`, a T; `rounding` ends
// the names of the conversions to integers.
#define TIM_IMAGE_STORE(T, rounding)                                           \
  TIM_IMAGE_FUNCTION void tim_store(__global const tim_image* image, size_t i, \
                                    T value) {                                 \
    switch (image->type) {                                                     \
      case TIM_IMAGE_FLOAT32:                                                  \
        TIM_IMAGE_ELEMENTS(float)[i] = convert_float(value);                   \
        break;                                                                 \
      case TIM_IMAGE_FLOAT16:                                                  \
        vstore_half_rte(convert_float(value), i, TIM_IMAGE_ELEMENTS(half));    \
        break;                                                                 \
      case TIM_IMAGE_INT8:                                                     \
        TIM_IMAGE_ELEMENTS(char)[i] = convert_char##rounding(value);           \
        break;                                                                 \
      case TIM_IMAGE_UINT8:                                                    \
        TIM_IMAGE_ELEMENTS(uchar)[i] = convert_uchar##rounding(value);         \
        break;                                                                 \
      case TIM_IMAGE_INT16:                                                    \
        TIM_IMAGE_ELEMENTS(short)[i] = convert_short##rounding(value);         \
        break;                                                                 \
      case TIM_IMAGE_UINT16:                                                   \
        TIM_IMAGE_ELEMENTS(ushort)[i] = convert_ushort##rounding(value);       \
        break;                                                                 \
      case TIM_IMAGE_INT32:                                                    \
        TIM_IMAGE_ELEMENTS(int)[i] = convert_int##rounding(value);             \
        break;                                                                 \
      case TIM_IMAGE_UINT32:                                                   \
        TIM_IMAGE_ELEMENTS(uint)[i] = convert_uint##rounding(value);           \
        break;                                                                 \
      case TIM_IMAGE_INT64:                                                    \
        TIM_IMAGE_ELEMENTS(long)[i] = convert_long##rounding(value);           \
        break;                                                                 \
      default:                                                                 \
        TIM_IMAGE_ELEMENTS(uchar)[i] = value != 0;                             \
    }                                                                          \
  }
TIM_IMAGE_STORE(float, _sat_rte)
TIM_IMAGE_STORE(int, _sat)
TIM_IMAGE_STORE(uint, _sat)

// at = (x, y, layer, any).
TIM_IMAGE_FUNCTION size_t tim_index(__global const tim_image* image, int4 at) {
  return ((size_t)at.z * image->height + at.y) * image->width + at.x;
}
TIM_IMAGE_FUNCTION int4 tim_clamp(__global const tim_image* image, int4 at) {
  const int4 end = (int4)(image->width, image->height, image->layers, 1);
  return clamp(at, (int4)(0), end - 1);
}

// tim_texel(image, coordinate): (x, y, layer, 0).
#define TIM_IMAGE_TEXEL(kind, coordinate, x, y, layer)          \
  TIM_IMAGE_FUNCTION int4 tim_texel(__global const kind* image, \
                                    coordinate at) {            \
    return (int4)(x, y, layer, 0);                              \
  }
#define TIM_IMAGE_FLOOR(x) convert_int_sat_rtn(x)
TIM_IMAGE_TEXEL(tim_image2d, int2, at.x, at.y, 0)
TIM_IMAGE_TEXEL(tim_image2d, int4, at.x, at.y, 0)
TIM_IMAGE_TEXEL(tim_image2d, float2, TIM_IMAGE_FLOOR(at.x),
                TIM_IMAGE_FLOOR(at.y), 0)
TIM_IMAGE_TEXEL(tim_image2d, float4, TIM_IMAGE_FLOOR(at.x),
                TIM_IMAGE_FLOOR(at.y), 0)
TIM_IMAGE_TEXEL(tim_image2d_array, int2, at.x, at.y, 0)
TIM_IMAGE_TEXEL(tim_image2d_array, int4, at.x, at.y, at.z)
TIM_IMAGE_TEXEL(tim_image2d_array, float2, TIM_IMAGE_FLOOR(at.x),
                TIM_IMAGE_FLOOR(at.y), 0)
TIM_IMAGE_TEXEL(tim_image2d_array, float4, TIM_IMAGE_FLOOR(at.x),
                TIM_IMAGE_FLOOR(at.y), convert_int_sat_rte(at.z))

#define TIM_IMAGE_READ(kind, coordinate, suffix, T)                          \
  TIM_IMAGE_FUNCTION T##4 tim_read_image##suffix(__global const kind* image, \
                                                 coordinate at) {            \
    const int4 inside = tim_clamp(&image->image, tim_texel(image, at));      \
    const size_t i = tim_index(&image->image, inside);                       \
    return (T##4)(tim_load_##T(&image->image, i), 0, 0, 1);                  \
  }
#define TIM_IMAGE_SAMPLE(kind, coordinate, suffix, T)                 \
  TIM_IMAGE_FUNCTION T##4 tim_read_image##suffix(                     \
      __global const kind* image, sampler_t sampler, coordinate at) { \
    return tim_read_image##suffix(image, tim_texel(image, at));       \
  }
#define TIM_IMAGE_WRITE(kind, coordinate, suffix, T)                           \
  TIM_IMAGE_FUNCTION void tim_write_image##suffix(__global const kind* image,  \
                                                  coordinate at, T##4 value) { \
    const int4 texel = tim_texel(image, at);                                   \
    if (any(texel != tim_clamp(&image->image, texel))) return;                 \
    tim_store(&image->image, tim_index(&image->image, texel), value.x);        \
  }
#define TIM_IMAGE_ACCESS(kind, suffix, T)   \
  TIM_IMAGE_READ(kind, int2, suffix, T)     \
  TIM_IMAGE_READ(kind, int4, suffix, T)     \
  TIM_IMAGE_SAMPLE(kind, int2, suffix, T)   \
  TIM_IMAGE_SAMPLE(kind, int4, suffix, T)   \
  TIM_IMAGE_SAMPLE(kind, float2, suffix, T) \
  TIM_IMAGE_SAMPLE(kind, float4, suffix, T) \
  TIM_IMAGE_WRITE(kind, int2, suffix, T)    \
  TIM_IMAGE_WRITE(kind, int4, suffix, T)
TIM_IMAGE_ACCESS(tim_image2d, f, float)
TIM_IMAGE_ACCESS(tim_image2d, i, int)
TIM_IMAGE_ACCESS(tim_image2d, ui, uint)
TIM_IMAGE_ACCESS(tim_image2d_array, f, float)
TIM_IMAGE_ACCESS(tim_image2d_array, i, int)
TIM_IMAGE_ACCESS(tim_image2d_array, ui, uint)

#define TIM_IMAGE_EXTENTS(kind)                                             \
  TIM_IMAGE_FUNCTION int tim_get_image_width(__global const kind* image) {  \
    return image->image.width;                                              \
  }                                                                         \
  TIM_IMAGE_FUNCTION int tim_get_image_height(__global const kind* image) { \
    return image->image.height;                                             \
  }                                                                         \
  TIM_IMAGE_FUNCTION int2 tim_get_image_dim(__global const kind* image) {   \
    return (int2)(image->image.width, image->image.height);                 \
  }
TIM_IMAGE_EXTENTS(tim_image2d)
TIM_IMAGE_EXTENTS(tim_image2d_array)
TIM_IMAGE_FUNCTION size_t
tim_get_image_array_size(__global const tim_image2d_array* image) {
  return (size_t)image->image.layers;
}

#define image2d_t __global tim_image2d*
#define image2d_array_t __global tim_image2d_array*
// PoCL has macros of these names.
#undef read_imagef
#undef read_imagei
#undef read_imageui
#undef write_imagef
#undef write_imagei
#undef write_imageui
#undef get_image_width
#undef get_image_height
#undef get_image_dim
#undef get_image_array_size
#define read_imagef tim_read_imagef
#define read_imagei tim_read_imagei
#define read_imageui tim_read_imageui
#define write_imagef tim_write_imagef
#define write_imagei tim_write_imagei
#define write_imageui tim_write_imageui
#define get_image_width tim_get_image_width
#define get_image_height tim_get_image_height
#define get_image_dim tim_get_image_dim
#define get_image_array_size tim_get_image_array_size
#define __read_only
#define __write_only
#define __read_write
#define read_only
#define write_only
#define read_write
