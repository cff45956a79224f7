#pragma once
#include "holdfast/lab/mongo.hpp"
#include "holdfast/mongo/sync/client.hpp"
#include "tools/holdfast/drill/target.hpp"

#include <memory>
#include <string>

namespace holdfast::drill {

/// An embedded replica set.
class mongo_lab_target final : public target {
public:
    static result<std::unique_ptr<mongo_lab_target>> start(lab::mongo_options options);

    const std::string& uri() const noexcept { return servers_.uri(); }

    bool supports(fault) const noexcept override { return true; }
    result<std::size_t> await_leader() override;
    result<void> step_down(std::chrono::seconds stays_down) override;
    result<void> crash(std::size_t member) override;
    result<void> restart(std::size_t member) override;
    result<void> freeze(std::size_t member) override;
    result<void> thaw(std::size_t member) override;
    result<void> limit_requests(std::int32_t per_second) override;

private:
    mongo_lab_target(lab::mongo_cluster servers, mongo::sync::client admin) noexcept;

    lab::mongo_cluster servers_;
    mongo::sync::client admin_;  // closed before the servers stop
};

}  // namespace holdfast::drill
