#version 450
#extension GL_EXT_buffer_reference : require
// to[i] = from[i] + 1, where push constants say by their addresses what these are.
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint words[]; };
layout(push_constant) uniform Push { Words from; Words to; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  to.words[i] = from.words[i] + 1u;
}
