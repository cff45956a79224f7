#include "client/traffic.hpp"

namespace holdfast::proof::metadata_test {
namespace {

using namespace std::chrono_literals;

/// What one handshake said of the driver.
struct driver_fields {
    std::string name;
    std::string version;
    std::string platform;
    friend bool operator==(const driver_fields&, const driver_fields&) = default;
    friend void PrintTo(const driver_fields& w, std::ostream* to)
    {
        *to << w.name << " / " << w.version << " / " << w.platform;
    }
};

struct library {
    const char* name;
    const char* version;
    const char* platform;
};

/// A "client" without what a library may add to.
bson::document without_driver(bson::view client)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    for (const bson::element& one : client) {
        if (one.key() == "platform")
            continue;
        if (one.key() != "driver") {
            out.copy(one);
            continue;
        }
        auto driver = out.document("driver");
        for (const bson::element& part : one.as_document()) {
            if (part.key() != "name" && part.key() != "version")
                driver.copy(part);
        }
    }
    (void)out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

/// A scene whose client opens a connection for each operation.
class introduction {
public:
    introduction() { s.connect_to("mongodb://a/?replicaSet=rs&maxIdleTimeMS=1"); }

    void append(const library& what)
    {
        s.client->append_metadata(what.name, what.version, what.platform);
    }

    /// What a new connection says. Nothing else of it may ever change.
    driver_fields text()
    {
        s.simulation.run_for(1s);  // the last one has been idle for too long
        const operation& op = s.run(ping_command());
        EXPECT_TRUE(op.good()) << op.explain();
        const std::size_t number = s.server("a").commands("ping").back().connection;
        EXPECT_TRUE(used_.empty() || number > used_.back()) << "a connection was used again";
        used_.push_back(number);
        const bson::document hello = s.server("a").first_hello(number);
        const bson::document rest = without_driver(hello["client"].as_document());
        EXPECT_TRUE(rest["os"]) << "there is something to compare";
        EXPECT_EQ(rest_.value_or(rest), rest);
        rest_ = rest;
        return {hello.get<std::string>("client.driver.name").value(),
                hello.get<std::string>("client.driver.version").value(),
                hello.get<std::string>("client.platform").value()};
    }

