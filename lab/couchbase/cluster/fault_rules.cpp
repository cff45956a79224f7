#include "lab/couchbase/cluster/fault_rules.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/cluster/state.hpp"
#include "lab/couchbase/kv/names.hpp"
#include "lab/couchbase/map/service_names.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

struct fault_rules::rule {
    couchbase_fault what;
    std::vector<core::couchbase::kv_opcode> opcodes = {};
    frame_damage damage = frame_damage::none;
    std::int64_t chosen = 0;
    std::int64_t hits = 0;

    std::string service = {};  // by its name in configurations

    bool is_http() const noexcept { return !what.path_prefix.empty() || !what.service.empty(); }
    bool is_on(std::size_t node) const
    {
        return what.nodes.empty() || std::ranges::find(what.nodes, node) != what.nodes.end();
    }
    bool fits(const kv_target& one) const;
    bool fits(const http_target& one) const;
    static http_fault http_effect(const std::shared_ptr<rule>& of, std::size_t node);
    bool happens(cluster_state& in);
};

namespace {

constexpr std::size_t most_rules = 1000;

error refuse_fault(std::string why)
{
    return error{holdfast::couchbase::errc::invalid_argument, "fault: " + std::move(why)};
}

template <class Fault>
void add_common_effects(Fault& to, const couchbase_fault& from)
{
    to.delay = from.delay;
    to.close_connection = from.close_connection;
    to.cut_reply_at = from.cut_reply_at;
    to.silent = from.silent;
}

kv_fault kv_effect(const couchbase_fault& from, frame_damage damage)
{
    kv_fault made;
    add_common_effects(made, from);
    if (from.status)
        made.error_code = *from.status;
    made.body = from.body;
    made.replies = from.replies;
    made.delay_up_to = from.delay_up_to;
    made.reply_delay = from.reply_delay;
    made.overtaken_by = from.overtaken_by;
    made.foreign_opaque = from.foreign_opaque;
    made.value = from.value;
    made.damage = damage;
    made.stop_reading = from.stop_reading;
    return made;
}

http_reply reply_of(const couchbase_answer& from)
{
    http_reply made;
    made.status = from.status;
    made.body = from.body;
    made.content_type = from.content_type;
    for (const std::string& one : from.headers) {
        const std::size_t colon = std::min(one.find(':'), one.size());
        const std::size_t value = std::min(one.find_first_not_of(' ', colon + 1), one.size());
        made.headers.emplace_back(one.substr(0, colon), one.substr(value));
    }
    return made;
}

row_fault row_effect(const couchbase_fault& from)
{
    row_fault made;
    made.error_code = from.error_code;
    made.error_text = from.error_text;
    made.retry = from.retry;
    made.after_rows = from.after_rows;
    made.cut_after_rows = from.cut_after_rows;
    if (!from.split.empty())
        made.split = from.split == "utf8" ? reply_split::in_utf8 : reply_split::in_escape;
    return made;
}

bool is_about_rows(const couchbase_fault& what)
{
    return what.error_code != 0 || what.after_rows || what.cut_after_rows || !what.split.empty();
}

/// A header that would end early, or begin another one, is none.
bool is_header(const std::string& text)
{
    return text.find(':') != text.npos && text.find_first_of("\r\n") == text.npos;
}

result<void> check_http(const couchbase_fault& what)
{
    constexpr std::size_t largest_chunk = 64 * 1024;
    if (what.chunk_size > largest_chunk)
        return refuse_fault("chunk_size is 65536 at most");
    if (!what.split.empty() && what.split != "utf8" && what.split != "escape")
        return refuse_fault("split is 'utf8' or 'escape'");
    if (what.error_code < 0 || (what.after_rows && what.error_code == 0))
        return refuse_fault("after_rows needs an error_code, which is a positive number");
    for (const couchbase_answer& one : what.answers) {
        if (one.status < 100 || one.status > 999)
            return refuse_fault("the status of an answer has three digits");
        if (!is_header("Content-Type: " + one.content_type) ||
            !std::ranges::all_of(one.headers, is_header))
            return refuse_fault("a header is 'Name: value', in one line");
    }
    return {};
}

}  // namespace

bool fault_rules::rule::fits(const kv_target& one) const
{
    return (opcodes.empty() || std::ranges::find(opcodes, one.opcode) != opcodes.end()) &&
           (what.bucket.empty() || what.bucket == one.bucket) &&
           (what.connection == 0 || what.connection == one.connection) &&
           (one.document.starts_with(what.key_prefix) || one.key.starts_with(what.key_prefix));
}

