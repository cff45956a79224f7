#pragma once
#include "holdfast/error.hpp"
#include "lab/mongo/peer/peer.hpp"
#include "runtime/awaitable.hpp"
#include "runtime/tls.hpp"
#include "runtime/world.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {

/// What a router knows of the set behind it, learned by asking when it has to know: nothing runs
/// while no request asks. Keeps connections for later use.
class set_view {
public:
    set_view(runtime::world& in, std::vector<std::string> seeds, runtime::tls_ptr tls,
             std::string cluster_key);

    /// The primary's address, looked for until then. 133 if there is none.
    runtime::awaitable<result<std::string>> find_primary(time_point until);
    /// One of the secondaries in turn; empty if there is none.
    runtime::awaitable<std::string> find_secondary();

    /// The last known primary is gone, or is no primary any more.
    void doubt(std::string_view host);

    runtime::awaitable<result<std::unique_ptr<peer>>> borrow(std::string host, time_point until);
    void give_back(std::string_view host, std::unique_ptr<peer> line);
    void close_all();

private:
    /// What one walk over all members has found.
    struct sight {
        std::string primary = {};
        std::vector<std::string> secondaries = {};
    };
    runtime::awaitable<void> look();
    runtime::awaitable<void> look_at(std::string host, std::shared_ptr<sight> into);

    runtime::world& world_;
    std::vector<std::string> hosts_;
    runtime::tls_ptr tls_;
    std::string cluster_key_;
    std::string primary_ = {};
    std::vector<std::string> secondaries_ = {};
    std::size_t turn_ = 0;
    time_point looked_{};
    bool knows_ = false;
    std::map<std::string, std::vector<std::unique_ptr<peer>>, std::less<>> idle_;
};

}  // namespace holdfast::lab::mongo
