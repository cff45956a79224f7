#include "shell/known_keys.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::shell {

std::vector<core::sasl::scram_keys> known_keys::all() const
{
    const std::scoped_lock lock{mutex_};
    return keys_;
}

void known_keys::add(core::sasl::scram_keys keys)
{
    const auto same = [&](const core::sasl::scram_keys& other) {
        return other.hash == keys.hash && other.salt == keys.salt &&
               other.iterations == keys.iterations;
    };
    const std::scoped_lock lock{mutex_};
    if (std::ranges::any_of(keys_, same))
        return;
    if (keys_.size() == most)
        keys_.erase(keys_.begin());
    keys_.push_back(std::move(keys));
}

}  // namespace holdfast::shell
