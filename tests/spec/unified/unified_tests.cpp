#include "../case_fields.hpp"
#include "../format.hpp"
#include "run.hpp"
#include "running_lab.hpp"

#include <algorithm>
#include <filesystem>

namespace holdfast::spec {
namespace {

using namespace unified;
namespace json = boost::json;

/// The format's own tests lie in folders that say what must become of them.
expectation expected_in(std::string_view file)
{
    const std::filesystem::path folder = std::filesystem::path{file}.parent_path().filename();
    if (folder == "invalid")
        return expectation::refused;
    return folder == "valid-fail" ? expectation::fail : expectation::pass;
}

bool wants_several_routers(const entity_description& one)
{
    return one.kind == "client" && one.fields.get<bool>("useMultipleMongoses").value_or(false);
}

bool wants_several_routers(const operation& one)
{
    const bson::element all = one.arguments.find("entities");
    if (one.name != "createEntities" || all.type() != bson::type::array)
        return false;
    const bson::array_view entities = all.as_array();
    return std::ranges::any_of(entities.begin(), entities.end(), [](const bson::element& each) {
        return each.type() == bson::type::document &&
               wants_several_routers(entity_from(each.as_document()));
    });
}

std::size_t routers_for(topology_kind topology, const unified_file& file, const unified_case& one)
{
    // Which router a balancer leads to, clients cannot choose: so there is one router behind it
    // unless the case wants more. Of a sharded cluster's two routers clients choose themselves.
    if (topology == topology_kind::sharded)
        return 2;
    if (topology != topology_kind::load_balanced)
        return 0;
    const auto wanted = [](const auto& each) { return wants_several_routers(each); };
    const bool several = std::ranges::any_of(file.create_entities, wanted) ||
                         std::ranges::any_of(one.operations, wanted);
    return several ? 2 : 1;
}

outcome run_unified(const unified_file& file, const unified_case& one, const settings& options)
{
    const expectation expected = expected_in(options.file);
    if (expected == expectation::refused)
        return decided(passed{}, expected);
    const auto chosen = deployment_for(file, one, options.topology);
    if (const auto* const why = std::get_if<not_run>(&chosen))
        return skipped{why->reason};
    lab_kind which;
    which.what = std::get<deployment_kind>(chosen);
    which.routers = routers_for(which.what.topology, file, one);
    which.simulated = options.runtime == "sim";
    running_lab& lab = lab_for(which);
    outcome came = run_case(lab, file, one, options);
    if (lab.broken)
        abandon(which);
    return decided(std::move(came), expected);
}

/// One case that fails, because the file cannot be read as one of this format.
std::vector<test_case> refused(std::string why)
{
    const auto notify = [why = std::move(why)](const settings& options) {
        return decided(failed{why}, expected_in(options.file));
    };
    return {{"(the whole file)", notify}};
}

std::vector<test_case> unified_cases(const json::object& from)
{
    const json::value whole(from);  // braces would make an array of it
    if (auto fault = fault_in(whole))
        return refused(*std::move(fault));
    std::shared_ptr<const unified_file> file;
    try {
        file = read_unified(whole);
    } catch (const case_failure& why) {
        return refused(why.what());
    }
    std::vector<test_case> made;
    const json::array& contents = from.at("tests").as_array();
    for (std::size_t n = 0; n < file->cases.size(); ++n) {
        const auto one = [file, n](const settings& options) {
            return run_unified(*file, file->cases[n], options);
        };
        const auto topologies = [file, n] { return topologies_for(*file, file->cases[n]); };
        made.push_back({file->cases[n].description, one, &contents[n], topologies});
    }
    return made;
}

}  // namespace

const format unified_tests{"unified", looks_unified, unified_cases};

}  // namespace holdfast::spec
