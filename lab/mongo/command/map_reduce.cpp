#include "lab/mongo/command/admin.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/scan.hpp"
#include "lab/mongo/command/views.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule map_reduce_rules[] = {
    {"map"},
    {"reduce"},
    {"out"},
    {"finalize"},
    {"scope"},
    {"query", kind::document},
    {"sort", kind::document},
    {"limit", kind::count},
    {"collation", kind::document},
    {"verbose", kind::ignored},
    {"jsMode", kind::ignored},
};

/// Reads JavaScript word by word. What is read is gone from the text.
class script {
public:
    explicit script(std::string_view from) noexcept : rest_{from} {}

    bool take(std::string_view token) noexcept
    {
        skip_space();
        if (!rest_.starts_with(token))
            return false;
        rest_.remove_prefix(token.size());
        return true;
    }
    /// Empty if there is none.
    std::string_view name() noexcept
    {
        constexpr std::string_view letters =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
        skip_space();
        const std::string_view found = rest_.substr(
            0, std::min(rest_.find_first_not_of(letters), rest_.size()));
        rest_.remove_prefix(found.size());
        return found;
    }
    std::optional<std::int32_t> number() noexcept
    {
        skip_space();
        std::int32_t found = 0;
        const auto [end, bad] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), found);
        if (bad != std::errc{})
            return std::nullopt;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return found;
    }
    /// Of a function's body: nothing may follow.
    bool ends() noexcept
    {
        take(";");
        const bool closed = take("}");
        skip_space();
        return closed && rest_.empty();
    }

private:
    void skip_space() noexcept
    {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    }

    std::string_view rest_;
};

std::string_view source_of(const bson::element& e) noexcept
{
    const bool text = e.type() == bson::type::string || e.type() == bson::type::code;
    return text ? e.as_string() : std::string_view{};
}

/// function f() { return emit(0, this.x + 1) }
struct emitted {
    std::int32_t key = 0;
    std::string_view field = {};
    std::int32_t plus = 0;
};

std::optional<emitted> emitted_by(std::string_view map) noexcept
{
    script from{map};
    emitted found;
    if (!from.take("function"))
        return std::nullopt;
    (void)from.name();
    if (!from.take("(") || !from.take(")") || !from.take("{"))
        return std::nullopt;
    from.take("return");
    if (!from.take("emit") || !from.take("("))
        return std::nullopt;
    const auto key = from.number();
    if (!key || !from.take(",") || !from.take("this") || !from.take("."))
        return std::nullopt;
    found.key = *key;
    found.field = from.name();
    if (from.take("+")) {
        const auto plus = from.number();
        if (!plus)
            return std::nullopt;
        found.plus = *plus;
    }
    const bool whole = !found.field.empty() && from.take(")") && from.ends();
    return whole ? std::optional{found} : std::nullopt;
}

/// function f(k, v) { return v.reduce((a, b) => a + b); }, or Array.sum(v)
bool adds_up(std::string_view reduce) noexcept
{
    script from{reduce};
    if (!from.take("function"))
        return false;
    (void)from.name();
    if (!from.take("(") || from.name().empty() || !from.take(","))
        return false;
    const std::string_view values = from.name();
    if (values.empty() || !from.take(")") || !from.take("{") || !from.take("return"))
        return false;
    const std::string_view on = from.name();
    if (on == "Array")
        return from.take(".") && from.take("sum") && from.take("(") && from.name() == values &&
               from.take(")") && from.ends();
    if (on != values || !from.take(".") || !from.take("reduce") || !from.take("(") ||
        !from.take("("))
        return false;
    const std::string_view sum = from.name();
    if (!from.take(","))
        return false;
    const std::string_view next = from.name();
    return !sum.empty() && !next.empty() && from.take(")") && from.take("=>") &&
           from.name() == sum && from.take("+") && from.name() == next && from.take(")") &&
           from.ends();
}

/// As servers do it too: a mapReduce is a pipeline that groups.
bson::array pipeline_for(const emitted& what, bson::view filter, bson::view sort,
                         std::int64_t limit)
{
    const std::string field = "$" + std::string{what.field};
    bson::byte_buffer bytes;
    bson::array_builder out{bytes};
    const bson::array before = stages_of(filter, sort, 0, limit, {});
    for (const bson::element& stage : bson::array_view{before})
        out.copy(stage);
    const bson::document value = bson::doc("$sum",
                                           bson::object("$add", bson::list(field, what.plus)));
    out.add(bson::object("$group", bson::object("_id", what.key, "value", value)));
    if (!out.finish())
        return {};
    return bson::array::adopt(std::move(bytes));
}

}  // namespace

result<progress> run_map_reduce(node& on, request& what, bson::builder& reply)
{
    auto read = fields<map_reduce_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    const auto& f = *read;
    const auto map = emitted_by(source_of(f["map"]));
    const bool known = map && adds_up(source_of(f["reduce"])) && !f.has("finalize") &&
                       !f.has("scope") && f.document("out").find("inline");
    if (!known)
        return refuse(server_code::command_not_supported,
                      "mapReduce runs no JavaScript here; only sums are known, of "
                      "\"emit(0, this.x + 1)\", inline. Use an aggregation pipeline");
    auto ns = namespace_text::of(what);
    if (!ns)
        return std::move(ns).error();
    auto context = context_of(on);
    if (!context)
        return std::move(context).error();
    const bson::array stages = pipeline_for(*map, f.document("query"), f.document("sort"),
                                            f.number("limit"));
    const pipeline_run run{
        .ns = *ns, .stages = stages, .collation = f["collation"], .at = read_time_of(on, what)};
    auto made = run_pipeline(on, run, *context);
    if (!made)
        return std::move(made).error();
    auto results = reply.array("results");
    for (const bson::document& one : made->results)
        results.add(one.view());
    return progress::done;
}

}  // namespace holdfast::lab::mongo