bool fault_rules::rule::fits(const http_target& one) const
{
    return (service.empty() || service == one.service) &&
           one.request.path.starts_with(what.path_prefix) &&
           (what.method.empty() || what.method == one.request.method) &&
           (what.contains.empty() || one.request.body.find(what.contains) != std::string::npos);
}

/// What the fault does on that node. Answers are counted by the rule, for all nodes.
http_fault fault_rules::rule::http_effect(const std::shared_ptr<rule>& of, std::size_t node)
{
    const couchbase_fault& from = of->what;
    http_fault made;
    add_common_effects(made, from);
    made.chunk_size = from.chunk_size;
    made.rows = row_effect(from);
    if (!from.status && from.answers.empty() && !from.generate)
        return made;
    made.answer = [of, node](const http_request& request) {
        const couchbase_fault& what = of->what;
        if (what.generate)
            return reply_of(
                what.generate({node, request.method, request.path, request.query, request.body}));
        if (what.answers.empty())
            return reply_of({*what.status, what.body});
        const auto place = std::min<std::size_t>(static_cast<std::size_t>(of->hits),
                                                 what.answers.size());
        return reply_of(what.answers[place - 1]);
    };
    return made;
}

bool fault_rules::rule::happens(cluster_state& in)
{
    if (chosen++ < what.skip || (what.times && hits >= *what.times))
        return false;
    if (what.probability < 1 && in.manager().chance() >= what.probability)
        return false;
    ++hits;
    return true;
}

result<void> fault_rules::set(const std::string& name, const couchbase_fault& what)
{
    auto made = std::make_shared<rule>();
    made->what = what;
    for (const std::string& one : what.operations) {
        const auto opcode = opcode_named(one);
        if (!opcode)
            return refuse_fault("there is no operation '" + one + "'");
        made->opcodes.push_back(*opcode);
    }
    if (!what.damage.empty()) {
        const auto damage = frame_damage_named(what.damage);
        if (!damage)
            return refuse_fault("there is no damage '" + what.damage + "'");
        made->damage = *damage;
    }
    if (!what.service.empty()) {
        const auto service = service_named(what.service);
        if (!service || *service == "kv")
            return refuse_fault("there is no service '" + what.service + "' of HTTP");
        made->service = *service;
    }
    const bool for_http = !what.answers.empty() || what.generate || what.chunk_size != 0 ||
                          !what.contains.empty() || !what.method.empty() || is_about_rows(what);
    if (for_http && !made->is_http())
        return refuse_fault("this is for HTTP: it needs a service or a path_prefix");
    if (!what.answers.empty() && !what.times)
        made->what.times = static_cast<std::int64_t>(what.answers.size());
    if (auto fine = check_http(what); !fine)
        return fine;
    if (name.empty() || (rules_.size() == most_rules && !rules_.contains(name)))
        return refuse_fault("it needs a name, and there can be 1000 at most");
    remove(name);
    rules_[name] = made;
    for (const auto& one : all_.members)
        install(name, made, *one);
    return {};
}

void fault_rules::install(const std::string& name, const std::shared_ptr<rule>& made,
                          cluster_member& on)
{
    if (!made->is_on(static_cast<std::size_t>(on.entry.id)))
        return;
    const auto chooses = [made, in = &all_](const auto& one) {
        return made->fits(one) && made->happens(*in);
    };
    if (made->is_http()) {
        const auto node = static_cast<std::size_t>(on.entry.id);
        on.http_faults.set(name, {rule::http_effect(made, node), chooses, activation::always()});
        return;
    }
    on.data->faults.set(name, {kv_effect(made->what, made->damage), chooses, activation::always()});
}

void fault_rules::install_all(cluster_member& on)
{
    for (const auto& [name, made] : rules_)
        install(name, made, on);
}

bool fault_rules::remove(std::string_view name)
{
    const auto found = rules_.find(name);
    if (found == rules_.end())
        return false;
    for (const auto& one : all_.members) {
        one->data->faults.remove(name);
        one->http_faults.remove(name);
    }
    rules_.erase(found);
    return true;
}

void fault_rules::clear()
{
    while (!rules_.empty())
        remove(rules_.begin()->first);
}

std::int64_t fault_rules::hits(std::string_view name) const
{
    const auto found = rules_.find(name);
    return found == rules_.end() ? 0 : found->second->hits;
}

std::vector<std::string> fault_rules::names() const
{
    std::vector<std::string> all;
    for (const auto& [name, made] : rules_)
        all.push_back(name);
    return all;
}

}  // namespace holdfast::lab::couchbase
