// Any text as a statement of the query language, and as the body of a request: it is refused with a
// number and a message, or runs, and then its rows are JSON.
#include "lab/couchbase/n1ql/memory_store.hpp"
#include "lab/couchbase/query/query_request.hpp"
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

/// The same as the body of a request, in both forms.
void read_as_request(std::string_view text)
{
    holdfast::lab::couchbase::http_request request;
    request.method = "POST";
    request.body = text;
    for (const char* const type : {"application/json", "application/x-www-form-urlencoded"}) {
        request.content_type = type;
        const auto read = holdfast::lab::couchbase::read_query_request(request);
        if (!read)
            require_reason(read.error());
        else
            REQUIRE(!read->statement.empty() || !read->prepared.empty());
        (void)holdfast::lab::couchbase::client_context_id_of(request);
    }
    if (const auto time = holdfast::lab::couchbase::read_duration(text))
        REQUIRE(holdfast::lab::couchbase::read_duration(
            holdfast::lab::couchbase::duration_text(*time)));
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
    read_as_request(text);
    return 0;
}
