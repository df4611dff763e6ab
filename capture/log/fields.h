// Fields: how the members of a record become bytes and are read back. A record lists them once, in
// each_field(); whoever counts, writes or reads bytes visits that list. Numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace interlock {

// Other members have each_field(), too.
template <typename T>
inline constexpr bool kIsNumber = std::is_integral_v<T> || std::is_enum_v<T>;

// Counts the bytes that ByteFields writes.
class SizeFields {
 public:
  template <typename... Members>
  void operator()(const Members&... members) {
    (add(members), ...);
  }

  size_t size_bytes() const { return size_bytes_; }

 private:
  template <typename T>
  requires kIsNumber<T>
  void add(const T&) { size_bytes_ += sizeof(T); }
  template <typename T>
  requires(!kIsNumber<T>) void add(const T& group) { T::each_field(group, *this); }
  void add(const std::string& text) { size_bytes_ += sizeof(uint32_t) + text.size(); }
  template <typename T>
  void add(const std::vector<T>& list) {
    size_bytes_ += sizeof(uint32_t);
    if constexpr (kIsNumber<T>) {
      size_bytes_ += list.size() * sizeof(T);
    } else {
      for (const T& item : list) T::each_field(item, *this);
    }
  }

  size_t size_bytes_ = 0;
};

// Writes to memory that has room.
class ByteFields {
 public:
  explicit ByteFields(std::byte* to) : to_(to) {}

  template <typename... Members>
  void operator()(const Members&... members) {
    (add(members), ...);
  }

 private:
  void copy(const void* from, size_t size_bytes) {
    if (size_bytes == 0) return;  // Of an empty list there is no address.
    std::memcpy(to_, from, size_bytes);
    to_ += size_bytes;
  }
  template <typename T>
  requires kIsNumber<T>
  void add(const T& number) { copy(&number, sizeof(T)); }
  template <typename T>
  requires(!kIsNumber<T>) void add(const T& group) { T::each_field(group, *this); }
  void add(const std::string& text) {
    add(static_cast<uint32_t>(text.size()));
    copy(text.data(), text.size());
  }
  template <typename T>
  void add(const std::vector<T>& list) {
    add(static_cast<uint32_t>(list.size()));
    if constexpr (kIsNumber<T>) {
      copy(list.data(), list.size() * sizeof(T));
    } else {
      for (const T& item : list) T::each_field(item, *this);
    }
  }

  std::byte* to_;
};

// Reads what anybody may have written: is_whole() is false once something was missing, and all that
// follows is zero. No list is longer than its bytes allow.
class ParsedFields {
 public:
  explicit ParsedFields(std::span<const std::byte> from) : from_(from) {}

  template <typename... Members>
  void operator()(Members&... members) {
    (take(members), ...);
  }

  bool is_whole() const { return is_whole_; }
  size_t rest_bytes() const { return from_.size(); }

 private:
  bool copy(void* to, size_t size_bytes) {
    is_whole_ = is_whole_ && size_bytes <= from_.size();
    if (!is_whole_) return false;
    if (size_bytes > 0) std::memcpy(to, from_.data(), size_bytes);
    from_ = from_.subspan(size_bytes);
    return true;
  }
  template <typename T>
  requires kIsNumber<T>
  void take(T& number) {
    if (!copy(&number, sizeof(T))) number = {};
  }
  template <typename T>
  requires(!kIsNumber<T>) void take(T& group) { T::each_field(group, *this); }
  void take(std::string& text) {
    text.resize(bounded_count(1));
    copy(text.data(), text.size());
  }
  template <typename T>
  void take(std::vector<T>& list) {
    if constexpr (kIsNumber<T>) {
      list.resize(bounded_count(sizeof(T)));
      copy(list.data(), list.size() * sizeof(T));
    } else {
      SizeFields least;  // Of an item whose own lists are empty.
      const T empty;
      T::each_field(empty, least);
      list.resize(bounded_count(least.size_bytes()));
      for (T& item : list) T::each_field(item, *this);
    }
  }
  size_t bounded_count(size_t item_bytes) {
    uint32_t count = 0;
    take(count);
    is_whole_ = is_whole_ && count <= from_.size() / item_bytes;
    return is_whole_ ? count : 0;
  }

  std::span<const std::byte> from_;
  bool is_whole_ = true;
};

}  // namespace interlock
