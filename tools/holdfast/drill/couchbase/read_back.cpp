#include "tools/holdfast/drill/couchbase/read_back.hpp"

#include "runtime/wait.hpp"
#include "tools/holdfast/drill/couchbase/client.hpp"
#include "tools/holdfast/drill/couchbase/contents.hpp"
#include "tools/holdfast/drill/couchbase/outcome.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace holdfast::drill {

using namespace std::chrono_literals;
using runtime::awaitable;

namespace {

/// Nothing if there is no such document.
template <class T>
awaitable<result<std::optional<T>>> read_one(runtime::world& in,
                                             const couchbase::collection& documents,
                                             std::string key, time_point until)
{
    for (;;) {
        couchbase::get_options options;
        options.timeout = 2500ms;
        auto found = co_await documents.get<T>(key, options, boost::asio::use_awaitable);
        if (found)
            co_return std::optional<T>{std::move(found->content)};
        if (is(found.error(), couchbase::errc::document_not_found))
            co_return std::optional<T>{};
        if (in.steady_now() >= until)
            co_return std::move(found).error();
        co_await runtime::sleep_until(in, in.steady_now() + 100ms);
    }
}

}  // namespace

awaitable<result<found_state>> read_written(runtime::world& in, couchbase::collection documents,
                                            std::string prefix, const written_keys& written,
                                            time_point until)
{
    found_state made;
    for (const token which : written.documents) {
        const std::string key = prefix + "document " + std::to_string(which);
        auto there = co_await read_one<marked_value>(in, documents, key, until);
        if (!there)
            co_return std::move(there).error();
        if (*there)
            ++made.documents[(*there)->t];
    }
    for (const std::string& name : written.pages) {
        auto there = co_await read_one<marked_list>(in, documents, prefix + name, until);
        if (!there)
            co_return std::move(there).error();
        if (*there)
            made.pages[name] = {std::ssize((*there)->s), std::move((*there)->s)};
    }
    for (const std::string& name : written.counters) {
        auto there = co_await read_one<raw_json>(in, documents, prefix + name, until);
        if (!there)
            co_return std::move(there).error();
        if (*there) {
            const std::string_view text = (*there)->text();
            std::int64_t& value = made.counters[name];
            std::from_chars(text.data(), text.data() + text.size(), value);
        }
    }
    for (const std::string& name : written.records) {
        auto there = co_await read_one<marked_value>(in, documents, prefix + name, until);
        if (!there)
            co_return std::move(there).error();
        if (*there)
            made.records[name] = (*there)->t;
    }
    co_return made;
}

}  // namespace holdfast::drill
