#pragma once
#include "core/mongo/wire/message_builder.hpp"
#include "holdfast/bson/json.hpp"
#include "lab/mongo/command/tables.hpp"
#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/common_fields.hpp"
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/serve/node_service.hpp"
#include "support/json.hpp"
#include "support/virtual_world.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab {

/// Whether all that is expected is there. Numbers are equal by value, whatever their type; nested
/// documents may have more fields, arrays may not have more elements.
inline bool contains(const bson::element& actual, const bson::element& expected);

inline bool contains(bson::view actual, bson::view expected)
{
    for (const bson::element& e : expected) {
        if (!contains(actual.find(e.key()), e))
            return false;
    }
    return true;
}

inline bool contains(const bson::element& actual, const bson::element& expected)
{
    if (!actual)
        return false;
    if (expected.type() == bson::type::array) {
        return actual.type() == bson::type::array &&
               actual.as_array().count() == expected.as_array().count() &&
               contains(actual.as_document(), expected.as_document());
    }
    if (expected.type() == bson::type::document && actual.type() == bson::type::document)
        return contains(actual.as_document(), expected.as_document());
    return equal(actual, expected);
}

/// A member of a set that is always the primary, and its only member.
class lonely_primary final : public mongo::membership {
public:
    bool in_set() const noexcept override { return true; }
    bool writable() const noexcept override { return primary; }
    bool readable() const noexcept override { return true; }
    bool arbiter() const noexcept override { return false; }
    std::int64_t term() const noexcept override { return 1; }
    void describe(bson::builder& hello, bool) const override { hello.add("setName", "lonely"); }
    mongo::concern_state check(const mongo::optime&, const mongo::write_concern&) const override
    {
        return mongo::concern_state::met;
    }
    result<void> accepts(const mongo::write_concern&) const override { return {}; }
    mongo::write_concern default_concern() const override { return {}; }
    mongo::optime committed() const noexcept override { return last_; }
    void wrote(const mongo::optime& at) override { last_ = at; }
    std::span<const mongo::command> commands() const noexcept override { return {}; }

    bool primary = true;

private:
    mongo::optime last_ = {};
};

/// A server without a network: commands go in as Extended JSON, and replies come out.
class test_node {
public:
    explicit test_node(std::string_view version = "8.2", bool in_set = false)
        : on{world, std::make_shared<mongo::disk>(), options_for(version)}, service{on}
    {
        for (const std::span<const mongo::command> part : mongo::all_commands())
            on.add_commands(part);
        if (in_set) {
            auto alone = std::make_unique<lonely_primary>();
            primary = alone.get();
            on.member = std::move(alone);
        }
    }

    /// The reply, with "ok". `waits` is how often it may say that it has to wait: then it is asked
    /// again, the time being over.
    bson::document run(bson::view command, std::string_view sequence = {},
                       const std::vector<bson::document>& documents = {})
    {
        bson::byte_buffer bytes;
        core::mongo::message_builder builder{bytes, request_id{1}};
        builder.command().merge(command);
        if (!command.find("$db"))
            builder.command().add("$db", "db");
        if (!sequence.empty()) {
            auto out = builder.sequence(sequence);
            for (const bson::document& one : documents)
                out.add(one);
        }
        const auto raw = builder.finish();
        const auto message = core::mongo::parse_message(*raw);
        mongo::request what{.message = *message,
                            .body = message->body,
                            .name = message->body.begin()->key(),
                            .database = {},
                            .client = client};
        what.arrived = on.now();
        bson::byte_buffer answer;
        {
            bson::builder reply{answer};
            if (auto failed = perform(what, reply))
                return refused(what, *failed);
            closed = what.close_after;
            wrote = what.wrote;
            service.close_reply(what, reply);
            EXPECT_TRUE(reply.finish());
        }
        return bson::document::adopt(std::move(answer));
    }
    bson::document run(std::string_view command) { return run(json(command)); }

    void expect(std::string_view command, std::string_view reply)
    {
        const bson::document got = run(command);
        EXPECT_TRUE(contains(got, json(reply)))
            << command << "\n expected " << reply << "\n got      " << *bson::to_json(got);
    }
    void expect_error(std::string_view command, int code, std::string_view description = {})
    {
        const bson::document got = run(command);
        EXPECT_EQ(got["code"].get<std::int32_t>().value_or(0), code)
            << command << "\n got " << *bson::to_json(got);
        EXPECT_NE(std::string{got["errmsg"].get<std::string>().value_or("")}.find(description),
                  std::string::npos)
            << command << "\n got " << *bson::to_json(got);
    }

    proof::virtual_world world;
    mongo::node on;
    mongo::node_service service;
    mongo::client_facts client;
    lonely_primary* primary = nullptr;
    std::optional<mongo::optime> wrote;
    bool closed = false;
    int waited = 0;

private:
    static mongo::node_options options_for(std::string_view version)
    {
        mongo::node_options made;
        made.version = *mongo::read_version(version);
        made.own_address = "localhost:27017";
        return made;
    }

    std::optional<error> perform(mongo::request& what, bson::builder& reply)
    {
        if (auto fine = mongo::read_common_fields(what); !fine)
            return std::move(fine).error();
        for (;;) {
            auto outcome = service.answer(what, reply);
            closed = what.close_after;
            if (!outcome)
                return std::move(outcome).error();
            if (*outcome == mongo::progress::done)
                return std::nullopt;
            if (*outcome == mongo::progress::later)
                return refuse(server_code::not_writable_primary, "there is no primary to ask");
            ++waited;
            world.run_until(what.wait_until);
            what.expired = true;
        }
    }
    bson::document refused(const mongo::request& what, const error& why)
    {
        bson::byte_buffer answer;
        bson::builder reply{answer};
        service.write_error(what, why, reply);
        EXPECT_TRUE(reply.finish());
        return bson::document::adopt(std::move(answer));
    }
};

}  // namespace holdfast::lab
