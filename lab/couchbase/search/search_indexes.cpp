#include "lab/couchbase/search/search_indexes.hpp"

#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

namespace {

const json::object* object_in(const json::object* in, std::string_view name)
{
    const json::value* const found = in ? in->if_contains({name.data(), name.size()}) : nullptr;
    return found ? found->if_object() : nullptr;
}

}  // namespace

std::string search_index_name::full() const
{
    return bucket.empty() ? name : bucket + "." + scope + "." + name;
}

search_keyspaces keyspaces_of(const json::object& definition, const search_index_name& name)
{
    const json::object* const params = object_in(&definition, "params");
    const json::object* const config = object_in(params, "doc_config");
    const json::value* const mode = config ? config->if_contains("mode") : nullptr;
    const bool by_scope = mode && mode->is_string() && mode->get_string().starts_with("scope.");
    const json::object* const types = object_in(object_in(params, "mapping"), "types");
    search_keyspaces made;
    for (const auto& [type, mapping] : by_scope&& types ? *types : json::object{}) {
        const std::string_view path{type.data(), type.size()};
        const std::size_t dot = std::min(path.find('.'), path.size());
        const std::string_view rest = path.substr(std::min(dot + 1, path.size()));
        std::pair<std::string, std::string> one{path.substr(0, dot),
                                                rest.substr(0, rest.find('.'))};
        const json::value* const enabled = mapping.is_object()
                                               ? mapping.get_object().if_contains("enabled")
                                               : nullptr;
        const bool off = enabled && enabled->is_bool() && !enabled->get_bool();
        if (!off && !one.second.empty() && std::ranges::find(made, one) == made.end())
            made.push_back(std::move(one));
    }
    if (made.empty() && name.scope.empty())
        made.emplace_back("_default", "_default");
    else if (made.empty())
        made.emplace_back(name.scope, "");
    return made;
}

}  // namespace holdfast::lab::couchbase
