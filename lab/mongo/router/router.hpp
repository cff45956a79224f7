#pragma once
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/router/set_view.hpp"
#include "lab/mongo/serve/node_service.hpp"
#include "lab/mongo/serve/service.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace holdfast::lab::mongo {

struct router_options {
    std::vector<std::string> members = {};  // where to ask first
    runtime::tls_ptr tls = {};
    duration timeout = std::chrono::seconds{15};  // for finding a primary
};

/// A mongos in front of one set. It answers for itself who it is, its fail points, parameters and
/// logins, with a node of its own that has all commands; everything else goes to the primary, or to
/// a secondary where $readPreference allows it. A command that a member has certainly not carried
/// out, or may be repeated safely, is tried again on the next primary.
class router final : public service {
public:
    router(node& own, router_options options);

    /// Nothing begins to wait for a primary any more.
    void stop();

    bool admits() override { return local_.admits(); }
    std::int64_t opened() override { return local_.opened(); }
    void closed(client_facts& who) override { local_.closed(who); }
    result<progress> answer(request& what, bson::builder& reply) override;
    runtime::awaitable<result<void>> answer_later(request& what, bson::builder& reply) override;
    void close_reply(const request& what, bson::builder& reply) override;
    void write_error(const request& what, const error& why, bson::builder& reply) override;
    runtime::event& news() override { return node_.news; }
    std::optional<injected_fault> fault_for(const request& what) override;
    concern_state check_concern(const request&) override { return concern_state::met; }

private:
    /// Where a command goes, and whether it may go twice.
    struct route {
        std::string host = {};  // of the cursor's owner; empty: by role
        bool secondary = false;
        bool secondary_only = false;
        bool safe_to_repeat = false;
    };
    result<route> route_of(const request& what, const command& known) const;
    runtime::awaitable<result<std::string>> find_host(route by, time_point until);
    runtime::awaitable<result<void>> forward(request& what, bson::builder& reply, route by);
    /// True if the command is to be tried again.
    bool disowned(bson::view reply, const route& by, std::string_view host);
    void remember_cursor(const request& what, bson::view reply, std::string_view host);
    runtime::awaitable<result<void>> fetch_users();
    void add_times(bson::builder& reply) const;

    node& node_;
    node_service local_;
    const router_options options_;
    set_view set_;
    std::map<std::int64_t, std::string> cursors_;
    std::deque<std::int64_t> cursor_order_;
    bool stopping_ = false;
};

}  // namespace holdfast::lab::mongo
