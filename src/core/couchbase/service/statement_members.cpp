#include "core/couchbase/service/statement_members.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <map>
#include <vector>

namespace holdfast::core::couchbase {

namespace {

using holdfast::couchbase::errc;
using holdfast::couchbase::mutation_state;
using holdfast::couchbase::mutation_token;

}  // namespace

std::string scan_vectors_of(const mutation_state& state)
{
    std::map<std::string_view, std::vector<const mutation_token*>> by_bucket;
    for (const mutation_token& token : state.tokens())
        by_bucket[token.bucket].push_back(&token);
    bson::byte_buffer bytes;
    json::writer out{bytes};
    out.begin_object();
    for (const auto& [bucket, tokens] : by_bucket) {
        out.key(bucket);
        out.begin_object();
        for (const mutation_token* token : tokens) {
            out.plain_key(std::to_string(token->vbucket));
            out.begin_array();
            out.write(token->sequence_number);
            out.write(std::string_view{std::to_string(token->vbucket_uuid)});
            out.end_array();
        }
        out.end_object();
    }
    out.end_object();
    return text_in(bytes);
}

std::string search_consistency_of(std::string_view index, const mutation_state& state)
{
    bson::byte_buffer bytes;
    json::writer out{bytes};
    out.begin_object();
    out.plain_key("level");
    out.write(std::string_view{"at_plus"});
    out.plain_key("vectors");
    out.begin_object();
    out.key(index);
    out.begin_object();
    for (const mutation_token& token : state.tokens()) {
        out.plain_key(std::to_string(token.vbucket) + "/" + std::to_string(token.vbucket_uuid));
        out.write(token.sequence_number);
    }
    out.end_object();
    out.end_object();
    out.end_object();
    return text_in(bytes);
}

result<std::string> statement_json_of(std::string_view statement)
{
    if (statement.empty())
        return error{errc::invalid_argument, "the statement is empty"};
    return json_text_of("statement", statement);
}

}  // namespace holdfast::core::couchbase
