#include "core/couchbase/uri/connection_string.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::connection_string_test {
namespace {

using holdfast::couchbase::errc;

cluster_settings parse(std::string_view text)
{
    auto parsed = parse_connection_string(text);
    EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message());
    if (!parsed)
        return {};
    EXPECT_TRUE(parsed->warnings.empty()) << text << ": " << parsed->warnings.front();
    return std::move(parsed->settings);
}

std::string message_of(std::string_view text)
{
    const auto parsed = parse_connection_string(text);
    EXPECT_FALSE(parsed) << text;
    if (parsed)
        return {};
    EXPECT_EQ(parsed.error().code(), errc::invalid_argument);
    return parsed.error().message();
}

std::vector<endpoint> addresses(std::initializer_list<const char*> texts)
{
    std::vector<endpoint> made;
    for (const char* const text : texts)
        made.emplace_back(text);
    return made;
}

TEST(couchbase_connection_string, hosts_have_the_default_port_of_their_scheme)
{
    EXPECT_EQ(parse("couchbase://A.Example").seeds, addresses({"a.example:11210"}));
    EXPECT_EQ(parse("couchbases://a").seeds, addresses({"a:11207"}));
    EXPECT_FALSE(parse("couchbase://a").tls.enabled);
    EXPECT_TRUE(parse("couchbases://a").tls.enabled);
    EXPECT_EQ(parse("couchbase://a,b:12000,[::1],[fd00::1]:7,10.0.0.1").seeds,
              addresses({"a:11210", "b:12000", "[::1]:11210", "[fd00::1]:7", "10.0.0.1:11210"}));
    EXPECT_EQ(parse("couchbase://a,b:1,a:11210").seeds, addresses({"a:11210", "b:1"}))
        << "a host that is given twice is one";
}

TEST(couchbase_connection_string, service_after_an_equals_sign_is_key_value)
{
    EXPECT_EQ(parse("couchbase://a:7=kv,b=mcd,[::1]:9=kv").seeds,
              addresses({"a:7", "b:11210", "[::1]:9"}));
    EXPECT_NE(message_of("couchbase://a=http").find("HTTP is not supported"), std::string::npos);
    for (const std::string_view text : {"couchbase://a=", "couchbase://a=n1ql", "couchbase://a=KV"})
        EXPECT_NE(message_of(text).find("after '=' stands kv or mcd"), std::string::npos);
}

TEST(couchbase_connection_string, ports_of_the_web_console_are_refused_with_advice)
{
    for (const std::string_view text :
         {"couchbase://a:8091", "couchbases://a:18091", "couchbase://a,b:8091=kv"})
        EXPECT_NE(message_of(text).find("leave the port out"), std::string::npos) << text;
    EXPECT_EQ(message_of("couchbase://a,b:8091").find("connection string: host number 2: "), 0U);
}

TEST(couchbase_connection_string, single_name_without_port_and_service_is_looked_up_as_srv)
{
    EXPECT_EQ(parse("couchbase://cb.example").srv_name, "_couchbase._tcp.cb.example");
    EXPECT_EQ(parse("couchbases://cb.example/").srv_name, "_couchbases._tcp.cb.example");
    for (const std::string_view text :
         {"couchbase://a:11210", "couchbase://a=kv", "couchbase://a,b", "couchbase://10.0.0.1",
          "couchbase://[::1]", "couchbase://a?enable_dns_srv=false"})
        EXPECT_EQ(parse(text).srv_name, std::nullopt) << text;
}

TEST(couchbase_connection_string, srv_records_replace_the_seed_if_there_are_any)
{
    const auto settings = parse("couchbases://cb.example");
    const srv_record records[] = {
        {"Node-1.cb.example.", 11207}, {"bad host", 1}, {"node-2.cb.example", 0}, {"n3", 7}};
    EXPECT_EQ(with_srv_records(settings, records).seeds,
              addresses({"node-1.cb.example:11207", "n3:7"}));
    EXPECT_EQ(with_srv_records(settings, {}).seeds, settings.seeds);
    EXPECT_EQ(with_srv_records(settings, std::span{records}.subspan(1, 2)).seeds, settings.seeds);
    const std::vector<srv_record> many(2 * most_seeds, {"a", 1});
    EXPECT_EQ(with_srv_records(settings, many).seeds.size(), most_seeds);
}

TEST(couchbase_connection_string, path_is_the_name_of_a_bucket)
{
    EXPECT_EQ(parse("couchbase://a/travel-sample").bucket, "travel-sample");
    EXPECT_EQ(parse("couchbase://a/b%25c?kv_timeout=1").bucket, "b%c");
    EXPECT_EQ(parse("couchbase://a/").bucket, std::nullopt);
    EXPECT_EQ(parse("couchbase://a?kv_timeout=1").bucket, std::nullopt);
    for (const std::string& path : {std::string{"a/b"}, std::string{"a b"}, std::string{"%"},
                                    std::string(101, 'a'), std::string{"\xff"}})
        EXPECT_NE(message_of("couchbase://a/" + path).find("name of the bucket"),
                  std::string::npos);
}

TEST(couchbase_connection_string, other_schemes_are_refused_with_advice)
{
    EXPECT_NE(message_of("couchbase2://a").find("not supported"), std::string::npos);
    EXPECT_NE(message_of("http://a:8091").find("web console"), std::string::npos);
    for (const std::string_view text : {"", "a", "mongodb://a", "Couchbase://a", "couchbase:/a"})
        EXPECT_NE(message_of(text).find("must start with"), std::string::npos) << text;
}

TEST(couchbase_connection_string, malformed_strings_are_refused_without_being_quoted)
{
    for (const std::string& text :
         {std::string{"couchbase://"}, std::string{"couchbase:///b"}, std::string{"couchbase://a,"},
          std::string{"couchbase://,a"}, std::string{"couchbase://hunter2 x"},
          std::string{"couchbase://me:hunter2@a"}, std::string{"couchbase://a:hunter2"},
          std::string{"couchbase://%zz"}, std::string{"couchbase://::1"},
          std::string{"couchbase://a?hunter2"}, std::string{"couchbase://a?=hunter2"},
          "couchbase://a?x=" + std::string(longest_connection_string, 'x')})
        EXPECT_EQ(message_of(text).find("hunter2"), std::string::npos) << text;
    EXPECT_NE(message_of("couchbase://me:hunter2@a").find("authenticator"), std::string::npos);
}

TEST(couchbase_connection_string, number_of_hosts_has_a_limit)
{
    const auto hosts = [](std::size_t count) {
        std::string text = "couchbase://a0";
        for (std::size_t i = 1; i < count; ++i)
            text += ",a" + std::to_string(i);
        return text;
    };
    EXPECT_EQ(parse(hosts(most_seeds)).seeds.size(), most_seeds);
    EXPECT_NE(message_of(hosts(most_seeds + 1)).find("more than 1000 hosts"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::core::couchbase::connection_string_test
