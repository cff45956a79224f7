#include "api/mongo/access.hpp"
#include "client/copies/copy_tracker.hpp"
#include "client/traffic.hpp"
#include "support/other_world.hpp"

#include <cstring>
#include <string>

namespace holdfast::proof::document_copies_test {
namespace {

using copy_test::at_the_socket;

/// A stream whose own copies are not counted, and whose bytes are tracked from where they arrive.
class counted_stream final : public runtime::stream {
public:
    explicit counted_stream(runtime::stream_ptr real) : real_{std::move(real)} {}

    runtime::awaitable<runtime::io_result> read_some(std::span<std::uint8_t> into) override
    {
        const runtime::io_result got = co_await real_->read_some(into);
        if (got.bytes > 0)
            copy_test::track(into.first(got.bytes));
        co_return got;
    }
    runtime::io_result write_now(std::span<const std::uint8_t> bytes) override
    {
        const at_the_socket here;
        return real_->write_now(bytes);
    }
    runtime::awaitable<error_code> writable() override { return real_->writable(); }
    void expires_at(time_point when) override { real_->expires_at(when); }
    void cancel() noexcept override { real_->cancel(); }
    std::string peer() const override { return real_->peer(); }

private:
    runtime::stream_ptr real_;
};

class counted_world final : public other_world {
public:
    using other_world::other_world;

    runtime::awaitable<result<runtime::stream_ptr>> connect(runtime::destination where,
                                                            time_point until) override
    {
        auto made = co_await other_world::connect(std::move(where), until);
        if (!made)
            co_return std::move(made).error();
        co_return result<runtime::stream_ptr>{std::make_unique<counted_stream>(*std::move(made))};
    }
};

/// A client without listeners, which would want copies of their own.
class document_copies : public ::testing::Test {
protected:
    document_copies() : s{{.hosts = {"a"}}}, document{bson::doc("text", text(), "_id", 1)}
    {
        const auto world = std::make_shared<counted_world>(s.app.world());
        s.client.emplace(mongo::access::in_world(world, "mongodb://a/?replicaSet=rs").value());
        EXPECT_TRUE(s.run(bson::doc("ping", 1)).good());
        copy_test::reset();
    }
    ~document_copies() override { EXPECT_EQ(s.close(), ""); }

    static std::string text() { return std::string(copy_test::large, 'x'); }

    void insert()
    {
        copy_test::track(document.bytes());
        bool good = false;
        (*s.client)["sea"]["seaweed"].insert_one(document.view(), {},
                                                 [&](auto done) { good = done.has_value(); });
        s.simulation.run_for(std::chrono::seconds{1});
        EXPECT_TRUE(good);
    }

    scene s;
    const bson::document document;
};

TEST_F(document_copies, tracker_counts_each_copy_in_a_chain)
{
    copy_test::track(document.bytes());
    const bson::document first{document.view()};
    EXPECT_EQ(copy_test::copies(), 1);
    const bson::document second{first.view()};
    EXPECT_EQ(copy_test::copies(), 2);
    bson::byte_buffer grown;
    std::memcpy(grown.grow(second.size()), second.bytes().data(), second.size());
    EXPECT_EQ(copy_test::copies(), 3);
    const bson::document other{bson::doc("text", text())};
    EXPECT_EQ(bson::document{other.view()}.size(), other.size());
    EXPECT_EQ(copy_test::copies(), 3) << "of another document";
}

TEST_F(document_copies, insert_one_copies_the_document_once_into_the_message)
{
    s.server("a").on("insert", [](bson::view) { return bson::doc("n", 1, "ok", 1.0); });
    insert();
    EXPECT_EQ(copy_test::copies(), 1);
}

TEST_F(document_copies, retried_insert_one_sends_the_same_copy_again)
{
    s.server("a").on_command("insert", in_turn({hang_up(), good_write()}));
    insert();
    EXPECT_EQ(s.server("a").count("insert"), 2U);
    EXPECT_EQ(copy_test::copies(), 1);
}

TEST_F(document_copies, find_one_copies_the_document_once_out_of_the_reply)
{
    const bson::document reply = bson::doc(
        "cursor",
        bson::doc("id", std::int64_t{0}, "ns", "sea.seaweed", "firstBatch", bson::arr(document)),
        "ok", 1.0);
    s.server("a").on("find", [&](bson::view) { return reply; });
    copy_test::reset();
    std::optional<bson::document> found;
    (*s.client)["sea"]["seaweed"].find_one({}, {}, [&](auto done) { found = *std::move(done); });
    s.simulation.run_for(std::chrono::seconds{1});
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, document);
    EXPECT_EQ(copy_test::copies(), 1);
}

}  // namespace
}  // namespace holdfast::proof::document_copies_test
