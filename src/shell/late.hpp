#pragma once
#include <cassert>
#include <cstddef>
#include <memory>
#include <new>

namespace holdfast::shell {

/// Room for a value that is made later, where it lies: std::optional would make it elsewhere, and
/// move it.
template <class T>
class late {
public:
    late() = default;
    late(const late&) = delete;
    late& operator=(const late&) = delete;
    ~late() { clear(); }

    /// Instead of the value that there may be.
    template <class Make>
    void make(Make&& by)
    {
        clear();
        ::new (static_cast<void*>(room_)) T(by());
        full_ = true;
    }

    T& operator*() noexcept
    {
        assert(full_);
        return *std::launder(reinterpret_cast<T*>(room_));
    }

private:
    void clear() noexcept
    {
        if (full_)
            std::destroy_at(&**this);
        full_ = false;
    }

    alignas(T) std::byte room_[sizeof(T)];
    bool full_ = false;
};

}  // namespace holdfast::shell
