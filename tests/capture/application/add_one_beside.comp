#version 450
// to[i] = from[i] + 1, of the second set.
layout(local_size_x = 64) in;
layout(set = 1, binding = 0) readonly buffer From { uint from[]; };
layout(set = 1, binding = 1) buffer To { uint to[]; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < to.length()) to[i] = from[i] + 1u;
}
