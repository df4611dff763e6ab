#version 450
// to[i] += 1, by atomics alone.
layout(local_size_x = 64) in;
layout(set = 0, binding = 1) buffer To { uint to[]; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < to.length()) atomicAdd(to[i], 1u);
}
