#pragma once
#include "lab/couchbase/analytics/analytics_service.hpp"
#include "lab/couchbase/cluster/http_in_sim.hpp"
#include "lab/couchbase/mgmt/commands.hpp"
#include "lab/couchbase/mgmt/management.hpp"
#include "lab/couchbase/n1ql/value.hpp"
#include "lab/couchbase/query/query_definitions.hpp"
#include "lab/couchbase/query/query_service.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

/// The sizes and contents of the chunks of a reply; its last one has none if it came to an end.
inline std::vector<std::string> chunks_in(std::string_view body)
{
    std::vector<std::string> all;
    while (!body.empty()) {
        std::size_t size = 0;
        const auto read = std::from_chars(body.data(), body.data() + body.size(), size, 16);
        const auto digits = static_cast<std::size_t>(read.ptr - body.data());
        if (digits == 0 || body.size() < digits + 2 + size)
            break;
        all.emplace_back(body.substr(digits + 2, size));
        body.remove_prefix(std::min(digits + 2 + size + 2, body.size()));
        if (size == 0)
            break;
    }
    return all;
}

/// A reply of the query or the analytics service.
struct query_answer {
    int status = 0;
    bool whole = false;  // came to its end
    std::string text = {};
    boost::json::object body = {};

    std::string state() const { return text_of("status"); }
    std::string text_of(std::string_view member) const
    {
        const auto* const found = body.if_contains({member.data(), member.size()});
        return !found               ? ""
               : found->is_string() ? found->get_string().c_str()
                                    : n1ql::json_text(*found);
    }
    /// The rows, one after the other.
    std::string rows() const
    {
        std::string made;
        if (const auto* const all = body.if_contains("results")) {
            for (const auto& one : all->as_array())
                made += (made.empty() ? "" : " ") + n1ql::json_text(one);
        }
        return made;
    }
    /// Of the first error; 0 if there is none.
    std::int64_t code() const
    {
        const auto* const errors = body.if_contains("errors");
        return errors ? errors->as_array().at(0).at("code").as_int64() : 0;
    }
    std::string message() const
    {
        const auto* const errors = body.if_contains("errors");
        return errors ? errors->as_array().at(0).at("msg").as_string().c_str() : "";
    }
};

inline query_answer read_answer(const dialled_port& from)
{
    query_answer made;
    made.status = from.status();
    made.text = from.body();
    const bool chunked = from.bytes.find("Transfer-Encoding: chunked") != std::string::npos;
    made.whole = !chunked && from.over;
    if (chunked) {
        made.text.clear();
        for (const std::string& one : chunks_in(from.body())) {
            made.whole = one.empty();
            made.text += one;
        }
    }
    boost::system::error_code wrong;
    const auto parsed = boost::json::parse(made.text, wrong);
    if (!wrong && parsed.is_object())
        made.body = parsed.as_object();
    return made;
}

/// Three nodes with all services, in the simulator.
class query_in_sim : public testing::Test {
protected:
    static void offer_all(cluster_options& options)
    {
        options.vbuckets = 16;
        options.services = {{"mgmt", make_management, {}},
                            {"n1ql", make_query_service, {"enhancedPreparedStatements"}},
                            {"cbas", make_analytics_service, {}}};
    }

    query_answer send(std::size_t node, const std::string& body, const char* service = "n1ql",
                      const char* path = "/query/service")
    {
        return read_answer(*ask(lab, lab.made->address(node, service), "POST", path, body));
    }
    /// A statement with more members of the request.
    query_answer query(std::string_view statement, const std::string& more = "",
                       std::size_t node = 0)
    {
        return send(node, body_of(statement, more));
    }
    query_answer analyze(std::string_view statement, const std::string& more = "")
    {
        return send(0, body_of(statement, more), "cbas");
    }
    static std::string body_of(std::string_view statement, const std::string& more)
    {
        return "{\"statement\":" + n1ql::json_text(n1ql::text(statement)) + more + "}";
    }
    std::string rows(std::string_view statement, const std::string& more = "")
    {
        const query_answer got = query(statement, more);
        EXPECT_EQ(got.state(), "success") << got.text;
        return got.rows();
    }
    result<std::vector<std::string>> command(const std::string& line)
    {
        return carry_out_now(*lab.made, line);
    }
    void put(const std::string& key, const std::string& content)
    {
        const std::uint16_t vbucket = vbucket_of_key(key, 16);
        const auto done =
            lab.link(lab.owner(vbucket)).ask(cluster_in_sim::set(vbucket, key, content));
        EXPECT_EQ(done.status, kv_status::success);
    }
    std::string stored(const std::string& key)
    {
        const std::uint16_t vbucket = vbucket_of_key(key, 16);
        return lab.link(lab.owner(vbucket)).ask(cluster_in_sim::get(vbucket, key)).value;
    }
    std::size_t under_way() { return *query_definitions_of(*lab.made).counter(0); }

    cluster_in_sim lab{3, 1, 1, offer_all};
};

}  // namespace holdfast::lab::couchbase
