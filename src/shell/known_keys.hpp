#pragma once
#include "core/sasl/scram.hpp"

#include <cstddef>
#include <mutex>
#include <vector>

namespace holdfast::shell {

/// SCRAM keys of earlier logins, which are slow to compute. Shared by all connections of a client.
class known_keys {
public:
    std::vector<core::sasl::scram_keys> all() const;
    void add(core::sasl::scram_keys keys);

private:
    static constexpr std::size_t most = 4;  // one per mechanism, and some for changed passwords

    mutable std::mutex mutex_;
    std::vector<core::sasl::scram_keys> keys_;
};

}  // namespace holdfast::shell
