#pragma once
#include "client/couchbase/service_scene.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::proof {

/// {"requestID":"r","results":[{"n":0},...],"status":"success"}
inline std::string reply_with(std::size_t rows, const std::string& tail = R"("status":"success")")
{
    std::string text = R"({"requestID":"r","results":[)";
    for (std::size_t n = 0; n != rows; ++n)
        text += (n == 0 ? "" : ",\n") + std::string{"{\"n\":"} + std::to_string(n) + "}";
    return text + "]," + tail + "}";
}

/// What came of all rows.
struct all_rows {
    std::vector<std::string> rows = {};
    std::string metadata = {};
    std::optional<error> why = {};
    bool done = false;
    time_point ended{};
};

inline runtime::awaitable<void> read_all(std::shared_ptr<shell::couchbase::row_stream> from,
                                         std::shared_ptr<all_rows> into, sim::simulation& clock)
{
    for (;;) {
        while (const auto row = from->take())
            into->rows.emplace_back(*row);
        auto more = co_await from->fetch();
        if (!more)
            into->why = std::move(more).error();
        if (into->why || !*more)
            break;
    }
    into->metadata = from->metadata();
    into->ended = clock.now();
    into->done = true;
}

class row_scene : public service_scene {
public:
    using service_scene::service_scene;

    std::shared_ptr<all_rows> read(const std::shared_ptr<shell::couchbase::row_stream>& from)
    {
        auto made = std::make_shared<all_rows>();
        app.start(read_all(from, made, simulation));
        finish([&] { return made->done; });
        return made;
    }
    std::shared_ptr<all_rows> read(const service_wish& wish = {}) { return read(rows(wish)); }
};

}  // namespace holdfast::proof
