#pragma once
#include "holdfast/mongo/events.hpp"
#include "runtime/wait.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace holdfast::spec {

/// Keeps the events of a pool, under the names that official files use. Events are delivered and
/// read on one thread.
class pool_listener final : public mongo::event_listener {
public:
    explicit pool_listener(runtime::world& in) : news{in} {}

    void on(const mongo::events::pool_created& e) noexcept override;
    void on(const mongo::events::pool_ready& e) noexcept override;
    void on(const mongo::events::pool_cleared& e) noexcept override;
    void on(const mongo::events::pool_closed& e) noexcept override;
    void on(const mongo::events::connection_created& e) noexcept override;
    void on(const mongo::events::connection_ready& e) noexcept override;
    void on(const mongo::events::connection_closed& e) noexcept override;
    void on(const mongo::events::connection_check_out_started& e) noexcept override;
    void on(const mongo::events::connection_check_out_failed& e) noexcept override;
    void on(const mongo::events::connection_checked_out& e) noexcept override;
    void on(const mongo::events::connection_checked_in& e) noexcept override;

    const std::vector<boost::json::object>& events() const noexcept { return events_; }
    std::int64_t count(std::string_view type) const;

    runtime::event news;  // of each event

private:
    void add(std::string_view type, const endpoint& server, boost::json::object more = {});

    std::vector<boost::json::object> events_;
};

}  // namespace holdfast::spec
