#pragma once
#include "client/traffic.hpp"
#include "holdfast/mongo/collection.hpp"
#include "holdfast/mongo/error.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::proof {

using boost::asio::use_awaitable;

inline const bson::document everything = bson::doc();
inline const bson::document change = bson::doc("$set", bson::object("a", 1));
inline const bson::document whole = bson::doc("a", 1);

/// A hello with another maxWriteBatchSize.
inline bson::document small_batches(bson::view hello)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    for (const bson::element& one : hello) {
        if (one.key() == "maxWriteBatchSize")
            out.add("maxWriteBatchSize", 2);
        else
            out.copy(one);
    }
    (void)out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

/// A scripted server that takes two writes at a time and finds them all good, and a client.
class shop {
public:
    explicit shop(const std::string& more = {})
    {
        server.on_hello([this](const scripted_command&) {
            return scripted_reply{small_batches(s.set.hello_of("a:27017").view())};
        });
        for (const char* const name : {"insert", "update", "delete"})
            server.on(name,
                      [](bson::view) { return bson::doc("n", 1, "nModified", 1, "ok", 1.0); });
        server.on("findAndModify", [](bson::view) { return bson::doc("ok", 1.0); });
        server.on("aggregate", [](bson::view) {
            return bson::doc(
                "cursor",
                bson::object("id", std::int64_t{0}, "ns", "sea.coll", "firstBatch", bson::list()),
                "ok", 1.0);
        });
        s.connect(more);
    }

    /// From now on all inserts are of two documents, or of fewer.
    void accept_pairs()
    {
        server.on("insert", [](bson::view) { return bson::doc("n", 2, "ok", 1.0); });
    }

    mongo::collection test_collection() { return (*s.client)["sea"]["coll"]; }

    template <class T>
    result<T> get(runtime::awaitable<result<T>> what)
    {
        std::optional<result<T>> outcome;
        s.app.start(keep(std::move(what), &outcome));
        if (!wait_for(s, [&] { return outcome.has_value(); }))
            return error{error_code{}, "it does not end"};
        return *std::move(outcome);
    }
    template <class T>
    bool good(runtime::awaitable<result<T>> what)
    {
        const auto outcome = get(std::move(what));
        EXPECT_TRUE(outcome) << outcome.error().explain();
        return outcome.has_value();
    }

    /// The write commands so far: their names, with the numbers that they carry.
    std::string story() const
    {
        std::string received;
        for (const scripted_command& one : server.commands()) {
            if (is_hello(one.name) || one.name == "endSessions")
                continue;
            received += (received.empty() ? "" : " ") + one.name;
            if (const bson::element number = one.body["txnNumber"])
                received += ":" + (number.type() == bson::type::int64
                                       ? std::to_string(number.as_int64())
                                       : std::string{"not an int64"});
        }
        return received;
    }

    /// Closes the client, of which nothing may be left. The rules of the client tests are for
    /// operations of one command.
    void close() { EXPECT_EQ(s.close(), ""); }

    scene s{{.hosts = {"a"}}};
    scripted_server& server = s.server("a");

private:
    template <class T>
    static runtime::awaitable<void> keep(runtime::awaitable<result<T>> what,
                                         std::optional<result<T>>* into)
    {
        auto outcome = co_await std::move(what);
        into->emplace(std::move(outcome));
    }
};

inline mongo::bulk_writes mixed()
{
    mongo::bulk_writes work;
    work.insert_one(whole.view())
        .update_one(everything.view(), change)
        .update_many(everything.view(), change)
        .delete_one(everything.view());
    return work;
}

inline std::vector<bson::document> five_documents()
{
    return std::vector<bson::document>(5, whole);
}

}  // namespace holdfast::proof
