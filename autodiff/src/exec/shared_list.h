// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

namespace tessera {

/// A list that its copies share until one of them is changed.
template <class T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::initializer_list<T> all) : SharedList(std::vector<T>(all)) {}
  SharedList(std::vector<T> all) : all_(std::make_shared<std::vector<T>>(std::move(all))) {}

  std::size_t size() const { return all_ ? all_->size() : 0; }
  bool empty() const { return size() == 0; }
  const T* begin() const { return all_ ? all_->data() : nullptr; }
  const T* end() const { return begin() + size(); }
  const T& operator[](std::size_t k) const { return (*all_)[k]; }
  const T& front() const { return (*all_)[0]; }
  const T& back() const { return all_->back(); }

  void push_back(T x) { edit().push_back(std::move(x)); }
  /// To be changed: this one's own.
  std::vector<T>& edit() {
    if (!all_)
      all_ = std::make_shared<std::vector<T>>();
    else if (all_.use_count() > 1)
      all_ = std::make_shared<std::vector<T>>(*all_);
    return *all_;
  }

 private:
  std::shared_ptr<std::vector<T>> all_;
};

}  // namespace tessera
