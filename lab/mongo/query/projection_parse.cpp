#include "lab/mongo/document/number.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/shell_text.hpp"
#include "lab/mongo/query/field_path.hpp"
#include "lab/mongo/query/projection_plan.hpp"
#include "lab/mongo/query/type_set.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace holdfast::lab::projecting {

namespace {

using bson::type;

constexpr int deepest_projection = 100;

bool is_flag(const bson::element& e)
{
    return e.type() == type::boolean || is_number(e.type());
}

std::string_view first_key(const bson::element& e)
{
    const auto first = e.as_document().begin();
    return first == e.as_document().end() ? std::string_view{} : first->key();
}

/// Reads a projection; what is included and what is excluded must not be mixed.
class reader {
public:
    explicit reader(plan& out) : out_{out} {}

    result<void> object(bson::view spec, const std::string& prefix, int depth)
    {
        if (depth > deepest_projection)
            return refuse(server_code::overflow, "the projection is nested too deeply");
        for (const bson::element& e : spec) {
            if (e.malformed())
                return refuse(22, "the projection is no valid BSON");
            const std::string path = prefix.empty() ? std::string{e.key()}
                                                    : prefix + "." + std::string{e.key()};
            if (auto read = entry(path, e, depth); !read)
                return read;
        }
        return {};
    }

    void finish()
    {
        if (!including_)
            including_ = id_included_ || has_element_;
        out_.including = *including_;
        const auto known = [&](std::string_view name) {
            return std::ranges::find(out_.root.children, name, &field::name) !=
                   out_.root.children.end();
        };
        if (out_.including && !known("_id"))
            out_.root.children.push_back({.name = "_id", .what = kind::include});
    }

private:
    result<void> entry(const std::string& path, const bson::element& e, int depth)
    {
        if (path.ends_with(".$"))
            return positional(path.substr(0, path.size() - 2), e);
        if (path.find(".$.") != path.npos)
            return refuse(31394,
                          "As of 4.4, it's illegal to specify positional operator in the middle of "
                          "a path.Positional projection may only be used at the end, for example: "
                          "a.b.$. If the query previously used a form like a.b.$.d, remove the "
                          "parts following the '$' and the results will be equivalent.");
        if (auto checked = filter::check_path(path); !checked)
            return checked;
        if (is_flag(e))
            return flag(path, is_true(e));
        if (e.type() != type::document)
            return computed(path, e, 31310,
                            "Cannot use an expression " + shell_text_of(e) +
                                " in an exclusion projection");
        if (e.as_document().empty())
            return refuse(51270,
                          "An empty sub-projection is not a valid value. Found empty object "
                          "at path");
        const std::string_view first = first_key(e);
        if (!first.starts_with('$'))
            return object(e.as_document(), path, depth + 1);
        if (first == "$elemMatch")
            return element(path, *e.as_document().begin());
        if (first == "$meta")
            return refuse(server_code::bad_value, "$meta is not supported here");
        if (first == "$slice" && is_find_slice(*e.as_document().begin()))
            return slice(path, *e.as_document().begin());
        if (auto known = check_projected(e.as_document()); !known)
            return known;
        return computed(path, e, 31252,
                        "Cannot use expression other than $meta in exclusion projection");
    }

    result<void> flag(const std::string& path, bool include)
    {
        if (path == "_id") {
            id_included_ = include;
            return add(path, {.what = include ? kind::include : kind::exclude});
        }
        if (including_ && *including_ != include)
            return include ? refuse(31253, "Cannot do inclusion on field " + path +
                                               " in exclusion projection")
                           : refuse(31254, "Cannot do exclusion on field " + path +
                                               " in inclusion projection");
        including_ = include;
        return add(path, {.what = include ? kind::include : kind::exclude});
    }

    result<void> computed(const std::string& path, const bson::element& e, int code,
                          std::string no_exclusion)
    {
        if (including_ && !*including_)
            return refuse(code, std::move(no_exclusion));
        including_ = true;
        auto compiled = expression::compile(e, {}, *out_.context);
        if (!compiled)
            return std::move(compiled).error();
        field made{.what = kind::computed, .computes = true};
        made.value = std::make_unique<expression>(std::move(*compiled));
        return add(path, std::move(made));
    }

