#include "borrowed_document.hpp"
#include "task.hpp"

#include <bson/bson.h>

#include <bit>
#include <cstring>
#include <stdexcept>

namespace holdfast::bench {

namespace {

std::uint64_t first(const char* text)
{
    return static_cast<unsigned char>(*text);
}

bson_oid_t oid_of(const bson::object_id& id)
{
    bson_oid_t oid;
    std::memcpy(oid.bytes, id.bytes.data(), sizeof oid.bytes);
    return oid;
}

bool build(bson_t* out, const node& n);

bool build_members(bson_t* out, const std::vector<node>& members)
{
    for (const node& member : members) {
        if (!build(out, member))
            return false;
    }
    return true;
}

bool build_nested(bson_t* out, const char* key, int size, const node& n)
{
    bson_t inner;
    if (n.type == bson::type::array) {
        return bson_append_array_begin(out, key, size, &inner) &&
               build_members(&inner, n.children) && bson_append_array_end(out, &inner);
    }
    return bson_append_document_begin(out, key, size, &inner) &&
           build_members(&inner, n.children) && bson_append_document_end(out, &inner);
}

bool build_code_with_scope(bson_t* out, const char* key, int size, const node& n)
{
    bson_t scope = BSON_INITIALIZER;
    const bool done = build_members(&scope, n.children) &&
                      bson_append_code_with_scope(out, key, size, n.text.c_str(), &scope);
    bson_destroy(&scope);
    return done;
}

bool build_binary(bson_t* out, const char* key, int size, const node& n)
{
    return bson_append_binary(out, key, size, static_cast<bson_subtype_t>(n.subtype),
                              reinterpret_cast<const std::uint8_t*>(n.text.data()),
                              static_cast<std::uint32_t>(n.text.size()));
}

/// The keys of an array come from the tree: cheaper than to print numbers, as a caller might.
bool build(bson_t* out, const node& n)
{
    using bson::type;
    const char* const key = n.key.c_str();
    const int size = static_cast<int>(n.key.size());
    switch (n.type) {
    case type::double_:
        return bson_append_double(out, key, size, n.real);
    case type::string:
        return bson_append_utf8(out, key, size, n.text.data(), static_cast<int>(n.text.size()));
    case type::document:
    case type::array:
        return build_nested(out, key, size, n);
    case type::binary:
        return build_binary(out, key, size, n);
    case type::undefined:
        return bson_append_undefined(out, key, size);
    case type::object_id: {
        const bson_oid_t oid = oid_of(n.id);
        return bson_append_oid(out, key, size, &oid);
    }
    case type::boolean:
        return bson_append_bool(out, key, size, n.integer != 0);
    case type::datetime:
        return bson_append_date_time(out, key, size, n.integer);
    case type::null:
        return bson_append_null(out, key, size);
    case type::regex:
        return bson_append_regex(out, key, size, n.text.c_str(), n.options.c_str());
    case type::db_pointer: {
        const bson_oid_t oid = oid_of(n.id);
        return bson_append_dbpointer(out, key, size, n.text.c_str(), &oid);
    }
    case type::code:
        return bson_append_code(out, key, size, n.text.c_str());
    case type::symbol:
        return bson_append_symbol(out, key, size, n.text.data(), static_cast<int>(n.text.size()));
    case type::code_with_scope:
        return build_code_with_scope(out, key, size, n);
    case type::int32:
        return bson_append_int32(out, key, size, static_cast<std::int32_t>(n.integer));
    case type::timestamp:
        return bson_append_timestamp(out, key, size, n.time.seconds, n.time.increment);
    case type::int64:
        return bson_append_int64(out, key, size, n.integer);
    case type::decimal128: {
        const bson_decimal128_t decimal{n.decimal.low, n.decimal.high};
        return bson_append_decimal128(out, key, size, &decimal);
    }
    case type::max_key:
        return bson_append_maxkey(out, key, size);
    case type::min_key:
        return bson_append_minkey(out, key, size);
    case type::invalid:
        break;
    }
    return false;
}

/// The bytes of the last document that a task has made. Copying is no part of the work, so a task
/// keeps the document itself until the next one.
class making_task : public task {
public:
    making_task(const making_task&) = delete;
    making_task& operator=(const making_task&) = delete;
    ~making_task() override { bson_destroy(&made_); }

    std::vector<std::uint8_t> outcome() override
    {
        const std::uint8_t* const bytes = bson_get_data(&made_);
        return {bytes, bytes + made_.len};
    }

protected:
    making_task() { bson_init(&made_); }
    bson_t made_;
};

/// bson_init and bson_destroy around each document, the way its manual shows: a document of libbson
/// owns its memory.
class build_task : public making_task {
public:
    explicit build_task(const input& in) : tree_{in.tree} {}

