// The numbers of mix, as backends/kernels/mix.h defines them.

const uint kPosition = 0x85ebca77u;
const uint kIndex = 0x9e3779b1u;
const uint kWord = 0xc2b2ae3du;
const uint kOld = 0xa7u;

uint scramble(uint v) {
  v ^= v >> 16;
  v *= 0x7feb352du;
  v ^= v >> 15;
  v *= 0x846ca68bu;
  return v ^ (v >> 16);
}

// What a word adds to the digest.
uint digest_term(uint position, uint k, uint word) {
  return scramble(position * kPosition + k * kIndex + word * kWord);
}

uint seed_of(uint digest, uint identity, uint position) {
  return scramble((digest ^ identity) + position * kPosition);
}

uint value_of(uint seed, uint k) { return scramble(seed + k * kIndex); }

// The bytes of a partial write.
uint partly_overwritten(uint old, uint value) {
  uint word = 0;
  for (uint shift = 0; shift < 32; shift += 8) {
    word |= ((((old >> shift) & 0xffu) * kOld + (value >> shift)) & 0xffu) << shift;
  }
  return word;
}

// The low `byte_count` bytes of `word`.
uint low_bytes(uint word, uint byte_count) {
  return byte_count >= 4 ? word : word & ((1u << (8 * byte_count)) - 1u);
}

// In the order of AtomicOp; an atomic without operation adds.
const uint kMin = 2;
const uint kMax = 3;
const uint kAnd = 4;
const uint kOr = 5;
const uint kXor = 6;

// What an atomic leaves on a byte.
uint atomic_result(uint op, uint old, uint value) {
  if (op == kMin) return min(old, value);
  if (op == kMax) return max(old, value);
  if (op == kAnd) return old & value;
  if (op == kOr) return old | value;
  if (op == kXor) return old ^ value;
  return (old + value) & 0xffu;
}

// Byte `i` of the operand that holds value(seed, 0), value(seed, 1), …
uint value_byte(uint seed, uint i) { return (value_of(seed, i / 4) >> (8 * (i % 4))) & 0xffu; }
