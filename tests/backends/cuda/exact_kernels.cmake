# Looks at the PTX of the CUDA backend's kernels, what they compute with: IEEE operations rounded to
# nearest, and none that is fused, approximate or flushes subnormal numbers.
file(READ ${PTX} text)
foreach(inexact IN ITEMS "fma\\.rn" "mad\\.[a-z]+\\.f(32|64)" "\\.approx" "\\.ftz" "div\\.full" "atom[a-z.]*\\.f32")
  string(REGEX MATCH "[^\n]*${inexact}[^\n]*" found "${text}")
  if(found)
    message(FATAL_ERROR "The kernels have an operation that the CPU has not: ${found}")
  endif()
endforeach()
foreach(exact IN ITEMS add mul div sqrt)
  if(NOT text MATCHES "${exact}\\.rn\\.f32")
    message(FATAL_ERROR "The kernels have no ${exact}.rn.f32: this looks at something else.")
  endif()
endforeach()
