#include "core/mongo/handshake/client_metadata.hpp"

#include "core/mongo/error/errc.hpp"
#include "holdfast/bson/validate.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::client_metadata_test {
namespace {

using sizes = std::initializer_list<std::size_t>;

using bson::doc;
using bson::object;

client_metadata full()
{
    return {.application = "tide",
            .driver_name = "holdfast",
            .driver_version = "0.1.0",
            .os_type = "Linux",
            .os_name = "Debian",
            .os_architecture = "x86_64",
            .os_version = "12",
            .platform = "g++ 12.2",
            .environment = {.name = "gcp.func",
                            .timeout_sec = 60,
                            .memory_mb = 1024,
                            .region = "us-central1",
                            .container_runtime = "docker",
                            .container_orchestrator = "kubernetes"}};
}

std::string text(const bson::document& client, std::string_view path)
{
    return client.get<std::string>(path).value_or("(absent)");
}

TEST(client_metadata, document_has_application_driver_os_platform_and_env)
{
    const auto expected = doc(
        "application", object("name", "tide"),  //
        "driver", object("name", "holdfast", "version", "0.1.0"), "os",
        object("type", "Linux", "name", "Debian", "architecture", "x86_64", "version", "12"),
        "platform", "g++ 12.2",  //
        "env",
        object("name", "gcp.func", "timeout_sec", 60, "memory_mb", 1024, "region", "us-central1",
               "container", object("runtime", "docker", "orchestrator", "kubernetes")));
    EXPECT_EQ(client_document(full()).value(), expected);
}

TEST(client_metadata, unset_fields_are_omitted)
{
    const auto expected = doc("driver", object("name", "holdfast", "version", "1"),  //
                              "os", object("type", "unknown"));
    EXPECT_EQ(client_document({.driver_version = "1"}).value(), expected);
    const auto container = client_document({.driver_version = "1",
                                            .environment = {.container_runtime = "docker"}})
                               .value();
    EXPECT_EQ(container.find_path("env").as_document(),
              doc("container", object("runtime", "docker")).view());
}

/// How long a platform may be when only it is left to be cut.
std::size_t room_for_platform()
{
    client_metadata least = full();
    least.environment = {};
    least.os_name = least.os_architecture = least.os_version = least.platform = {};
    return 512 - client_document(least).value().size() -
           (1 + 9 + 4 + 1);  // type, key, length, zero
}

/// What is left when a field of the size given is too much.
struct squeezed {
    std::size_t region;
    std::size_t os_name;
    std::size_t platform;
    std::vector<const char*> present;
    std::vector<const char*> absent;
};

TEST(client_metadata, truncation_follows_the_specified_order)
{
    const squeezed table[] = {
        {10, 10, 10, {"env.region", "env.container", "os.name", "env.name"}, {}},
        {400,
         10,
         10,
         {"env.name", "os.name", "os.version", "platform"},
         {"env.region", "env.memory_mb", "env.timeout_sec", "env.container"}},
        {10,
         400,
         10,
         {"env.name", "os.type", "platform"},
         {"env.region", "env.container", "os.name", "os.version", "os.architecture"}},
        {10, 10, room_for_platform(), {"os.type", "platform"}, {"env", "os.name"}},
    };
    for (const squeezed& s : table) {
        client_metadata metadata = full();
        metadata.environment.region.assign(s.region, 'r');
        metadata.os_name.assign(s.os_name, 'o');
        metadata.platform.assign(s.platform, 'p');
        const auto client = client_document(metadata).value();
        EXPECT_LE(client.size(), 512U);
        EXPECT_EQ(text(client, "platform").size(), s.platform);
        for (const char* path : s.present)
            EXPECT_TRUE(client.find_path(path)) << path << " " << s.region << " " << s.os_name;
        for (const char* path : s.absent)
            EXPECT_FALSE(client.find_path(path)) << path << " " << s.region << " " << s.os_name;
    }
}

TEST(client_metadata, platform_is_truncated_to_fill_512_bytes)
{
    client_metadata metadata = full();
    const std::size_t room = room_for_platform();
    metadata.platform.assign(room, 'p');
    EXPECT_EQ(client_document(metadata).value().size(), 512U);
    for (const std::size_t more : sizes{1, 2, 100, 5000}) {
        metadata.platform.assign(room + more, 'p');
        const auto client = client_document(metadata).value();
        EXPECT_EQ(client.size(), 512U);
        EXPECT_EQ(text(client, "platform"), std::string(room, 'p'));
    }
}

TEST(client_metadata, truncation_keeps_utf8_characters_whole)
{
    client_metadata metadata = full();
    for (std::size_t shift = 0; shift < 4; ++shift) {
        metadata.platform.assign(shift, 'p');
        for (int i = 0; i < 300; ++i)
            metadata.platform += "\xE2\x82\xAC";
        const auto client = client_document(metadata).value();
        EXPECT_LE(client.size(), 512U);
        EXPECT_GT(client.size(), 508U);
        EXPECT_TRUE(bson::validate(client.bytes())) << shift;
    }
}

TEST(client_metadata, wrapping_libraries_are_dropped_last)
{
    client_metadata metadata = full();
    ASSERT_TRUE(append(metadata, {.name = "first"}));
    ASSERT_TRUE(append(metadata, {.name = std::string(600, 'n')}));
    const auto client = client_document(metadata).value();
    EXPECT_LE(client.size(), 512U);
    EXPECT_EQ(text(client, "driver.name"), "holdfast|first");

    metadata.os_type.assign(600, 'o');
    EXPECT_EQ(client_document(metadata).error().code(), errc::invalid_metadata);
}

TEST(client_metadata, application_name_above_128_bytes_is_refused)
{
    client_metadata metadata = full();
    metadata.application.assign(128, 'a');
    EXPECT_EQ(text(client_document(metadata).value(), "application.name").size(), 128U);
    metadata.application += 'a';
    EXPECT_EQ(client_document(metadata).error().code(), errc::invalid_metadata);
    metadata.application = "\xFF";
    EXPECT_EQ(client_document(metadata).error().code(), errc::invalid_metadata);
}

TEST(client_metadata, append_joins_the_fields_of_a_wrapping_library)
{
    const wrapping_library table[] = {
        {"framework", "2.0", "Framework Platform"},
        {"framework", "2.0", ""},
        {"framework", "", "Framework Platform"},
        {"framework", "", ""},
    };
    for (const wrapping_library& added : table) {
        client_metadata metadata = full();
        ASSERT_TRUE(append(metadata, {"library", "1.2", "Library Platform"}));
        ASSERT_TRUE(append(metadata, added));
        const auto client = client_document(metadata).value();
        EXPECT_EQ(text(client, "driver.name"), "holdfast|library|framework");
        EXPECT_EQ(text(client, "driver.version"),
                  added.version.empty() ? "0.1.0|1.2" : "0.1.0|1.2|2.0");
        EXPECT_EQ(text(client, "platform"), added.platform.empty()
                                                ? "g++ 12.2|Library Platform"
                                                : "g++ 12.2|Library Platform|Framework Platform");
    }
}

TEST(client_metadata, append_ignores_an_identical_wrapping_library)
{
    const wrapping_library library{"library", "1.2", "Library Platform"};
    for (int differs = 0; differs < 8; ++differs) {
        client_metadata metadata = full();
        ASSERT_TRUE(append(metadata, library));
        const wrapping_library second{(differs & 1) != 0 ? "framework" : library.name,
                                      (differs & 2) != 0 ? "2.0" : library.version,
                                      (differs & 4) != 0 ? "Framework Platform" : library.platform};
        ASSERT_TRUE(append(metadata, second));
        EXPECT_EQ(text(client_document(metadata).value(), "driver.name"),
                  differs == 0 ? "holdfast|library" : "holdfast|library|" + second.name);
    }
}

TEST(client_metadata, append_refuses_a_pipe_in_any_field)
{
    client_metadata metadata = full();
    EXPECT_EQ(append(metadata, {"a|b"}).error().code(), errc::invalid_metadata);
    EXPECT_EQ(append(metadata, {"a", "1|2"}).error().code(), errc::invalid_metadata);
    EXPECT_EQ(append(metadata, {"a", "1", "p|q"}).error().code(), errc::invalid_metadata);
    EXPECT_EQ(append(metadata, {""}).error().code(), errc::invalid_metadata);
    EXPECT_EQ(append(metadata, {"\xFF"}).error().code(), errc::invalid_metadata);
    EXPECT_TRUE(metadata.wrapped_by.empty());
}

TEST(client_metadata, append_to_an_empty_platform_adds_no_separator)
{
    client_metadata metadata{.driver_version = "1"};
    ASSERT_TRUE(append(metadata, {"library", "", "Library Platform"}));
    const auto client = client_document(metadata).value();
    EXPECT_EQ(text(client, "platform"), "Library Platform");
    EXPECT_EQ(text(client, "driver.version"), "1");
}

}  // namespace
}  // namespace holdfast::core::mongo::client_metadata_test
