#include "seedlist_zone.hpp"

#include <string>

namespace holdfast::spec {
namespace {

struct service {
    const char* name;
    std::uint16_t port;
    const char* target;
};
// There is no test4, for it has no records, and no test9.
constexpr service services[] = {
    {"_mongodb._tcp.test1", 27017, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test1", 27018, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test2", 27018, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test2", 27019, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test3", 27017, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test5", 27017, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test6", 27017, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test7", 27017, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test8", 27017, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test10", 27017, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test11", 27017, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test12", 27017, "localhost.build.10gen.cc"},
    {"_mongodb._tcp.test13", 27017, "test.build.10gen.cc"},
    {"_mongodb._tcp.test14", 27017, "localhost.not-test.build.10gen.cc"},
    {"_mongodb._tcp.test15", 27017, "localhost.test.not-build.10gen.cc"},
    {"_mongodb._tcp.test16", 27017, "localhost.test.build.not-10gen.cc"},
    {"_mongodb._tcp.test17", 27017, "localhost.test.build.10gen.not-cc"},
    {"_mongodb._tcp.test18", 27017, "localhost.sub.test.build.10gen.cc"},
    {"_mongodb._tcp.test19", 27017, "localhost.evil.build.10gen.cc"},
    {"_mongodb._tcp.test19", 27017, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test20", 27017, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test21", 27017, "localhost.test.build.10gen.cc"},
    {"_customname._tcp.test22", 27017, "localhost.test.build.10gen.cc"},
    {"_customname._tcp.test22", 27018, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test23", 8000, "localhost.test.build.10gen.cc"},
    {"_mongodb._tcp.test24", 8000, "localhost.test.build.10gen.cc"},
};

struct text {
    const char* name;
    std::vector<std::string> strings;
};

}  // namespace

void add_seedlist_zone(proof::dns_stub& to)
{
    const std::string domain = ".test.build.10gen.cc";
    constexpr std::uint32_t a_day = 86'400;
    to.add_address("localhost.test.build.10gen.cc", "127.0.0.1", a_day);
    to.add_address("localhost.sub.test.build.10gen.cc", "127.0.0.1", a_day);
    for (const service& s : services)
        to.add_srv(s.name + domain, {s.target, s.port, 0, 0, a_day});
    const text texts[] = {
        {"test5", {"replicaSet=repl0&authSource=thisDB"}},
        {"test6", {"replicaSet=repl0"}},
        {"test6", {"authSource=otherDB"}},
        {"test7", {"ssl=false"}},
        {"test8", {"authSource"}},
        {"test10", {"socketTimeoutMS=500"}},
        {"test11", {"replicaS", "et=rep", "l0"}},
        {"test20", {"loadBalanced=true"}},
        {"test21", {"loadBalanced=false"}},
        {"test24", {"loadBalanced=true"}},
    };
    for (const text& t : texts)
        to.add_txt(t.name + domain, t.strings);
}

}  // namespace holdfast::spec
