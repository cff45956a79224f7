// Measures our BSON beside libbson; bench/run.py is the one who calls it.
//
//   bench_bson rows                             every "ROW DOCUMENT SIDE" there is
//   bench_bson prepare FOLDER                   writes DOCUMENT.bson beside each DOCUMENT.json
//   bench_bson check FOLDER [ROW DOCUMENT]      whether the sides agree, byte by byte
//   bench_bson run FOLDER ROW DOCUMENT SIDE N   the work N times: for counting instructions
//   bench_bson time FOLDER ROW DOCUMENT R       R repetitions, the sides in turns: nanoseconds
//
// Instructions for one document are the difference of two runs with different N: all that happens
// before and after the loop is the same in both.
#include "by_hand.hpp"
#include "task.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <stdexcept>

namespace holdfast::bench {

namespace {

using factory = std::unique_ptr<task> (*)(std::string_view row, const input& in);

struct side {
    std::string_view name;
    factory make;
};

struct row {
    std::string_view name;
    std::vector<std::string_view> documents;
    std::vector<side> sides;
};

/// `order` is made by this program, so that the checks have something to work on where the
/// documents of the specifications are not at hand.
const std::vector<row>& all_rows()
{
    static const std::vector<std::string_view> files = {"flat",      "deep",      "full",
                                                        "small_doc", "large_doc", "order"};
    static const std::vector<std::string_view> records = {"small_doc", "order"};
    static const std::vector<side> both = {{"ours", make_ours}, {"libbson", make_libbson}};
    static const std::vector<side> three = {
        {"ours", make_mapped}, {"by_hand", make_by_hand}, {"libbson", make_libbson_record}};
    static const std::vector<row> rows = {
        {"build", files, both},          {"traverse", files, both},
        {"lookup", files, both},         {"validate", files, both},
        {"json_parse", files, both},     {"json_print", files, both},
        {"json_relaxed", files, both},   {"struct_write", records, three},
        {"struct_read", records, three},
    };
    return rows;
}

std::string read_file(const std::filesystem::path& path)
{
    std::ifstream in{path, std::ios::binary};
    if (!in)
        throw std::runtime_error{"cannot read " + path.string()};
    return {std::istreambuf_iterator<char>{in}, {}};
}

/// All keys; of a document with very many only some, evenly spread, since each look-up walks.
std::vector<std::string> keys_to_find(bson::view document)
{
    constexpr std::size_t enough = 500;
    constexpr std::size_t spread = 50;
    std::vector<std::string> keys;
    for (const bson::element& e : document)
        keys.emplace_back(e.key());
    if (keys.size() <= enough)
        return keys;
    std::vector<std::string> some;
    for (std::size_t i = 0; i < spread; ++i)
        some.push_back(keys[i * keys.size() / spread]);
    return some;
}

/// Makes only what the row starts from: the rest would cost time under valgrind.
input load(const std::filesystem::path& folder, std::string_view row, std::string_view document)
{
    input in;
    in.name = document;
    const auto path = folder / document;
    if (document == "order") {
        in.bytes = to_bytes(sample_order());
        in.json = print_with_libbson(in.bytes);
    } else {
        const std::string bytes = read_file(path.string() + ".bson");
        in.bytes.assign(bytes.begin(), bytes.end());
        if (row == "json_parse")
            in.json = read_file(path.string() + ".json");
    }
    const bson::view view = bson::view::parse(in.bytes).value();
    if (row == "build")
        in.tree = to_tree(view);
    if (row == "lookup")
        in.keys = keys_to_find(view);
    return in;
}

const row& find_row(std::string_view name)
{
    for (const row& r : all_rows()) {
        if (r.name == name)
            return r;
    }
    throw std::runtime_error{"no row " + std::string{name}};
}

std::unique_ptr<task> make(const side& s, std::string_view row, const input& in)
{
    auto made = s.make(row, in);
    if (!made)
        throw std::runtime_error{std::string{row} + " has no " + in.name};
    return made;
}

std::uint64_t repeat(task& work, long count)
{
    std::uint64_t sum = 0;
    for (long i = 0; i < count; ++i)
        sum += work.once();
    return sum;
}

int list_rows()
{
    for (const row& r : all_rows()) {
        for (const auto document : r.documents) {
            for (const side& s : r.sides)
                std::printf("%s %s %s\n", r.name.data(), document.data(), s.name.data());
        }
    }
    return 0;
}

int prepare(const std::filesystem::path& folder)
{
    for (const auto& file : std::filesystem::directory_iterator{folder}) {
        if (file.path().extension() != ".json")
            continue;
        const auto bytes = parse_with_libbson(read_file(file.path()));
        auto path = file.path();
        std::ofstream out{path.replace_extension(".bson"), std::ios::binary};
        out.write(reinterpret_cast<const char*>(bytes.data()),
                  static_cast<std::streamsize>(bytes.size()));
    }
    return 0;
}

/// Says whether all sides of a row read the same and make the same bytes.
bool agree(const row& r, const input& in)
{
    std::map<std::string_view, std::pair<std::uint64_t, std::vector<std::uint8_t>>> seen;
    for (const side& s : r.sides) {
        const auto work = make(s, r.name, in);
        repeat(*work, 1);  // the second time a buffer is used again, and must have been emptied
        const std::uint64_t sum = repeat(*work, 1);
        seen[s.name] = {sum, work->outcome()};
    }
    const auto& mine = seen.at("ours");
    bool same = mine.first != 0;
    for (const auto& [name, theirs] : seen) {
        if (theirs == mine)
            continue;
        same = false;
        std::printf("%s %s: ours and %s differ: %s\n", r.name.data(), in.name.c_str(), name.data(),
                    theirs.first == mine.first ? "what they made" : "checksum");
    }
    if (mine.first == 0)
        std::printf("%s %s: ours did nothing\n", r.name.data(), in.name.c_str());
    return same;
}

int check(const std::filesystem::path& folder, std::string_view row_name, std::string_view name)
{
    int checked = 0;
    int different = 0;
    for (const row& r : all_rows()) {
        for (const auto document : r.documents) {
            const bool asked = row_name.empty() || (r.name == row_name && document == name);
            const auto file = (folder / document).string() + ".bson";
            if (!asked || (document != "order" && !std::filesystem::exists(file)))
                continue;
            const input in = load(folder, r.name, document);
            ++checked;
            different += agree(r, in) ? 0 : 1;
            if (r.name != "validate")
                continue;
            if (const auto stop = first_unvalidated(in))
                std::printf(
                    "remark validate %s libbson says valid but looks at nothing from byte "
                    "%zu of %zu on\n",
                    in.name.c_str(), *stop, in.bytes.size());
        }
    }
    std::printf("%d checked, %d differ\n", checked, different);
    return different == 0 && checked > 0 ? 0 : 1;
}

int run(const std::filesystem::path& folder, std::string_view row_name, std::string_view document,
        std::string_view side_name, long count)
{
    const row& r = find_row(row_name);
    for (const side& s : r.sides) {
        if (s.name != side_name)
            continue;
        const input in = load(folder, row_name, document);
        const std::uint64_t sum = repeat(*make(s, row_name, in), count);
        std::printf("%llu\n", static_cast<unsigned long long>(sum));
        return 0;
    }
    throw std::runtime_error{"no side " + std::string{side_name}};
}

/// The processor time of this thread: on a busy machine the time on the wall is mostly others'.
std::chrono::nanoseconds time_spent()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

double nanoseconds(task& work, long count)
{
    const auto began = time_spent();
    const std::uint64_t sum = repeat(work, count);
    const auto ended = time_spent();
    if (sum == 0)
        throw std::runtime_error{"a side did nothing"};
    return std::chrono::duration<double, std::nano>(ended - began).count();
}

/// Documents enough for a few milliseconds, so that the clock's own cost does not show.
long count_for(task& work)
{
    constexpr double wanted = 5e6;
    long count = 1;
    while (count < 1'000'000 && nanoseconds(work, count) < wanted)
        count *= 2;
    return count;
}

/// One line for each repetition: the nanoseconds for a document on each side, in the row's order.
int measure_time(const std::filesystem::path& folder, std::string_view row_name,
                 std::string_view document, long repetitions)
{
    const row& r = find_row(row_name);
    const input in = load(folder, row_name, document);
    std::vector<std::unique_ptr<task>> works;
    std::vector<long> counts;
    for (const side& s : r.sides) {
        works.push_back(make(s, row_name, in));
        counts.push_back(count_for(*works.back()));
    }
    for (long repetition = 0; repetition < repetitions; ++repetition) {
        for (std::size_t i = 0; i < works.size(); ++i)
            std::printf("%.1f ",
                        nanoseconds(*works[i], counts[i]) / static_cast<double>(counts[i]));
        std::printf("\n");
    }
    return 0;
}

int command(std::span<const std::string_view> arguments)
{
    const auto is = [&](std::string_view name, std::size_t count) {
        return !arguments.empty() && arguments[0] == name && arguments.size() == count;
    };
    const auto number = [&] { return std::stol(std::string{arguments.back()}); };
    if (is("rows", 1))
        return list_rows();
    if (is("prepare", 2))
        return prepare(arguments[1]);
    if (is("check", 2))
        return check(arguments[1], {}, {});
    if (is("check", 4))
        return check(arguments[1], arguments[2], arguments[3]);
    if (is("run", 6))
        return run(arguments[1], arguments[2], arguments[3], arguments[4], number());
    if (is("time", 5))
        return measure_time(arguments[1], arguments[2], arguments[3], number());
    std::fputs("usage: see the first lines of bench/main.cpp\n", stderr);
    return 2;
}

}  // namespace

}  // namespace holdfast::bench

int main(int argc, char** argv)
{
    try {
        const std::vector<std::string_view> arguments{argv + 1, argv + argc};
        return holdfast::bench::command(arguments);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bench_bson: %s\n", e.what());
        return 2;
    }
}
