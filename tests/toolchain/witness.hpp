#pragma once
#include <set>
#include <string>
#include <utility>

namespace toolchain {

/// An object that notices when the compiler loses count of it. Each one signs in under its address
/// when it is made and out when it is destroyed, so a copy made behind its back, a second
/// destruction and a missing one are all seen.
class witness {
public:
    witness() { sign_in(); }
    witness(const witness& other) : text_{other.text_} { sign_in(); }
    witness(witness&& other) noexcept : text_{std::move(other.text_)} { sign_in(); }
    witness& operator=(const witness&) = default;
    witness& operator=(witness&&) = default;
    ~witness() { contradictions += present.erase(this) != 1; }

    /// True if all that were made were destroyed once.
    static bool all_well() { return contradictions == 0 && present.empty(); }

private:
    void sign_in() { contradictions += !present.insert(this).second; }

    static inline std::set<const witness*> present;
    static inline int contradictions = 0;

    std::string text_ = "longer than what a string keeps inside itself";
};

}  // namespace toolchain
