#version 450
// What the sample application is to end with.
layout(location = 0) out uint color;

void main() { color = 7u; }
