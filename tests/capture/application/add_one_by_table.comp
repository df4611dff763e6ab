#version 450
#extension GL_EXT_buffer_reference : require
// The same, with the addresses in a table, whose own is a push constant.
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint words[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Table { Words from; Words to; };
layout(push_constant) uniform Push { Table table; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  table.to.words[i] = table.from.words[i] + 1u;
}
