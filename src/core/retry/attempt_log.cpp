#include "core/retry/attempt_log.hpp"

#include <algorithm>

namespace holdfast::core {

void attempt_log::record(attempt one)
{
    ++count_;
    lost_in_flight_ = lost_in_flight_ || one.phase == dispatch_phase::in_flight;
    if (entries_.size() < kept_first + kept_last) {
        entries_.push_back(std::move(one));
        return;
    }
    entries_[oldest_] = std::move(one);
    oldest_ = oldest_ + 1 == entries_.size() ? kept_first : oldest_ + 1;
}

std::vector<attempt> attempt_log::entries() &&
{
    if (entries_.size() > kept_first) {
        const auto ring = entries_.begin() + kept_first;
        std::rotate(ring, entries_.begin() + static_cast<std::ptrdiff_t>(oldest_), entries_.end());
        oldest_ = kept_first;
    }
    return std::move(entries_);
}

std::vector<attempt> attempt_log::entries() const&
{
    auto copy = *this;
    return std::move(copy).entries();
}

}  // namespace holdfast::core
