// Any text as a statement of the query language: it is refused with a number and a message, or
// runs, and then its rows are JSON.
#include "lab/couchbase/n1ql/memory_store.hpp"
#include "require.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace holdfast::lab::couchbase::n1ql;

void require_reason(const holdfast::error& of)
{
    REQUIRE(code_of(of) >= 1000 && !of.message().empty());
}

/// Ranges can be endless: not all of their rows are asked for.
void run_for_a_while(const statement& what, const json::object& named)
{
    memory_store store;
    store.put("a", R"({"n":1,"s":"x","l":[1,{"m":null}],"o":{"p":true}})");
    store.put("b", R"({"n":2.5,"s":"\u00e9"})");
    environment in;
    in.named = &named;
    const json::array positional{1, "a", json::array{}};
    in.positional = &positional;
    auto begun = start(what, store, in);
    if (!begun) {
        require_reason(begun.error());
        return;
    }
    for (int n = 0; n != 20; ++n) {
        std::string row;
        const auto done = (*begun)->next(row);
        if (!done) {
            require_reason(done.error());
            return;
        }
        REQUIRE((*done == progress::row) == !row.empty());
        REQUIRE(row.empty() || read_json(row).has_value());
        if (*done == progress::end)
            return;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const json::object named{{"x", 1}, {"name", "a"}};
    for (const dialect in : {dialect::query, dialect::analytics}) {
        const auto parsed = parse(text, in);
        if (!parsed) {
            require_reason(parsed.error());
            continue;
        }
        (void)signature_of(**parsed);
        REQUIRE(parse((*parsed)->text, in).has_value());
        run_for_a_while(**parsed, named);
    }
    (void)parse_context(text);
    return 0;
}
