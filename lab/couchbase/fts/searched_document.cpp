#include "lab/couchbase/fts/searched_document.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

namespace {

bool is_token_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::vector<text_token> tokens_of(std::string_view text)
{
    std::vector<text_token> made;
    for (std::size_t at = 0; at < text.size();) {
        if (!is_token_byte(text[at])) {
            ++at;
            continue;
        }
        text_token one{{}, made.size() + 1, at, at};
        while (one.end < text.size() && is_token_byte(text[one.end]))
            one.text += lower(text[one.end++]);
        at = one.end;
        made.push_back(std::move(one));
    }
    return made;
}

searched_document::searched_document(std::string id, json::value body)
    : id_{std::move(id)}, body_{std::make_unique<const json::value>(std::move(body))}
{
    collect({}, {}, *body_);
}

void searched_document::collect(const std::string& path, const std::vector<std::size_t>& places,
                                const json::value& from)
{
    if (const json::object* const object = from.if_object()) {
        for (const auto& [key, value] : *object) {
            const std::string name{key.data(), key.size()};
            collect(path.empty() ? name : path + "." + name, places, value);
        }
        return;
    }
    if (const json::array* const array = from.if_array()) {
        std::vector<std::size_t> inside = places;
        inside.push_back(0);
        for (const json::value& one : *array) {
            collect(path, inside, one);
            ++inside.back();
        }
        return;
    }
    field_leaf leaf{path, places, &from, {}};
    if (const json::string* const text = from.if_string())
        leaf.tokens = tokens_of({text->data(), text->size()});
    leaves_.push_back(std::move(leaf));
}

const json::value* searched_document::find(std::string_view path) const
{
    const json::value* at = body_.get();
    while (at && !path.empty()) {
        const std::size_t end = std::min(path.find('.'), path.size());
        const json::object* const object = at->if_object();
        at = object ? object->if_contains({path.data(), end}) : nullptr;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return at;
}

}  // namespace holdfast::lab::couchbase