    std::uint64_t once() override
    {
        bson_destroy(&made_);
        bson_init(&made_);
        return build_members(&made_, tree_) ? made_.len : 0;
    }

private:
    const std::vector<node>& tree_;
};

std::uint64_t traverse(bson_iter_t* at);

std::uint64_t read_nested(const bson_iter_t* at)
{
    bson_iter_t inner;
    return bson_iter_recurse(at, &inner) ? traverse(&inner) : 0;
}

std::uint64_t read_binary(const bson_iter_t* at)
{
    std::uint32_t size;
    const std::uint8_t* data;
    bson_iter_binary(at, nullptr, &size, &data);
    return size == 0 ? 0 : *data + size;
}

std::uint64_t read_code_with_scope(const bson_iter_t* at)
{
    std::uint32_t size;
    std::uint32_t scope_size;
    const std::uint8_t* scope;
    const char* const source = bson_iter_codewscope(at, &size, &scope_size, &scope);
    std::uint64_t sum = first(source) + size;
    bson_t variables;
    bson_iter_t inner;
    if (bson_init_static(&variables, scope, scope_size) && bson_iter_init(&inner, &variables))
        sum += traverse(&inner);
    return sum;
}

std::uint64_t read_value(const bson_iter_t* at)
{
    std::uint32_t size;
    const char* text;
    switch (bson_iter_type(at)) {
    case BSON_TYPE_DOUBLE:
        return std::bit_cast<std::uint64_t>(bson_iter_double(at));
    case BSON_TYPE_UTF8:
        text = bson_iter_utf8(at, &size);
        return first(text) + size;
    case BSON_TYPE_CODE:
        text = bson_iter_code(at, &size);
        return first(text) + size;
    case BSON_TYPE_SYMBOL:
        text = bson_iter_symbol(at, &size);
        return first(text) + size;
    case BSON_TYPE_DOCUMENT:
    case BSON_TYPE_ARRAY:
        return read_nested(at);
    case BSON_TYPE_BINARY:
        return read_binary(at);
    case BSON_TYPE_OID:
        return bson_iter_oid(at)->bytes[11];
    case BSON_TYPE_BOOL:
        return bson_iter_bool(at) ? 1 : 0;
    case BSON_TYPE_DATE_TIME:
        return static_cast<std::uint64_t>(bson_iter_date_time(at));
    case BSON_TYPE_REGEX: {
        const char* options;
        text = bson_iter_regex(at, &options);
        return first(text) + first(options);
    }
    case BSON_TYPE_DBPOINTER:
        bson_iter_dbpointer(at, &size, &text, nullptr);
        return first(text);
    case BSON_TYPE_CODEWSCOPE:
        return read_code_with_scope(at);
    case BSON_TYPE_INT32:
        return static_cast<std::uint64_t>(bson_iter_int32(at));
    case BSON_TYPE_TIMESTAMP: {
        std::uint32_t seconds;
        std::uint32_t increment;
        bson_iter_timestamp(at, &seconds, &increment);
        return std::uint64_t{seconds} + increment;
    }
    case BSON_TYPE_INT64:
        return static_cast<std::uint64_t>(bson_iter_int64(at));
    case BSON_TYPE_DECIMAL128: {
        bson_decimal128_t decimal;
        bson_iter_decimal128(at, &decimal);
        return decimal.low + decimal.high;
    }
    case BSON_TYPE_UNDEFINED:
    case BSON_TYPE_NULL:
    case BSON_TYPE_MAXKEY:
    case BSON_TYPE_MINKEY:
        return 1;
    case BSON_TYPE_EOD:
        break;
    }
    return 0;
}

std::uint64_t traverse(bson_iter_t* at)
{
    std::uint64_t sum = 0;
    while (bson_iter_next(at))
        sum += first(bson_iter_key(at)) + read_value(at);
    return sum;
}

class traverse_task : public task {
public:
    explicit traverse_task(const input& in) : bytes_{in.bytes} {}

    std::uint64_t once() override
    {
        const borrowed_document document{bytes_};
        bson_iter_t at;
        bson_iter_init(&at, document.get());
        return traverse(&at);
    }

private:
    const std::vector<std::uint8_t>& bytes_;
};

class lookup_task : public task {
public:
    explicit lookup_task(const input& in) : in_{in} {}

    std::uint64_t once() override
    {
        const borrowed_document document{in_.bytes};
        std::uint64_t sum = 0;
        bson_iter_t found;
        for (const std::string& key : in_.keys) {
            if (bson_iter_init_find(&found, document.get(), key.c_str()))
                sum += static_cast<std::uint64_t>(bson_iter_type(&found));
        }
        return sum;
    }

private:
    const input& in_;
};

class validate_task : public task {
public:
    explicit validate_task(const input& in) : bytes_{in.bytes} {}

    std::uint64_t once() override
    {
        const borrowed_document document{bytes_};
        std::size_t offset;
        return bson_validate(document.get(), BSON_VALIDATE_UTF8, &offset) ? 1 : 0;
    }

private:
    const std::vector<std::uint8_t>& bytes_;
};

class json_parse_task : public making_task {
public:
    explicit json_parse_task(const input& in) : text_{in.json} {}

    std::uint64_t once() override
    {
        bson_destroy(&made_);
        bson_error_t why;
        if (!bson_init_from_json(&made_, text_.data(), static_cast<ssize_t>(text_.size()), &why))
            throw std::runtime_error{why.message};
        return made_.len;
    }

private:
    const std::string& text_;
};

class json_print_task : public task {
public:
    json_print_task(const input& in, bool canonical) : bytes_{in.bytes}, canonical_{canonical} {}
    json_print_task(const json_print_task&) = delete;
    json_print_task& operator=(const json_print_task&) = delete;
    ~json_print_task() override { bson_free(text_); }

    std::uint64_t once() override
    {
        bson_free(text_);
        const borrowed_document document{bytes_};
        std::size_t size;
        text_ = canonical_ ? bson_as_canonical_extended_json(document.get(), &size)
                           : bson_as_relaxed_extended_json(document.get(), &size);
        return first(text_);
    }
    std::vector<std::uint8_t> outcome() override { return parse_with_libbson(text_); }

private:
    const std::vector<std::uint8_t>& bytes_;
    bool canonical_;
    char* text_ = nullptr;
};

}  // namespace

std::unique_ptr<task> make_libbson(std::string_view row, const input& in)
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
        return std::make_unique<json_print_task>(in, true);
    if (row == "json_relaxed")
        return std::make_unique<json_print_task>(in, false);
    return nullptr;
}

}  // namespace holdfast::bench
