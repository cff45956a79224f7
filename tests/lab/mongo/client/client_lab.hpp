#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/lab/mongo.hpp"
#include "holdfast/mongo/client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::proof {

/// A thread that runs an asynchronous client.
class client_loop {
public:
    client_loop() : thread_{[this] { loop_.run(); }} {}
    client_loop(const client_loop&) = delete;
    client_loop& operator=(const client_loop&) = delete;
    ~client_loop()
    {
        busy_.reset();
        thread_.join();  // which ends by itself if nothing is left
    }

    /// Runs it there, and waits for what it gives or throws.
    template <class T>
    T run(boost::asio::awaitable<T> what)
    {
        return boost::asio::co_spawn(loop_, std::move(what), boost::asio::use_future).get();
    }
    boost::asio::any_io_executor executor() { return loop_.get_executor(); }

private:
    boost::asio::io_context loop_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_{
        loop_.get_executor()};
    std::thread thread_;
};

/// Follows the topology, for those who wait for it.
class topology_watch final : public mongo::event_listener {
public:
    void on(const mongo::events::topology_description_changed& e) noexcept override
    {
        const std::scoped_lock lock{mutex_};
        primary_.reset();
        for (const mongo::server_description& one : e.current.servers) {
            if (one.type == "RSPrimary")
                primary_ = one.address.value();
        }
        changed_.notify_all();
    }
    void on(const mongo::events::server_heartbeat_succeeded& e) noexcept override
    {
        const std::scoped_lock lock{mutex_};
        awaited_ += e.awaited ? 1 : 0;
        changed_.notify_all();
    }

    bool wait_for_primary(const std::string& address)
    {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, std::chrono::seconds{20},
                                 [&] { return primary_ == address; });
    }
    std::size_t awaited() const
    {
        const std::scoped_lock lock{mutex_};
        return awaited_;
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<std::string> primary_;
    std::size_t awaited_ = 0;
};

/// An insert that survives the loss of one member.
inline bson::document safe_insert(int id, const std::string& text = "boats")
{
    return bson::doc("insert", "boats", "documents",
                     bson::list(bson::object("_id", id, "text", text)), "writeConcern",
                     bson::object("w", "majority"));
}

inline mongo::command_options as_write()
{
    return {.kind = mongo::command_kind::write};
}

inline bson::document count_command()
{
    return bson::doc("count", "boats", "query", bson::object());
}

inline std::int64_t number_in(const bson::document& reply)
{
    return reply.get<std::int64_t>("n").value_or(-1);
}

/// A set that the test cannot do without.
inline lab::mongo_cluster started(lab::mongo_options options)
{
    auto set = lab::mongo_cluster::start(std::move(options));
    EXPECT_TRUE(set) << set.error().explain();
    return *std::move(set);
}

}  // namespace holdfast::proof
