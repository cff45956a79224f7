#pragma once
#include "holdfast/error.hpp"
#include "needs.hpp"
#include "runtime/world.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::spec::unified {

/// What is to be started. Equal kinds are the same deployment for all cases.
struct lab_kind {
    deployment_kind what = {};
    std::size_t routers = 0;  // of sharded and load_balanced
    bool simulated = false;
    friend auto operator<=>(const lab_kind&, const lab_kind&) = default;
};

std::string describe(const lab_kind& what);

/// Something that a client can connect to, and the world that the client lives in. All on one
/// thread, that of the caller of run().
class deployment {
public:
    deployment() = default;
    deployment(const deployment&) = delete;
    deployment& operator=(const deployment&) = delete;
    virtual ~deployment() = default;

    /// Throws if it cannot be started.
    static std::unique_ptr<deployment> start(const lab_kind& what);

    virtual const lab_kind& kind() const noexcept = 0;
    virtual std::shared_ptr<runtime::world> world() = 0;

    /// Runs it to its end; false if it has not ended after that time, virtual or real. Then it
    /// still stands where it hangs, and goes with the deployment. It must not throw.
    virtual bool run(runtime::awaitable<void> what, duration limit) = 0;
    /// Starts something beside it.
    virtual void start(runtime::awaitable<void> what) = 0;

    /// What clients are given: "host:port,host:port", of one router or of all that there are.
    virtual std::string hosts(bool several_routers) const = 0;
    /// Each server that a client may talk to, one by one.
    virtual std::vector<std::string> nodes() const = 0;

    /// A connection string with these options, which win over those that the deployment needs.
    using uri_options = std::vector<std::pair<std::string, std::string>>;
    std::string uri(bool several_routers, const uri_options& more) const;
    /// That of one of the nodes.
    std::string direct_uri(std::string_view node) const;

private:
    std::string uri_of(std::string_view hosts, uri_options fixed, const uri_options& more) const;
};

}  // namespace holdfast::spec::unified
