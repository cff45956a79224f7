#pragma once
#include "client/traffic.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/mongo/error.hpp"

namespace holdfast::proof {

using found = std::optional<bson::document>;

/// A batch as a server sends it; `documents` is Extended JSON.
inline scripted_reply batch(std::string_view field, std::int64_t id, std::string_view documents)
{
    const auto list = bson::array_from_json(documents).value();
    return {.body = bson::doc("cursor", bson::object("id", id, "ns", "sea.coll", field, list), "ok",
                              1.0)};
}
inline scripted_reply first(std::int64_t id, std::string_view documents)
{
    return batch("firstBatch", id, documents);
}
inline scripted_reply more(std::int64_t id, std::string_view documents)
{
    return batch("nextBatch", id, documents);
}
inline scripted_reply refusal(int code)
{
    return {.body = bson::doc("ok", 0.0, "code", code, "errmsg", "no")};
}

/// A scene whose only server has a cursor.
struct reading {
    scene s{{.hosts = {"a"}}};
    scripted_server& server = s.server("a");

    explicit reading(scripted_reply opened, std::vector<scripted_reply> then = {refusal(1)},
                     const std::string& settings = {}, bool balanced = false)
    {
        server.on_command("find", in_turn({std::move(opened)}));
        server.on_command("getMore", in_turn(std::move(then)));
        server.on("killCursors", [](bson::view) { return bson::doc("ok", 1.0); });
        if (balanced) {
            server.on_hello(
                [](const scripted_command&) { return scripted_reply{.body = hello_of_service()}; });
            s.connect_to("mongodb://a:27017/?loadBalanced=true" + settings);
        } else {
            s.connect(settings);
        }
    }

    mongo::cursor find(mongo::find_options options = {})
    {
        return (*s.client)["sea"]["coll"].find(bson::doc(), options);
    }

    template <class T, class Start>
    result<T> wait(Start&& start)
    {
        std::optional<result<T>> outcome;
        start([&](result<T> got) { outcome.emplace(std::move(got)); });
        if (!wait_for(s, [&] { return outcome.has_value(); }))
            return error{error_code{}, "nothing came"};
        return *std::move(outcome);
    }
    /// The _id of the next document, 0 if there is none, -1 after an error.
    int next(mongo::cursor& of)
    {
        return id_of(wait<found>([&](auto done) { of.next(done); }));
    }
    int try_next(mongo::cursor& of)
    {
        return id_of(wait<found>([&](auto done) { of.try_next(done); }));
    }
    result<bool> next_batch(mongo::cursor& of)
    {
        return wait<bool>([&](auto done) { of.next_batch(done); });
    }
    static int id_of(const result<found>& one)
    {
        if (!one)
            return -1;
        return *one ? (*one)->get<int>("_id").value() : 0;
    }
    static std::vector<int> ids(const mongo::batch_view& of)
    {
        std::vector<int> all;
        for (const bson::view one : of)
            all.push_back(one.get<int>("_id").value());
        return all;
    }
    bson::uuid lsid(std::string_view command) const
    {
        return server.commands(command).back().body.get<bson::uuid>("lsid.id").value();
    }
};

inline constexpr auto none = "[]";

}  // namespace holdfast::proof