    result<void> positional(const std::string& path, const bson::element& e)
    {
        if (path.ends_with(".$") || path.find(".$.") != path.npos)
            return refuse(31287, "Cannot use positional projection twice in one path");
        if (auto checked = filter::check_path(path); !checked)
            return checked;
        if (!is_flag(e))
            return refuse(31271, "positional projection cannot be used with a literal");
        if (!is_true(e) || (including_ && !*including_))
            return refuse(31395, "positional projection cannot be used with exclusion");
        if (has_positional_)
            return refuse(31276, "Cannot specify more than one positional projection per query.");
        if (has_element_)
            return refuse(31256, "Cannot specify positional operator and $elemMatch.");
        has_positional_ = true;
        including_ = true;
        return add(path, {.what = kind::positional, .picks = true});
    }

    result<void> element(const std::string& path, const bson::element& e)
    {
        if (e.type() != type::document)
            return refuse(31274, "elemMatch: Invalid argument, object required, but got " +
                                     shell_text_of(e));
        if (path.find('.') != path.npos)
            return refuse(31275, "Cannot use $elemMatch projection on a nested field.");
        if (has_positional_)
            return refuse(31255, "Cannot specify positional operator and $elemMatch.");
        has_element_ = true;
        // {a: {$elemMatch: ...}} is also a condition on a document {a: [...]}.
        bson::byte_buffer bytes;
        bson::builder out{bytes};
        out.document("a").copy(e);
        if (!out.finish())
            return refuse(22, "the projection is no valid BSON");
        auto wanted = matcher::compile(bson::document::adopt(std::move(bytes)), {}, *out_.context);
        if (!wanted)
            return std::move(wanted).error();
        field made{.what = kind::element, .computes = true};
        made.wanted = std::make_unique<matcher>(std::move(*wanted));
        return add(path, std::move(made));
    }

    static bool is_find_slice(const bson::element& e)
    {
        if (is_number(e.type()))
            return true;
        return e.type() == type::array && e.as_array().count() == 2 &&
               is_number(e.as_array()[0].type()) && is_number(e.as_array()[1].type());
    }

    static std::int64_t clamped(const bson::element& e)
    {
        constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
        return std::clamp(truncated_number(e).value_or(0), -most, most);
    }

    result<void> slice(const std::string& path, const bson::element& e)
    {
        field made{.what = kind::slice};
        if (e.type() == type::array) {
            made.skip = clamped(e.as_array()[0]);
            made.limit = clamped(e.as_array()[1]);
            if (made.limit <= 0)
                return refuse(28724, "First argument to $slice must be an array, but is of type: " +
                                         std::string{filter::name_of_type(e.as_array()[0].type())});
        } else {
            const std::int64_t count = clamped(e);
            made.skip = std::min<std::int64_t>(count, 0);
            made.limit = std::abs(count);
        }
        return add(path, std::move(made));
    }

    /// Puts a field in its place; one path must not go on where another ends.
    result<void> add(std::string_view path, field made)
    {
        field* at = &out_.root;
        for (std::string_view rest = path;;) {
            at->computes = at->computes || made.computes;
            at->picks = at->picks || made.picks;
            const std::size_t dot = rest.find('.');
            const std::string_view name = rest.substr(0, dot);
            auto found = std::ranges::find(at->children, name, &field::name);
            const bool is_new = found == at->children.end();
            if (dot == rest.npos) {
                if (!is_new)
                    return refuse(31250, "Path collision at " + std::string{path});
                made.name = name;
                at->children.push_back(std::move(made));
                return {};
            }
            if (!is_new && found->what != kind::nested)
                return refuse(31249, "Path collision at " + std::string{path} +
                                         " remaining portion " + std::string{rest.substr(dot + 1)});
            at = is_new ? &at->children.emplace_back(field{.name = std::string{name}}) : &*found;
            rest.remove_prefix(dot + 1);
        }
    }

    plan& out_;
    std::optional<bool> including_;
    bool id_included_ = false;
    bool has_positional_ = false;
    bool has_element_ = false;
};

}  // namespace

result<void> read_plan(bson::view spec, plan& out)
{
    out.everything = spec.empty();
    reader read{out};
    if (auto all = read.object(spec, "", 0); !all)
        return all;
    read.finish();
    return {};
}

}  // namespace holdfast::lab::projecting
