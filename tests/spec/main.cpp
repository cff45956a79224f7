#include "options.hpp"
#include "report.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>

namespace holdfast::spec {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

const fs::path official_tests = "../shared/spec-tests";

/// All JSON files under the places, each once, in the order of their names.
std::vector<fs::path> find_files(const std::vector<fs::path>& places)
{
    std::vector<fs::path> files;
    for (const fs::path& place : places) {
        const std::size_t before = files.size();
        if (fs::is_directory(place)) {
            for (const auto& entry : fs::recursive_directory_iterator{place})
                if (entry.is_regular_file() && entry.path().extension() == ".json")
                    files.push_back(entry.path());
        } else if (fs::is_regular_file(place)) {
            files.push_back(place);
        } else {
            throw usage_error{"no such file or directory: " + place.string()};
        }
        if (files.size() == before)
            throw usage_error{"no JSON file under " + place.string()};
    }
    std::ranges::sort(files);
    const auto twice = std::ranges::unique(files);
    files.erase(twice.begin(), twice.end());
    return files;
}

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

/// Runs a case once, or under "every" on each topology that it can be run on.
void run_on_all(const std::string& file, const test_case& c, settings options, report& results)
{
    const bool every = options.topology == "every";
    std::vector<std::string_view> topologies;
    if (every && c.topologies)
        topologies = c.topologies();
    if (topologies.empty()) {
        options.topology = every ? "any" : options.topology;
        results.add(file, c.description, options.profile, run(c, options));
        return;
    }
    for (const std::string_view one : topologies) {
        options.topology = one;
        const std::string where = " (on " + std::string{one} + ")";
        results.add(file, c.description + where, options.profile, run(c, options));
    }
}

/// Runs, or lists, the chosen cases of one file and says how many there were.
std::size_t run_file(const fs::path& path, const options& wanted, report& results)
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
            results.add_unknown(path.string());
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
        const exception* special = whole;
        if (!special && !run.profile_given && c.content)
            special = exception_for(*c.content);
        if (special && special->profile.empty()) {
            results.add(path.string(), c.description, run.profile,
                        skipped{"superseded: " + std::string{special->why}});
            continue;
        }
        if (special) {
            run.profile = special->profile;
            results.add_exception(name, *special);
        }
        run_on_all(path.string(), c, run, results);
    }
    return count;
}

int run_all(options wanted)
{
    if (wanted.help) {
        std::cout << help_text;
        return 0;
    }
    if (wanted.where.empty()) {
        if (!fs::is_directory(official_tests)) {
            std::cout << "OFFICIAL TESTS NOT RUN\n";
            return 0;
        }
        wanted.where.push_back(official_tests);
    }
    report results{wanted.verbose};
    std::size_t count = 0;
    for (const fs::path& path : find_files(wanted.where))
        count += run_file(path, wanted, results);
    if (count == 0)  // for instance a misspelt filter: nothing was tested, so nothing is well
        throw usage_error{"there is no such case"};
    if (wanted.list)
        return 0;
    results.print_summary();
    if (wanted.json)
        results.write_json(*wanted.json);
    return results.has_failures() ? 1 : 0;
}

}  // namespace
}  // namespace holdfast::spec

int main(int argc, char** argv)
try {
    return holdfast::spec::run_all(
        holdfast::spec::parse_options({argv + 1, static_cast<std::size_t>(argc - 1)}));
} catch (const std::exception& e) {
    std::cerr << "spec_runner: " << e.what() << '\n';
    return 2;
}
