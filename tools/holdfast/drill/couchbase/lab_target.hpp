#pragma once
#include "lab/api/own_loop.hpp"
#include "lab/couchbase/cluster/cluster.hpp"
#include "tools/holdfast/drill/target.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::drill {

struct couchbase_lab_options {
    std::size_t nodes = 3;
    std::size_t replicas = 1;
    std::uint16_t port = 0;  // of the first node; 0: free ones
};

/// An embedded Couchbase cluster with one bucket, "default". Nodes that were failed over or removed
/// are replaced, so that the next one can be.
class couchbase_lab_target final : public target {
public:
    static result<std::unique_ptr<couchbase_lab_target>> start(
        const couchbase_lab_options& options);
    ~couchbase_lab_target() override;

    const std::string& uri() const noexcept { return uri_; }
    static constexpr const char* user = "Administrator";
    static constexpr const char* password = "password";
    static constexpr const char* bucket = "default";

    bool supports(fault kind) const noexcept override;
    result<std::size_t> await_leader() override;
    result<void> crash(std::size_t member) override;
    result<void> restart(std::size_t member) override;
    result<void> freeze(std::size_t member) override;
    result<void> thaw(std::size_t member) override;
    result<void> fail_over(std::size_t member) override;
    result<void> fail_over_gracefully(std::size_t member) override;
    result<void> replace_lost() override;
    result<void> rebalance_in() override;
    result<void> rebalance_out(std::size_t member) override;
    result<void> limit_requests(std::int32_t per_second) override;

    bool replicas_promoted() const noexcept override { return promoted_; }

private:
    explicit couchbase_lab_target(const couchbase_lab_options& options);

    result<void> add_node();
    result<void> run(runtime::awaitable<result<void>> what);
    result<void> call(const std::function<result<void>()>& what);

    couchbase_lab_options options_;
    lab::own_loop loop_;
    std::unique_ptr<lab::couchbase::cluster> servers_;
    std::string uri_;
    std::size_t turn_ = 0;
    bool promoted_ = false;
};

}  // namespace holdfast::drill
