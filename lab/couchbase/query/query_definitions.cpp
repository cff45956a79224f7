#include "lab/couchbase/query/query_definitions.hpp"

#include "lab/couchbase/n1ql/parser.hpp"
#include "lab/couchbase/n1ql/query_error.hpp"
#include "lab/sasl/scram.hpp"

#include <cstdint>
#include <cstdio>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

/// Between the context and the text of an encoded plan.
constexpr char plan_separator = '\0';

std::uint64_t hash_of(std::string_view text, std::uint64_t seed)
{
    for (const char c : text)
        seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return seed;
}

std::string address_of(cluster& of, std::size_t node)
{
    const std::string management = of.address(node, "mgmt");
    return "[" + (management.empty() ? of.address(node) : management) + "]";
}

const query_plan* find_here(query_definitions& in, std::size_t node, std::string_view name)
{
    const auto& here = in.plans[node];
    const auto found = here.find(name);
    return found == here.end() ? nullptr : &found->second;
}

error undecodable()
{
    return n1ql::refuse(n1ql::query_code::prepared_decoding, "Unable to decode prepared statement");
}

}  // namespace

std::shared_ptr<std::size_t> query_definitions::counter(std::size_t node)
{
    std::shared_ptr<std::size_t>& kept = running[node];
    if (!kept)
        kept = std::make_shared<std::size_t>(0);
    return kept;
}

query_definitions& query_definitions_of(cluster& of)
{
    return of.admin().definitions<query_definitions>("n1ql");
}

std::string plan_name(cluster& of, std::size_t node, const query_plan& plan)
{
    const std::string whole = plan.context + plan_separator + plan.of->text;
    const std::uint64_t high = hash_of(whole, 0xcbf29ce484222325);
    const std::uint64_t low = hash_of(whole, high);
    char digits[40];
    std::snprintf(digits, sizeof digits, "%08x-%04x-5%03x-%04x-%012llx",
                  static_cast<unsigned>(high >> 32), static_cast<unsigned>(high >> 16 & 0xffff),
                  static_cast<unsigned>(high & 0xfff),
                  static_cast<unsigned>(0x8000 | (low >> 48 & 0x3fff)),
                  static_cast<unsigned long long>(low & 0xffffffffffff));
    return address_of(of, node) + digits;
}

const query_plan* find_plan(cluster& of, std::size_t node, std::string_view name,
                            std::string_view context)
{
    query_definitions& all = query_definitions_of(of);
    const query_plan* found = find_here(all, node, name);
    for (std::size_t n = 0; !found && n != of.nodes(); ++n) {
        if (n == node || !of.is_running(n) || !name.starts_with(address_of(of, n)))
            continue;
        found = find_here(all, n, name);
        if (found)
            keep_plan(of, node, std::string{name}, *found);
    }
    return found && found->context == context ? found : nullptr;
}

void keep_plan(cluster& of, std::size_t node, const std::string& name, query_plan plan)
{
    auto& here = query_definitions_of(of).plans[node];
    if (here.size() == most_plans && !here.contains(name))
        here.erase(here.begin());
    here[name] = std::move(plan);
}

std::string encode_plan(const query_plan& plan)
{
    const std::string whole = plan.context + plan_separator + plan.of->text;
    return base64_text({reinterpret_cast<const std::uint8_t*>(whole.data()), whole.size()});
}

result<query_plan> decode_plan(std::string_view encoded)
{
    const auto bytes = bytes_of_base64(encoded);
    if (!bytes)
        return undecodable();
    const std::string whole{bytes->begin(), bytes->end()};
    const std::size_t separator = whole.find(plan_separator);
    if (separator == whole.npos)
        return undecodable();
    auto parsed = n1ql::parse(std::string_view{whole}.substr(separator + 1));
    if (!parsed)
        return undecodable();
    return query_plan{*std::move(parsed), whole.substr(0, separator)};
}

}  // namespace holdfast::lab::couchbase
