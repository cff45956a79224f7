#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/validate.hpp"
#include "task.hpp"

#include <bit>

namespace holdfast::bench {

namespace {

std::uint64_t first(std::string_view text)
{
    return text.empty() ? 0 : static_cast<unsigned char>(text.front());
}

bson::builder& build(bson::builder& out, std::string_view key, const node& n);

void build_members(bson::builder& out, const std::vector<node>& members)
{
    for (const node& member : members)
        build(out, member.key, member);
}

bson::builder& build_document(bson::builder& out, std::string_view key,
                              const std::vector<node>& members)
{
    auto inner = out.document(key);
    build_members(inner, members);
    return out;
}

bson::builder& build_array(bson::builder& out, std::string_view key,
                           const std::vector<node>& members)
{
    auto items = out.array(key);
    for (const node& item : members)
        build(items.elements(), items.next_key(), item);
    return out;
}

bson::builder& build_code_with_scope(bson::builder& out, std::string_view key, const node& n)
{
    auto variables = out.code_with_scope(key, n.text);
    build_members(variables, n.children);
    return out;
}

bson::binary payload(const node& n)
{
    return {{reinterpret_cast<const std::uint8_t*>(n.text.data()), n.text.size()}, n.subtype};
}

bson::builder& build(bson::builder& out, std::string_view key, const node& n)
{
    using bson::type;
    switch (n.type) {
    case type::double_:
        return out.add(key, n.real);
    case type::string:
        return out.add(key, n.text);
    case type::document:
        return build_document(out, key, n.children);
    case type::array:
        return build_array(out, key, n.children);
    case type::binary:
        return out.add(key, payload(n));
    case type::undefined:
        return out.add(key, bson::undefined{});
    case type::object_id:
        return out.add(key, n.id);
    case type::boolean:
        return out.add(key, n.integer != 0);
    case type::datetime:
        return out.add(key, bson::datetime{std::chrono::milliseconds{n.integer}});
    case type::null:
        return out.add(key, bson::null{});
    case type::regex:
        return out.add(key, bson::regex{n.text, n.options});
    case type::db_pointer:
        return out.add(key, bson::db_pointer{n.text, n.id});
    case type::code:
        return out.add(key, bson::code{n.text});
    case type::symbol:
        return out.add(key, bson::symbol{n.text});
    case type::code_with_scope:
        return build_code_with_scope(out, key, n);
    case type::int32:
        return out.add(key, static_cast<std::int32_t>(n.integer));
    case type::timestamp:
        return out.add(key, n.time);
    case type::int64:
        return out.add(key, n.integer);
    case type::decimal128:
        return out.add(key, n.decimal);
    case type::max_key:
        return out.add(key, bson::max_key{});
    case type::min_key:
        return out.add(key, bson::min_key{});
    case type::invalid:
        break;
    }
    return out;
}

/// Builds into one buffer that is used again, as a connection does.
class build_task : public task {
public:
    explicit build_task(const input& in) : tree_{in.tree} {}

