#include "truth/defects.hpp"

#include <utility>

namespace holdfast::truth {

std::optional<defect> defect_named(std::string_view name)
{
    constexpr std::pair<std::string_view, defect> all[] = {
        {"forgetful", defect::forgetful},
        {"early", defect::early},
        {"renumber", defect::renumber},
        {"reused_opaque", defect::reused_opaque},
        {"old_configuration", defect::old_configuration},
        {"repeated_write", defect::repeated_write},
        {"missed_deadline", defect::missed_deadline},
        {"kept_collection", defect::kept_collection},
        {"kept_slot", defect::kept_slot},
        {"unproven_login", defect::unproven_login},
        {"long_wait", defect::long_wait},
    };
    for (const auto& [known, which] : all) {
        if (known == name)
            return which;
    }
    return std::nullopt;
}

std::string_view symptom_of(defect with)
{
    switch (with) {
    case defect::old_configuration:
        return "a configuration went back";
    case defect::missed_deadline:
        return " ms after its deadline";
    case defect::kept_collection:
        return "a collection that was made again cannot be used";
    case defect::kept_slot:
        return "are in use after all operations have ended";
    case defect::unproven_login:
        return "was opened without its proof";
    case defect::long_wait:
        return "could have been served for";
    case defect::none:
    case defect::forgetful:
    case defect::early:
    case defect::renumber:
    case defect::reused_opaque:
    case defect::repeated_write:
        break;
    }
    return {};
}

std::string line_with(const std::string& complaints, std::string_view symptom)
{
    const std::size_t at = complaints.find(symptom);
    if (symptom.empty() || at == complaints.npos)
        return complaints.substr(0, complaints.find('\n'));
    const std::size_t before = complaints.rfind('\n', at);
    const std::size_t from = before == complaints.npos ? 0 : before + 1;
    return complaints.substr(from, complaints.find('\n', at) - from);
}

bool found_out(defect with, const totals& sum)
{
    switch (with) {
    case defect::none:
        return false;
    case defect::early:
        return sum.lost > 0;
    case defect::forgetful:
    case defect::renumber:
    case defect::repeated_write:
        return sum.doubled > 0;
    case defect::reused_opaque:
        return sum.lost + sum.untrue > 0;
    case defect::old_configuration:
    case defect::missed_deadline:
    case defect::kept_collection:
    case defect::kept_slot:
    case defect::unproven_login:
    case defect::long_wait:
        break;
    }
    return sum.named > 0;
}

}  // namespace holdfast::truth
