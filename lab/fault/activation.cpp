#include "lab/fault/activation.hpp"

namespace holdfast::lab {

activation activation::times(std::int64_t count) noexcept
{
    return count <= 0 ? activation{} : activation{kind::times, count, 0};
}

bool activation::hits(double chance) noexcept
{
    switch (kind_) {
    case kind::never:
        return false;
    case kind::always:
        return true;
    case kind::times:
        if (--count_ <= 0)
            kind_ = kind::never;
        return true;
    case kind::after:
        if (count_ <= 0)
            return true;
        --count_;
        return false;
    case kind::probability:
        return chance < probability_;
    }
    return false;
}

}  // namespace holdfast::lab
