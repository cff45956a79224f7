#include "lab/couchbase/data/subdoc.hpp"
#include "lab/couchbase/kv/exchange.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace holdfast::lab::couchbase {

namespace {

using core::couchbase::as_text;

/// More than a request may have, so that the one too many is refused as such.
constexpr std::size_t most_specs_read = max_subdoc_specs + 1;

std::optional<subdoc_spec> take_spec(big_endian_reader& from, bool mutation)
{
    const auto opcode = from.take<std::uint8_t>();
    const auto flags = from.take<std::uint8_t>();
    const auto path_size = from.take<std::uint16_t>();
    const auto value_size = mutation ? from.take<std::uint32_t>() : std::uint32_t{0};
    const auto path = path_size && value_size ? from.take_bytes(*path_size) : std::nullopt;
    const auto value = path ? from.take_bytes(*value_size) : std::nullopt;
    if (!value)
        return std::nullopt;
    return subdoc_spec{subdoc_opcode{*opcode}, *flags, std::string{as_text(*path)},
                       std::string{as_text(*value)}};
}

std::optional<std::vector<subdoc_spec>> read_specs(std::string_view body, bool mutation)
{
    std::vector<subdoc_spec> specs;
    big_endian_reader from{core::couchbase::as_octets(body)};
    while (!from.empty() && specs.size() != most_specs_read) {
        auto one = take_spec(from, mutation);
        if (!one)
            return std::nullopt;
        specs.push_back(*std::move(one));
    }
    return specs;
}

template <class... Numbers>
void append_numbers(std::string& to, Numbers... numbers)
{
    kv_extras bytes;
    (bytes.add(numbers), ...);
    to += as_text(bytes.bytes());
}

std::uint16_t number_of(kv_status code)
{
    return static_cast<std::uint16_t>(code);
}

void answer_lookup(const lookup_reply& found, kv_reply& reply)
{
    reply.status = found.code;
    reply.cas = found.cas;
    for (const subdoc_value& one : found.results) {
        append_numbers(reply.value, number_of(one.code),
                       static_cast<std::uint32_t>(one.value.size()));
        reply.value += one.value;
    }
}

/// The optional expiry and the optional flags: 0, 1, 4 or 5 bytes.
bool read_extras(std::span<const std::uint8_t> bytes, mutate_request& into)
{
    big_endian_reader extras{bytes};
    if (bytes.size() >= 4)
        into.expiry = extras.take<std::uint32_t>();
    if (!extras.empty())
        into.doc_flags = extras.take<std::uint8_t>().value_or(0);
    return extras.empty() && bytes.size() <= 5;
}

}  // namespace

void look_up_paths(node& on, kv_request& what, kv_reply& reply)
{
    const auto extras = what.frame.extras();
    const auto specs = read_specs(what.value, false);
    if (!specs || extras.size() > 1) {
        reply.fail(kv_status::invalid, "the specs of the lookup cannot be read");
        return;
    }
    const std::uint8_t flags = extras.empty() ? std::uint8_t{0} : extras[0];
    vbucket* const in = (flags & replica_read_flag) != 0
                            ? what.in->find_replica(what.frame.vbucket())
                            : what.in->find_active(what.frame.vbucket());
    if (!in)
        refuse_vbucket(on, what, reply);
    else if (read_document_key(what, reply) && check_readable(*in, what.key, reply))
        answer_lookup(look_up(*in, what.key, {*specs, flags}, what.now), reply);
}

void mutate_paths(node&, kv_request& what, kv_reply& reply)
{
    if (!begin_write(what, reply))
        return;
    const auto specs = read_specs(what.value, true);
    mutate_request request{};
    if (!specs || !read_extras(what.frame.extras(), request)) {
        reply.fail(kv_status::invalid, "the specs of the mutation cannot be read");
        return;
    }
    request.specs = *specs;
    request.cas = what.cas();
    request.preserve_expiry = what.infos.preserve_expiry;
    const mutate_reply done = mutate(*what.partition, what.key, request, what.now);
    reply.status = done.base.code;
    reply.cas = done.base.cas;
    if (done.failed != kv_status::success) {
        append_numbers(reply.value, done.failed_index, number_of(done.failed));
        return;
    }
    add_token(what, done.base, reply);
    for (const indexed_value& one : done.results) {
        append_numbers(reply.value, one.index, number_of(kv_status::success),
                       static_cast<std::uint32_t>(one.value.size()));
        reply.value += one.value;
    }
}

}  // namespace holdfast::lab::couchbase
