#pragma once
#include "holdfast/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::core {

/// A request as it stands in a report. What is not known is left out.
struct reported_request {
    duration total{};
    std::optional<duration> encode = {};
    std::optional<duration> last_dispatch = {};
    std::optional<duration> total_dispatch = {};  // of all attempts
    std::optional<duration> last_server = {};
    std::optional<duration> total_server = {};
    std::string operation = {};
    std::string local_id = {};  // of the connection
    std::string operation_id = {};
    std::string local_socket = {};
    std::string remote_socket = {};
    std::chrono::milliseconds timeout{};  // zero: none
    std::string reason = {};
};

/// The longest requests of an interval, by service, and how many there were in all. Its memory has
/// a limit, however many there are.
class request_report {
public:
    /// `sample`: so many requests of each service are shown.
    explicit request_report(std::size_t sample) : sample_{sample} {}

    /// Counts a request. `describe()` gives the reported_request, and is called only if this one
    /// is among the longest so far.
    template <std::invocable<> Describe>
    void add(std::string_view service, duration total, Describe&& describe)
    {
        requests& of = of_service(service);
        ++of.count;
        if (is_longer(of, total))
            keep(of, std::forward<Describe>(describe)());
    }

    bool empty() const noexcept { return services_.empty(); }

    /// {"kv":{"total_count":12,"top_requests":[{"total_duration_us":...,...},...]}}, the longest
    /// request first.
    std::string to_json() const;

private:
    struct requests {
        std::uint64_t count = 0;
        std::vector<reported_request> longest = {};  // in that order
    };

    requests& of_service(std::string_view service);
    bool is_longer(const requests& of, duration total) const noexcept
    {
        return of.longest.size() < sample_ ||
               (!of.longest.empty() && total > of.longest.back().total);
    }
    void keep(requests& of, reported_request which);

    std::size_t sample_;
    std::map<std::string, requests, std::less<>> services_;
};

}  // namespace holdfast::core
