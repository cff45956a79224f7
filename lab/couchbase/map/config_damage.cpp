#include "lab/couchbase/map/configuration.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace holdfast::lab::couchbase {

namespace {

namespace damage_json = boost::json;

void set_all(damage_json::array& rows, int number)
{
    for (damage_json::value& row : rows) {
        for (damage_json::value& one : row.as_array())
            one = number;
    }
}

void damage_map(damage_json::object& map, config_damage what)
{
    damage_json::array& rows = map["vBucketMap"].as_array();
    if (what == config_damage::short_rows) {
        for (damage_json::value& row : rows)
            row.as_array().clear();
    } else if (what == config_damage::index_out_of_range) {
        set_all(rows, 1000);
    } else if (what == config_damage::all_missing) {
        set_all(rows, no_node);
    } else if (what == config_damage::no_vbuckets) {
        rows.clear();
    } else if (what == config_damage::no_servers) {
        map["serverList"].as_array().clear();
    }
}

}  // namespace

std::string damaged(const std::string& configuration, config_damage what)
{
    if (what == config_damage::none)
        return configuration;
    if (what == config_damage::not_json)
        return configuration.substr(0, configuration.size() / 2);
    damage_json::value all = damage_json::parse(configuration);
    damage_json::object& top = all.as_object();
    if (what == config_damage::no_extended_nodes)
        top.erase("nodesExt");
    else if (what == config_damage::older_revision)
        top["rev"] = top["rev"].as_int64() / 2;
    else if (what == config_damage::other_name)
        top["name"] = "another-bucket";
    else if (top.contains("vBucketServerMap"))
        damage_map(top["vBucketServerMap"].as_object(), what);
    return damage_json::serialize(all);
}

}  // namespace holdfast::lab::couchbase
