#include "lab/couchbase/views/view_map.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

error refused_view(std::string reason)
{
    using boost::system::errc::invalid_argument;
    return error{make_error_code(invalid_argument), std::move(reason)};
}

namespace {

constexpr int deepest_list = 8;

bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

class map_reader {
public:
    explicit map_reader(std::string_view text) : rest_{text} {}

    result<view_map> read();

private:
    void skip_spaces();
    bool take(std::string_view token);
    std::string name();
    bool read_head();
    bool read_expression(map_expression& into, int depth);
    bool read_path(map_expression& into);
    bool read_constant(map_expression& into);

    std::string_view rest_;
    std::string document_;  // the names of the parameters
    std::string meta_;
};

void map_reader::skip_spaces()
{
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
}

bool map_reader::take(std::string_view token)
{
    skip_spaces();
    if (!rest_.starts_with(token))
        return false;
    rest_.remove_prefix(token.size());
    return true;
}

std::string map_reader::name()
{
    skip_spaces();
    const auto end = std::ranges::find_if_not(rest_, is_name);
    std::string made{rest_.begin(), end};
    rest_.remove_prefix(made.size());
    return made;
}

/// "function name (doc, meta) {", or "(doc, meta) => {".
bool map_reader::read_head()
{
    const bool is_arrow = !take("function");
    if (!is_arrow)
        (void)name();
    if (!take("("))
        return false;
    document_ = name();
    if (take(","))
        meta_ = name();
    return take(")") && (!is_arrow || take("=>")) && take("{");
}

bool map_reader::read_constant(map_expression& into)
{
    skip_spaces();
    std::string text;
    if (rest_.starts_with('"') || rest_.starts_with('\'')) {
        const std::size_t end = rest_.find(rest_.front(), 1);
        if (end == rest_.npos || rest_.substr(0, end).find('\\') != rest_.npos)
            return false;
        into.constant = json::string{rest_.data() + 1, end - 1};
        rest_.remove_prefix(end + 1);
        return true;
    }
    const auto end = std::ranges::find_if(
        rest_, [](char c) { return c == ',' || c == ')' || c == ']' || c == ' ' || c == '\n'; });
    text.assign(rest_.begin(), end);
    boost::system::error_code wrong;
    into.constant = json::parse(text, wrong);
    rest_.remove_prefix(text.size());
    return !wrong && !into.constant.is_structured();
}

/// "doc", "doc.a.b" or "meta.id".
bool map_reader::read_path(map_expression& into)
{
    const std::string begin = name();
    while (take(".")) {
        into.path.push_back(name());
        if (into.path.back().empty())
            return false;
    }
    if (begin == meta_ && into.path == std::vector<std::string>{"id"}) {
        into.what = map_expression::kind::id;
        return true;
    }
    into.what = map_expression::kind::document;
    return begin == document_;
}

bool map_reader::read_expression(map_expression& into, int depth)
{
    skip_spaces();
    if (take("[")) {
        into.what = map_expression::kind::list;
        if (depth == deepest_list)
            return false;
        while (!take("]")) {
            if (!into.parts.empty() && !take(","))
                return false;
            if (!read_expression(into.parts.emplace_back(), depth + 1))
                return false;
        }
        return true;
    }
    const auto end = std::ranges::find_if_not(rest_, is_name);
    const std::string_view begin{rest_.begin(), end};
    const bool is_parameter = !begin.empty() && (begin == document_ || begin == meta_);
    return is_parameter ? read_path(into) : read_constant(into);
}

result<view_map> map_reader::read()
{
    view_map made;
    bool fine = read_head() && take("emit") && take("(") && read_expression(made.key, 0);
    if (fine && take(","))
        fine = read_expression(made.value, 0);
    fine = fine && take(")");
    (void)take(";");
    fine = fine && take("}");
    (void)take(";");
    skip_spaces();
    if (!fine || !rest_.empty())
        return refused_view(
            "the lab knows only map functions like 'function (doc, meta) { "
            "emit([doc.a.b, meta.id], null); }'");
    return made;
}

}  // namespace

result<view_map> read_view_map(std::string_view text)
{
    return map_reader{text}.read();
}

json::value value_of(const map_expression& of, std::string_view id, const json::value& document)
{
    switch (of.what) {
    case map_expression::kind::constant:
        return of.constant;
    case map_expression::kind::id:
        return json::string{id.data(), id.size()};
    case map_expression::kind::document: {
        const json::value* at = &document;
        for (const std::string& name : of.path) {
            const json::object* const object = at->if_object();
            at = object ? object->if_contains(name) : nullptr;
            if (!at)
                return nullptr;
        }
        return *at;
    }
    case map_expression::kind::list: {
        json::array made;
        for (const map_expression& one : of.parts)
            made.push_back(value_of(one, id, document));
        return made;
    }
    }
    return nullptr;
}

}  // namespace holdfast::lab::couchbase
