#include "processes.hpp"
#include "report.hpp"
#include "run_file.hpp"

#include <algorithm>
#include <iostream>

namespace holdfast::spec {
namespace {

namespace fs = std::filesystem;

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

std::size_t run_files(const std::vector<fs::path>& files, const options& wanted,
                      const record_sink& to)
{
    if (wanted.jobs > 1 && !wanted.list)
        return run_in_processes(files, wanted, to);
    std::size_t count = 0;
    for (const fs::path& path : files)
        count += run_file(path, wanted, to);
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
    const auto add = [&](record one) { results.add(std::move(one)); };
    const std::size_t count = run_files(find_files(wanted.where), wanted, add);
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