    std::uint64_t once() override
    {
        buffer_.clear();
        bson::builder out{buffer_};
        build_members(out, tree_);
        return out.finish().value().size();
    }
    std::vector<std::uint8_t> outcome() override
    {
        return {buffer_.bytes().begin(), buffer_.bytes().end()};
    }

private:
    const std::vector<node>& tree_;
    bson::byte_buffer buffer_;
};

std::uint64_t traverse(bson::view document);

std::uint64_t read_value(const bson::element& e)
{
    using bson::type;
    switch (e.type()) {
    case type::double_:
        return std::bit_cast<std::uint64_t>(e.as_double());
    case type::string:
    case type::code:
    case type::symbol:
        return first(e.as_string()) + e.as_string().size();
    case type::document:
    case type::array:
        return traverse(e.as_document());
    case type::binary: {
        const bson::binary value = e.as_binary();
        return value.bytes.empty() ? 0 : value.bytes.front() + value.bytes.size();
    }
    case type::object_id:
        return e.as_object_id().bytes.back();
    case type::boolean:
        return e.as_bool() ? 1 : 0;
    case type::datetime:
        return static_cast<std::uint64_t>(e.as_datetime().time_since_epoch().count());
    case type::regex: {
        const bson::regex value = e.as_regex();
        return first(value.pattern) + first(value.options);
    }
    case type::db_pointer:
        return first(e.as_db_pointer().value().collection);
    case type::code_with_scope: {
        const auto value = e.as_code_with_scope().value();
        return first(value.source) + value.source.size() + traverse(value.scope);
    }
    case type::int32:
        return static_cast<std::uint64_t>(e.as_int32());
    case type::timestamp:
        return std::uint64_t{e.as_timestamp().seconds} + e.as_timestamp().increment;
    case type::int64:
        return static_cast<std::uint64_t>(e.as_int64());
    case type::decimal128:
        return e.as_decimal128().low + e.as_decimal128().high;
    case type::undefined:
    case type::null:
    case type::min_key:
    case type::max_key:
        return 1;
    case type::invalid:
        throw failure{e.mismatch("an element")};
    }
    return 0;
}

std::uint64_t traverse(bson::view document)
{
    std::uint64_t sum = 0;
    for (const bson::element& e : document)
        sum += first(e.key()) + read_value(e);
    return sum;
}

class traverse_task : public task {
public:
    explicit traverse_task(const input& in) : bytes_{in.bytes} {}
    std::uint64_t once() override { return traverse(bson::view::parse(bytes_).value()); }

private:
    const std::vector<std::uint8_t>& bytes_;
};

class lookup_task : public task {
public:
    explicit lookup_task(const input& in) : in_{in} {}

    std::uint64_t once() override
    {
        const bson::view document = bson::view::parse(in_.bytes).value();
        std::uint64_t sum = 0;
        for (const std::string& key : in_.keys)
            sum += static_cast<std::uint64_t>(document.find(key).type());
        return sum;
    }

private:
    const input& in_;
};

class validate_task : public task {
public:
    explicit validate_task(const input& in) : bytes_{in.bytes} {}
    std::uint64_t once() override { return bson::validate(bytes_) ? 1 : 0; }

private:
    const std::vector<std::uint8_t>& bytes_;
};

class json_parse_task : public task {
public:
    explicit json_parse_task(const input& in) : text_{in.json} {}

    std::uint64_t once() override
    {
        buffer_.clear();
        bson::append_from_json(buffer_, text_).value();
        return buffer_.size();
    }
    std::vector<std::uint8_t> outcome() override
    {
        return {buffer_.bytes().begin(), buffer_.bytes().end()};
    }

private:
    const std::string& text_;
    bson::byte_buffer buffer_;
};

class json_print_task : public task {
public:
    json_print_task(const input& in, bson::json_mode mode) : bytes_{in.bytes}, mode_{mode} {}

    std::uint64_t once() override
    {
        text_.clear();
        bson::append_json(text_, bson::view::parse(bytes_).value(), mode_).value();
        return first(text_);  // not the length: the two libraries put spaces elsewhere
    }
    std::vector<std::uint8_t> outcome() override { return parse_with_libbson(text_); }

private:
    const std::vector<std::uint8_t>& bytes_;
    bson::json_mode mode_;
    std::string text_;
};

}  // namespace

std::unique_ptr<task> make_ours(std::string_view row, const input& in)
{
    if (row == "build")
        return std::make_unique<build_task>(in);
    if (row == "traverse")
        return std::make_unique<traverse_task>(in);
    if (row == "lookup")
        return std::make_unique<lookup_task>(in);
    if (row == "validate")
        return std::make_unique<validate_task>(in);
    if (row == "json_parse")
        return std::make_unique<json_parse_task>(in);
    if (row == "json_print")
        return std::make_unique<json_print_task>(in, bson::json_mode::canonical);
    if (row == "json_relaxed")
        return std::make_unique<json_print_task>(in, bson::json_mode::relaxed);
    return nullptr;
}

}  // namespace holdfast::bench
