#pragma once
#include "lab/mongo/deployment/deployment.hpp"
#include "truth/backend.hpp"
#include "truth/fault_rules.hpp"

#include <cstdint>
#include <vector>

namespace holdfast::truth {

enum class mongo_fault : std::uint8_t {
    crash,       // of a member, which comes back with its disk
    step_down,   // of the primary
    partition,   // a member alone, for members or for all, or a client without one member
    freeze,      // of a member
    delay,       // slow links that lose and break
    clock_jump,  // of a wall clock
    overload,    // servers that refuse most requests
};
std::span<const std::string_view> mongo_fault_names() noexcept;

class mongo_faults final : public fault_script {
public:
    mongo_faults(storm_hosts& in, lab::mongo::deployment& set, std::size_t count);

private:
    bool happen(std::size_t kind) override;
    bool crash();
    bool step_down();
    runtime::awaitable<void> order_step_down(std::int64_t seconds);
    bool partition();
    bool freeze();
    bool delay();
    bool clock_jump();
    bool overload();
    std::uint64_t refusals() const;
    /// A member that is well: the primary in two of three cases. None: -1.
    int victim();
    void cut(const sim::host& one, const sim::host& other);
    void mend(const sim::host& one, const sim::host& other);

    lab::mongo::deployment& set_;
    std::vector<bool> ill_;  // members that have crashed or stand still
    refusing_time overload_;
};

}  // namespace holdfast::truth
