#include "lab/couchbase/mgmt/fault_json.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <chrono>
#include <limits>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

namespace json = boost::json;

constexpr std::size_t longest_fault_list = 1000;

error wrong_fault(std::string why)
{
    return error{holdfast::couchbase::errc::invalid_argument, "fault: " + std::move(why)};
}

// Each reads a value into a member of the fault; false if it is of another type.

bool take(const json::value& from, bool& into)
{
    if (const bool* const value = from.if_bool())
        into = *value;
    return from.is_bool();
}

bool take(const json::value& from, std::string& into)
{
    if (const json::string* const value = from.if_string())
        into.assign(value->data(), value->size());
    return from.is_string();
}

bool take(const json::value& from, double& into)
{
    boost::system::error_code why;
    into = from.to_number<double>(why);
    return !why;
}

template <class Integer>
    requires std::is_integral_v<Integer>
bool take(const json::value& from, Integer& into)
{
    boost::system::error_code why;
    into = from.to_number<Integer>(why);
    return !why;
}

bool take(const json::value& from, std::chrono::milliseconds& into)
{
    std::uint32_t count = 0;
    const bool fine = take(from, count);
    into = std::chrono::milliseconds{count};
    return fine;
}

template <class Value>
bool take(const json::value& from, std::optional<Value>& into)
{
    return take(from, into.emplace());
}

bool take(const json::value& from, couchbase_answer& into);

template <class Value>
bool take(const json::value& from, std::vector<Value>& into)
{
    const json::array* const list = from.if_array();
    if (!list || list->size() > longest_fault_list)
        return false;
    for (const json::value& one : *list) {
        if (!take(one, into.emplace_back()))
            return false;
    }
    return true;
}

bool take(const json::value& from, couchbase_answer& into)
{
    const json::object* const object = from.if_object();
    if (!object)
        return false;
    for (const auto& [name, value] : *object) {
        const bool fine = (name == "status" && take(value, into.status)) ||
                          (name == "body" && take(value, into.body)) ||
                          (name == "content_type" && take(value, into.content_type)) ||
                          (name == "headers" && take(value, into.headers));
        if (!fine)
            return false;
    }
    return true;
}

struct member_reader {
    std::string_view name;
    bool (*read)(const json::value& from, couchbase_fault& into);
};

template <auto Member>
bool read_member(const json::value& from, couchbase_fault& into)
{
    return take(from, into.*Member);
}

using fault_type = couchbase_fault;
constexpr member_reader member_readers[] = {
    {"nodes", read_member<&fault_type::nodes>},
    {"operations", read_member<&fault_type::operations>},
    {"bucket", read_member<&fault_type::bucket>},
    {"key_prefix", read_member<&fault_type::key_prefix>},
    {"connection", read_member<&fault_type::connection>},
    {"service", read_member<&fault_type::service>},
    {"path_prefix", read_member<&fault_type::path_prefix>},
    {"method", read_member<&fault_type::method>},
    {"contains", read_member<&fault_type::contains>},
    {"skip", read_member<&fault_type::skip>},
    {"times", read_member<&fault_type::times>},
    {"probability", read_member<&fault_type::probability>},
    {"status", read_member<&fault_type::status>},
    {"body", read_member<&fault_type::body>},
    {"answers", read_member<&fault_type::answers>},
    {"chunk_size", read_member<&fault_type::chunk_size>},
    {"error_code", read_member<&fault_type::error_code>},
    {"error_text", read_member<&fault_type::error_text>},
    {"retry", read_member<&fault_type::retry>},
    {"after_rows", read_member<&fault_type::after_rows>},
    {"cut_after_rows", read_member<&fault_type::cut_after_rows>},
    {"split", read_member<&fault_type::split>},
    {"close_connection", read_member<&fault_type::close_connection>},
    {"cut_reply_at", read_member<&fault_type::cut_reply_at>},
    {"silent", read_member<&fault_type::silent>},
    {"replies", read_member<&fault_type::replies>},
    {"delay", read_member<&fault_type::delay>},
    {"delay_up_to", read_member<&fault_type::delay_up_to>},
    {"reply_delay", read_member<&fault_type::reply_delay>},
    {"overtaken_by", read_member<&fault_type::overtaken_by>},
    {"foreign_opaque", read_member<&fault_type::foreign_opaque>},
    {"value", read_member<&fault_type::value>},
    {"damage", read_member<&fault_type::damage>},
    {"stop_reading", read_member<&fault_type::stop_reading>},
};

}  // namespace

result<named_fault> read_fault(std::string_view text)
{
    boost::system::error_code why;
    const json::value parsed = json::parse({text.data(), text.size()}, why);
    const json::object* const object = why ? nullptr : parsed.if_object();
    if (!object)
        return wrong_fault("it is no JSON object");
    named_fault made;
    for (const auto& [key, value] : *object) {
        const std::string_view name{key.data(), key.size()};
        bool known = name == "name";
        bool fine = known && take(value, made.name);
        for (const member_reader& one : member_readers) {
            if (one.name != name)
                continue;
            known = true;
            fine = one.read(value, made.what);
        }
        if (!known)
            return wrong_fault("there is no member '" + std::string{name} + "'");
        if (!fine)
            return wrong_fault("'" + std::string{name} + "' has a value of the wrong type");
    }
    return made;
}

}  // namespace holdfast::lab::couchbase
