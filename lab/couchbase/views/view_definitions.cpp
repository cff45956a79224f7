#include "lab/couchbase/views/view_definitions.hpp"

#include <boost/json/parse.hpp>

#include <utility>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::size_t most_views = 100;

}  // namespace

result<design_document> read_design_document(std::string_view text)
{
    boost::system::error_code wrong;
    boost::json::value sent = boost::json::parse({text.data(), text.size()}, wrong);
    if (wrong || !sent.is_object())
        return refused_view("a design document is a JSON object");
    design_document made;
    made.body = std::move(sent.get_object());
    const boost::json::value* const views = made.body.if_contains("views");
    if (views && (!views->is_object() || views->get_object().size() > most_views))
        return refused_view("'views' is an object with 100 members at most");
    for (const auto& [name, value] : views ? views->get_object() : boost::json::object{}) {
        const auto text_in = [&](const char* member) {
            const boost::json::object* const object = value.if_object();
            const boost::json::value* const found = object ? object->if_contains(member) : nullptr;
            const boost::json::string* const one = found ? found->if_string() : nullptr;
            return one ? std::string{one->data(), one->size()} : std::string{};
        };
        auto map = read_view_map(text_in("map"));
        const auto reduce = view_reduce_named(text_in("reduce"));
        if (!map)
            return std::move(map).error();
        if (!reduce)
            return refused_view("the lab knows only the reduce functions _count, _sum and _stats");
        made.views[std::string{name.data(), name.size()}] = {*std::move(map), *reduce};
    }
    return made;
}

view_definitions::documents& view_definitions::of(const bucket_layout& bucket)
{
    of_bucket& at = buckets[bucket.name];
    if (at.uuid != bucket.uuid)
        at = {bucket.uuid, {}};
    return at.designs;
}

}  // namespace holdfast::lab::couchbase
