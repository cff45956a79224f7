#include "client/traffic.hpp"
#include "core/mongo/error/errc.hpp"
#include "runtime/errc.hpp"
#include "shell/mongo/connection/establish.hpp"
#include "support/other_world.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>

/// Rules that differ between the profiles, as a server sees them.
namespace holdfast::proof::upstream_profile_test {
namespace {

const std::string upstream = "&resilienceProfile=upstream_2026_07";

/// A world in which no connection can be made once there is a refusal.
class refusing_world final : public other_world {
public:
    using other_world::other_world;

    std::optional<error_code> refusal = {};

    runtime::awaitable<result<runtime::stream_ptr>> connect(runtime::destination where,
                                                            time_point until) override
    {
        return refusal ? refuse(*refusal) : other_world::connect(std::move(where), until);
    }

private:
    static runtime::awaitable<result<runtime::stream_ptr>> refuse(error_code code)
    {
        co_return error{code, "refused by the test"};
    }
};

/// The hello of connections to come is answered so; those that exist, the monitor's, go on.
void answer_new_connections(scene& s, const std::string& name, const scripted_reply& reply)
{
    const std::size_t known = s.server(name).connections();
    s.server(name).on_hello(
        [&s, known, me = name + ":27017", reply](const scripted_command& asked) {
            return asked.connection > known ? reply : scripted_reply{s.set.hello_of(me)};
        });
}

/// The command failed in its only attempt, and its server is not used any more.
void expect_lost(const scene& s, const operation& op)
{
    ASSERT_TRUE(op.done());
    ASSERT_FALSE(op.good());
    EXPECT_TRUE(op.outcome->error().labels().empty()) << op.explain();
    EXPECT_EQ(op.outcome->error().history().size(), 1U) << op.explain();
    EXPECT_EQ(s.events().type_of("a:27017"), "Unknown");
    EXPECT_EQ(s.events().count(heard::pool_cleared, "a:27017"), 1U);
}

TEST(upstream_profile, wrong_name_or_certificate_is_no_overload)
{
    for (const runtime::errc code :
         {runtime::errc::name_not_found, runtime::errc::certificate_rejected}) {
        SCOPED_TRACE(static_cast<int>(code));
        scene s{{.hosts = {"a"}}};
        const auto world = std::make_shared<refusing_world>(s.app.world());
        s.connect_in(world, "mongodb://a/?replicaSet=rs&heartbeatFrequencyMS=60000" + upstream);
        s.settle();
        world->refusal = code;
        expect_lost(s, s.run(bson::doc("createIndexes", "coll"), as_write()));
        EXPECT_EQ(s.close(), "");
    }
}

TEST(upstream_profile, refused_connection_is_overload)
{
    scene s{{.hosts = {"a"}}};
    const auto world = std::make_shared<refusing_world>(s.app.world());
    s.connect_in(world, "mongodb://a/?replicaSet=rs&heartbeatFrequencyMS=60000" + upstream);
    s.settle();
    world->refusal = runtime::errc::connect_failed;
    const operation& op = s.run(bson::doc("createIndexes", "coll"), as_write());
    ASSERT_FALSE(op.good());
    EXPECT_TRUE(op.outcome->error().has_label("SystemOverloadedError")) << op.explain();
    EXPECT_EQ(op.outcome->error().history().size(), 3U) << op.explain();
    EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    EXPECT_EQ(s.close(), "");
}

TEST(upstream_profile, refused_hello_is_no_overload)
{
    scene s{{.hosts = {"a"}}};
    s.connect("&heartbeatFrequencyMS=60000" + upstream);
    s.settle();
    answer_new_connections(s, "a", {.body = error_reply(8)});
    expect_lost(s, s.run(bson::doc("createIndexes", "coll"), as_write()));
    EXPECT_EQ(s.close(), "");
}

TEST(upstream_profile, rules_out_overload_only_where_it_cannot_be_the_cause)
{
    using runtime::errc;
    using shell::mongo::rules_out_overload;
    for (const errc code : {errc::name_not_found, errc::name_lookup_failed,
                            errc::certificate_rejected, errc::invalid_tls_options})
        EXPECT_TRUE(rules_out_overload(error{code, "x"})) << static_cast<int>(code);
    EXPECT_TRUE(rules_out_overload(error{core::mongo::errc::hello_failed, "x"}));
    for (const errc code : {errc::connect_failed, errc::connect_timed_out, errc::tls_failed})
        EXPECT_FALSE(rules_out_overload(error{code, "x"})) << static_cast<int>(code);
    EXPECT_FALSE(rules_out_overload(error{boost::asio::error::eof, "x"}));
}

TEST(upstream_profile, retry_after_a_failed_connection_avoids_the_router)
{
    scene s{{.hosts = {"a", "b"}, .sharded = true}};
    s.connect(upstream);
    s.settle();
    const std::size_t known = s.server("a").connections();
    answer_new_connections(s, "a", hang_up());
    for (int id = 0; id < 60; ++id) {
        const operation& op = s.write(id);
        ASSERT_TRUE(op.good()) << op.explain();
    }
    EXPECT_GT(s.server("a").connections(), known + 5) << "it was to be tried";
    EXPECT_EQ(s.close(), "");
}

TEST(upstream_profile, first_hello_is_an_op_msg)
{
    for (const bool theirs : {false, true}) {
        scene s{{.hosts = {"a"}}};
        s.connect(theirs ? upstream : "");
        ASSERT_TRUE(s.run(ping_command()).good());
        const auto& seen = s.server("a").commands();
        EXPECT_EQ(std::ranges::any_of(seen, &scripted_command::legacy), !theirs);
        expect_clean(s);
    }
}

TEST(upstream_profile, causal_writes_carry_after_cluster_time_without_a_level)
{
    constexpr bson::timestamp seen{.seconds = 100, .increment = 1};
    for (const bool theirs : {false, true}) {
        scene s{{.hosts = {"a"}}};
        s.connect("&readConcernLevel=majority" + (theirs ? upstream : std::string{}));
        for (const char* const name : {"insert", "drop", "ping"})
            s.server("a").on(name, [&](bson::view) {
                return bson::doc("n", 1, "ok", 1.0, "operationTime", seen);
            });
        const mongo::session given = s.client->start_session();
        const mongo::command_options write{.kind = mongo::command_kind::write, .session = &given};
        for (int id = 0; id < 2; ++id)
            ASSERT_TRUE(s.run(insert_of(id), write).good());
        ASSERT_TRUE(s.run(bson::doc("drop", "coll"), write).good());
        ASSERT_TRUE(s.run(ping_command(), {.session = &given}).good());
        const auto inserts = s.server("a").commands("insert");
        EXPECT_FALSE(inserts.at(0).body["readConcern"]) << "there is no time yet";
        EXPECT_FALSE(s.server("a").commands("ping").at(0).body["readConcern"]);
        for (const scripted_command& one : {inserts.at(1), s.server("a").commands("drop").at(0)}) {
            const bson::element concern = one.body["readConcern"];
            ASSERT_EQ(concern.type() == bson::type::document, theirs) << one.name;
            if (theirs) {
                EXPECT_EQ(bson::document{concern.as_document()},
                          bson::doc("afterClusterTime", seen));
            }
        }
        expect_clean(s);
    }
}

}  // namespace
}  // namespace holdfast::proof::upstream_profile_test