    scene s{{.hosts = {"a"}}};

private:
    std::vector<std::size_t> used_;
    std::optional<bson::document> rest_;
};

driver_fields joined(const driver_fields& first, const library& more)
{
    const auto with = [](const std::string& a, std::string_view b) {
        return b.empty() ? a : a + "|" + std::string{b};
    };
    return {with(first.name, more.name), with(first.version, more.version),
            with(first.platform, more.platform)};
}

constexpr library frameworks[] = {
    {"framework", "2.0", "Framework Platform"},
    {"framework", "2.0", ""},
    {"framework", "", "Framework Platform"},
    {"framework", "", ""},
};

TEST(client_metadata_update, prose_1_appended_metadata_is_sent_by_new_connections)
{
    for (const library& more : frameworks) {  // prose test 1
        introduction to;
        to.append({"library", "1.2", "Library Platform"});
        const driver_fields before = to.text();
        EXPECT_TRUE(before.name.ends_with("|library"));
        EXPECT_TRUE(before.version.ends_with("|1.2"));
        EXPECT_TRUE(before.platform.ends_with("|Library Platform"));
        to.append(more);
        EXPECT_EQ(to.text(), joined(before, more));
        expect_clean(to.s);
    }
}

TEST(client_metadata_update, prose_2_several_appended_libraries_keep_their_order)
{
    for (const library& more : frameworks) {  // prose test 2: none before the client is made
        introduction to;
        const driver_fields alone = to.text();
        const library first{"library", "1.2", "Library Platform"};
        to.append(first);
        const driver_fields before = to.text();
        EXPECT_EQ(before, joined(alone, first));
        to.append(more);
        EXPECT_EQ(to.text(), joined(before, more));
        expect_clean(to.s);
    }
}

TEST(client_metadata_update, prose_3_4_and_6_identical_metadata_is_not_appended_again)
{
    const library known{"library", "1.2", "Library Platform"};
    const library others[] = {
        {"library", "1.2", "Library Platform"},   {"framework", "1.2", "Library Platform"},
        {"library", "2.0", "Library Platform"},   {"library", "1.2", "Framework Platform"},
        {"framework", "2.0", "Library Platform"}, {"framework", "1.2", "Framework Platform"},
        {"library", "2.0", "Framework Platform"}, {"framework", "2.0", "Framework Platform"},
    };
    for (const library& more : others) {  // prose test 3
        introduction to;
        (void)to.text();
        to.append(known);
        const driver_fields before = to.text();
        to.append(more);
        const bool same = &more == &others[0];
        EXPECT_EQ(to.text(), same ? before : joined(before, more));
        expect_clean(to.s);
    }
    introduction to;  // prose tests 4 and 6: something else in between
    to.append(known);
    to.append({"framework", "2.0", "Framework Platform"});
    const driver_fields before = to.text();
    to.append(known);
    EXPECT_EQ(to.text(), before);
    to.append({"framework", "2.0", "Framework Platform"});
    EXPECT_EQ(to.text(), before);
    expect_clean(to.s);
}

TEST(client_metadata_update, prose_5_identical_metadata_before_connecting_is_ignored)
{
    introduction to;  // prose test 5
    const library known{"library", "1.2", "Library Platform"};
    to.append(known);
    to.append(known);
    const driver_fields before = to.text();
    EXPECT_EQ(before.name, "holdfast|library");
    to.append(known);
    EXPECT_EQ(to.text(), before);
    expect_clean(to.s);
}

TEST(client_metadata_update, prose_7_and_8_empty_fields_count_as_unset)
{
    const library parts[] = {{"library", "", "Library Platform"}, {"library", "1.2", ""}};
    for (const library& part : parts) {  // prose tests 7 and 8
        introduction to;
        const driver_fields alone = to.text();
        to.append(part);
        const driver_fields before = to.text();
        EXPECT_EQ(before, joined(alone, part));
        EXPECT_EQ((before.name + before.version + before.platform).find("||"), std::string::npos);
        to.append(part);
        EXPECT_EQ(to.text(), before);
        expect_clean(to.s);
    }
    introduction to;
    const driver_fields alone = to.text();
    EXPECT_THROW(to.append({"", "1.2", "Library Platform"}), failure);
    EXPECT_EQ(to.text(), alone);
    expect_clean(to.s);
}

TEST(client_metadata_update, pipe_in_appended_metadata_is_refused)
{
    const library wrong[] = {{"a|b", "", ""}, {"a", "1|2", ""}, {"a", "", "x|y"}};
    for (const bool early : {true, false}) {
        introduction to;
        const driver_fields before = early ? driver_fields{} : to.text();
        for (const library& one : wrong) {
            try {
                to.append(one);
                ADD_FAILURE() << one.name << " was accepted";
            } catch (const failure& thrown) {
                EXPECT_NE(std::string{thrown.what()}.find("'|'"), std::string::npos);
            }
        }
        const driver_fields after = to.text();
        EXPECT_EQ(after.name, "holdfast");
        EXPECT_EQ(after, early ? after : before);
        expect_clean(to.s);
    }
}

TEST(client_metadata_update, monitors_send_appended_metadata_on_their_next_connection)
{
    introduction to;
    (void)to.text();
    to.append({"library", "1.2", "Library Platform"});
    const std::size_t open = to.s.server("a").connections();
    to.s.restart("a", 100ms);
    ASSERT_TRUE(wait_for(to.s, [&] { return to.s.server("a").connections() > open; }));
    to.s.simulation.run_for(1s);
    for (std::size_t i = open + 1; i <= to.s.server("a").connections(); ++i)
        EXPECT_EQ(to.s.server("a").first_hello(i).get<std::string>("client.driver.name").value(),
                  "holdfast|library");
    expect_clean(to.s);
}

}  // namespace
}  // namespace holdfast::proof::metadata_test
