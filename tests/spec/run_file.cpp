#include "run_file.hpp"

#include "exceptions.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>

namespace holdfast::spec {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

json::value read_file(const fs::path& path)
{
    std::ifstream in{path, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    if (!in.is_open() || in.bad())
        throw usage_error{"cannot read " + path.string()};
    json::parse_options deep;
    deep.max_depth = 512;
    boost::system::error_code ec;
    json::value file = json::parse(text, ec, {}, deep);
    if (ec)
        throw usage_error{"no JSON: " + path.string() + ": " + ec.message()};
    return file;
}

const format* format_of(const json::value& file)
{
    if (!file.is_object())
        return nullptr;
    for (const format* const known : known_formats())
        if (known->recognises(file.get_object()))
            return known;
    return nullptr;
}

/// The cases of a file; if it is not built as its format says, one case that fails.
std::vector<test_case> cases_of(const format& known, const json::object& file)
try {
    return known.cases(file);
} catch (const std::exception& e) {
    return {{"(the whole file)",
             [why = std::string{e.what()}](const settings&) -> outcome { return failed{why}; }}};
}

outcome run(const test_case& c, const settings& options)
try {
    return c.run(options);
} catch (const std::exception& e) {
    return failed{e.what()};
}

/// Of real time that a case may be late on a busy machine.
constexpr std::int64_t short_limit_ms = 150;

bool is_short_limit(std::string_view name, const json::value& value)
{
    const bool limit = name == "timeoutMS" || name.ends_with("TimeoutMS") ||
                       name.ends_with("TimeMS");
    const std::int64_t* const ms = value.if_int64();
    return limit && ms && *ms > 0 && *ms <= short_limit_ms;
}

/// Whether anything in the file has a time limit, or a delay, of some tens of milliseconds.
bool has_short_limit(const json::value& in)
{
    if (const json::array* const all = in.if_array())
        return std::ranges::any_of(*all, has_short_limit);
    const json::object* const fields = in.if_object();
    return fields && std::ranges::any_of(*fields, [](const auto& one) {
               return is_short_limit(one.key(), one.value()) || has_short_limit(one.value());
           });
}

/// Runs a case once, or under "every" on each topology that it can be run on.
void run_on_all(const std::string& file, const test_case& c, settings options,
                const record_sink& to)
{
    const bool every = options.topology == "every";
    std::vector<std::string_view> topologies;
    if (every && c.topologies)
        topologies = c.topologies();
    if (topologies.empty()) {
        options.topology = every ? "any" : options.topology;
        to(case_result{file, c.description, std::string{options.profile}, run(c, options)});
        return;
    }
    for (const std::string_view one : topologies) {
        options.topology = one;
        const std::string where = " (on " + std::string{one} + ")";
        to(case_result{file, c.description + where, std::string{options.profile}, run(c, options)});
    }
}

/// Runs one case, unless it is superseded, under the profile that it asks for.
void run_one(const fs::path& path, const test_case& c, const exception* whole, settings run,
             const record_sink& to)
{
    const exception* special = whole;
    if (!special && !run.profile_given && c.content)
        special = exception_for(*c.content);
    if (special && special->profile.empty()) {
        to(case_result{path.string(), c.description, std::string{run.profile},
                       skipped{"superseded: " + std::string{special->why}}});
        return;
    }
    if (special) {
        run.profile = special->profile;
        to(applied_exception{path.string() + ": " + c.description + " under " +
                             std::string{special->profile} + ": " + std::string{special->why}});
    }
    run_on_all(path.string(), c, run, to);
}

}  // namespace

std::size_t run_file(const fs::path& path, const options& wanted, const record_sink& to)
{
    const auto chosen = [&](const std::string& name) {
        return !wanted.filter || std::regex_search(name, *wanted.filter);
    };
    const json::value file = read_file(path);
    const format* const known = format_of(file);
    if (!known) {
        if (!chosen(path.string()))
            return 0;
        if (wanted.list)
            std::cout << path.string() << ": no format known\n";
        else
            to(unknown_file{path.string()});
        return 1;
    }
    const exception* const whole = wanted.run.profile_given ? nullptr : exception_for(file);
    std::size_t count = 0;
    for (const test_case& c : cases_of(*known, file.get_object())) {
        const std::string name = path.string() + ": " + c.description;
        if (!chosen(name))
            continue;
        ++count;
        if (wanted.list) {
            std::cout << name << '\n';
            continue;
        }
        settings run = wanted.run;
        run.file = path.native();
        run_one(path, c, whole, run, to);
    }
    return count;
}

file_needs needs_of(const fs::path& path)
{
    const json::value file = read_file(path);
    const format* const known = format_of(file);
    return {.fixed_ports = known && known->fixed_ports, .exact_times = has_short_limit(file)};
}

}  // namespace holdfast::spec
