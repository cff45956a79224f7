#include "errors.hpp"

#include "holdfast/mongo/error.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <system_error>

namespace holdfast::spec::unified {
namespace {

using bson::element;
using bson::type;

/// A bulk write that was ended by another error says what that error says, too.
const error* ended_by(const error& why)
{
    const mongo::write_failure* const writes = mongo::write_failure_of(why);
    return writes && writes->ended_by ? &*writes->ended_by : nullptr;
}

bool is_of_server(const error& why)
{
    if (const error* const end = ended_by(why))
        return is_of_server(*end);
    return mongo::server_failure_of(why) || mongo::write_failure_of(why) ||
           mongo::server_code(why).has_value();
}

bool is_timeout(const error& why)
{
    const error* const end = ended_by(why);
    return mongo::kind_of(end ? *end : why) == mongo::error_kind::timeout;
}

void gather_sentences(const error& why, std::vector<std::string>& into)
{
    into.push_back(why.message());
    if (const mongo::server_failure* const reply = mongo::server_failure_of(why))
        if (const element description = reply->reply["errmsg"]; description.type() == type::string)
            into.emplace_back(description.as_string());
    const mongo::write_failure* const writes = mongo::write_failure_of(why);
    if (!writes)
        return;
    for (const mongo::write_error& one : writes->write_errors)
        into.push_back(one.message);
    for (const mongo::write_concern_error& one : writes->write_concern_errors)
        into.push_back(one.message);
    if (writes->ended_by)
        gather_sentences(*writes->ended_by, into);
}

struct codes {
    std::vector<std::int64_t> numbers;
    std::vector<std::string> names;
};

/// Several writes can have failed, each for its own reason; but if another error has ended the
/// operation, that one is what the operation failed with.
codes codes_of(const error& why)
{
    if (const error* const end = ended_by(why))
        return codes_of(*end);
    codes found;
    if (const auto code = mongo::server_code(why))
        found.numbers.push_back(*code);
    found.names.emplace_back(mongo::server_code_name(why));
    const mongo::write_failure* const writes = mongo::write_failure_of(why);
    if (!writes)
        return found;
    for (const mongo::write_error& one : writes->write_errors)
        found.numbers.push_back(one.code);
    for (const mongo::write_concern_error& one : writes->write_concern_errors) {
        found.numbers.push_back(one.code);
        found.names.push_back(one.code_name);
    }
    return found;
}

std::string lower(std::string text)
{
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool contains(const std::string& text, std::string_view part)
{
    return lower(text).find(lower(std::string{part})) != std::string::npos;
}

bson::view reply_of(const error& why)
{
    if (const error* const end = ended_by(why))
        return reply_of(*end);
    if (const mongo::server_failure* const of_command = mongo::server_failure_of(why))
        return of_command->reply;
    const mongo::write_failure* const of_write = mongo::write_failure_of(why);
    return of_write ? of_write->reply.view() : bson::view{};
}

std::optional<std::int64_t> whole_number(std::string_view text)
{
    std::int64_t number = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool all = wrong == std::errc{} && end == text.data() + text.size();
    return all ? std::optional{number} : std::nullopt;
}

/// {"3": {code: 17276}}: exactly these writes have failed. An error that is of no writes says
/// nothing of them, not even that none has failed.
difference compare_write_errors(bson::view expected, const error& why, const matcher& rules)
{
    const mongo::write_failure* const writes = mongo::write_failure_of(why);
    if (!writes)
        return "expected an error that lists which writes have failed";
    const std::size_t found = writes->write_errors.size();
    const auto wanted = bson::array_view{expected}.count();
    if (found != wanted)
        return "expected " + std::to_string(wanted) + " write errors, found " +
               std::to_string(found);
    for (const element& one : expected) {
        const auto index = whole_number(one.key());
        demand(index.has_value(), "a key is no number of a write: " + std::string{one.key()});
        const auto same = std::ranges::find(writes->write_errors, *index,
                                            &mongo::write_error::index);
        if (same == writes->write_errors.end())
            return "expected a write error of the write " + std::string{one.key()};
        const bson::document seen = bson::doc("code", same->code, "message", same->message,
                                              "details", same->details);
        if (auto wrong = rules.compare_root(one.as_document(), seen))
            return "write error " + std::string{one.key()} + ": " + *wrong;
    }
    return {};
}

difference compare_concern_errors(bson::array_view expected, const error& why, const matcher& rules)
{
    static const std::vector<mongo::write_concern_error> none;
    const mongo::write_failure* const writes = mongo::write_failure_of(why);
    const auto& found = writes ? writes->write_concern_errors : none;
    if (found.size() != expected.count())
        return "expected " + std::to_string(expected.count()) + " write concern errors, found " +
               std::to_string(found.size());
    for (std::size_t i = 0; i != found.size(); ++i) {
        const bson::document seen = bson::doc("code", found[i].code, "codeName", found[i].code_name,
                                              "message", found[i].message, "details",
                                              found[i].details);
        if (auto wrong = rules.compare_root(expected[i].as_document(), seen))
            return "write concern error " + std::to_string(i) + ": " + *wrong;
    }
    return {};
}

/// One key of "expectError".
difference compare(const element& wanted, const error& why, const element& partial,
                   const matcher& rules)
{
    const std::string_view name = wanted.key();
    const auto unless = [](bool holds, const std::string& expected) {
        return holds ? difference{} : "expected " + expected;
    };
    if (name == "isError")
        return {};
    if (name == "isClientError")
        return unless(wanted.as_bool() != is_of_server(why),
                      wanted.as_bool() ? "an error of the client" : "an error of the server");
    if (name == "isTimeoutError")
        return unless(wanted.as_bool() == is_timeout(why),
                      wanted.as_bool() ? "a timeout" : "no timeout");
    if (name == "errorContains")
        return unless(std::ranges::any_of(sentences_of(why),
                                          [&](const std::string& description) {
                                              return contains(description, wanted.as_string());
                                          }),
                      "the words " + shown(wanted));
    if (name == "errorCode") {
        const auto found = codes_of(why).numbers;
        return unless(std::ranges::find(found, wanted.get<std::int64_t>().value()) != found.end(),
                      "the code " + shown(wanted));
    }
    if (name == "errorCodeName") {
        const auto found = codes_of(why).names;
        const std::string name_of_it = lower(std::string{wanted.as_string()});
        return unless(std::ranges::find(found, name_of_it, lower) != found.end(),
                      "the code name " + shown(wanted));
    }
    if (name == "errorLabelsContain")
        return unless(std::ranges::all_of(
                          wanted.as_array(),
                          [&](const element& label) { return why.has_label(label.as_string()); }),
                      "the labels " + shown(wanted));
    if (name == "errorLabelsOmit")
        return unless(std::ranges::none_of(
                          wanted.as_array(),
                          [&](const element& label) { return why.has_label(label.as_string()); }),
                      "none of the labels " + shown(wanted));
    if (name == "errorResponse")
        return rules.compare_root(wanted.as_document(), reply_of(why));
    if (name == "writeErrors")
        return compare_write_errors(wanted.as_document(), why, rules);
    if (name == "writeConcernErrors")
        return compare_concern_errors(wanted.as_array(), why, rules);
    if (name == "expectResult")
        return rules.compare_result(wanted, partial);
    throw case_failure{"the runner does not know what is expected of an error with " +
                       std::string{name}};
}

}  // namespace

std::vector<std::string> sentences_of(const error& why)
{
    std::vector<std::string> all;
    gather_sentences(why, all);
    return all;
}

void check_error(bson::view expected, const error& why, const element& partial,
                 const matcher& rules)
{
    for (const element& wanted : expected)
        if (const auto wrong = compare(wanted, why, partial, rules))
            throw case_failure{std::string{wanted.key()} + ": " + *wrong +
                               "; the error is: " + why.explain()};
}

void check_outcome(const operation& expected, const outcome_of_operation& came,
                   const matcher& rules)
{
    if (expected.ignore_result_and_error)
        return;
    const element value = came.value ? came.value->find("v") : element{};
    if (expected.expect_error) {
        demand(came.failed.has_value(),
               "expected an error " + shown(*expected.expect_error) + ", found " + shown(value));
        return check_error(*expected.expect_error, *came.failed, value, rules);
    }
    demand(!came.failed, came.failed ? "failed: " + came.failed->explain() : "");
    if (!expected.expect_result)
        return;
    if (const auto wrong = rules.compare_result(expected.expect_result, value))
        throw case_failure{"the result is another one: " + *wrong};
}

}  // namespace holdfast::spec::unified
