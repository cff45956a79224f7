#include "support/canary.hpp"
#include "support/certificates.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>

namespace holdfast::proof::canary_files_test {
namespace {

namespace fs = std::filesystem;

/// Passwords that stand in a source of ours, whatever its language is.
const std::regex logins[] = {
    std::regex{R"re(mongodb(?:\+srv)?://[^"'`@/: ]*:([^"'`@/ ]+)@)re"},
    std::regex{R"re(pwd["']?\s*[:=,]\s*["'`]([^"'`]+)["'`])re"},
    std::regex{R"re([pP]assword(?:["']?\s*[:=]|["'],)\s*["'`]([^"'`]+)["'`])re"},
    std::regex{R"re(--auth["'],\s*["'`][^"'`:]*:([^"'`]+)["'`])re"},
    std::regex{R"re((?:create_root_user\(\*?\w+|start_login\(\{\w+), "[^"]*", "([^"]+)")re"},
};

/// Of official examples, which say what comes of them.
constexpr std::string_view given = "pencil";

bool is_canary(std::string_view token)
{
    const bool inserted = token.find('{') != token.npos;  // Python's and JavaScript's, of a name
    return inserted || token == given || token == certificates::password ||
           token.find(canary::password) != token.npos ||
           token.find(canary::wrong_password) != token.npos;
}

/// What is wrong with a source; and how many passwords it has.
std::string complaints(const std::string& text, std::size_t& found)
{
    std::string wrong;
    for (const std::regex& login : logins) {
        for (std::sregex_iterator at{text.begin(), text.end(), login}, none; at != none; ++at) {
            ++found;
            if (!is_canary((*at)[1].str()))
                wrong += " " + at->str();
        }
    }
    return wrong;
}

TEST(canary, test_files_use_one_password_for_all_logins)
{
    const fs::path tests = fs::path{__FILE__}.parent_path().parent_path();
    std::map<std::string, std::size_t> by_suite;
    for (const auto& file : fs::recursive_directory_iterator{tests}) {
        const fs::path name = file.path().lexically_relative(tests);
        const std::string suite = name.begin()->string();
        // Official documents bring passwords of their own, and these lines are here to be wrong.
        if (!file.is_regular_file() || suite == "spec" || name.filename() == "package-lock.json" ||
            file.path().filename() == fs::path{__FILE__}.filename())
            continue;
        std::ifstream in{file.path()};
        const std::string text{std::istreambuf_iterator<char>{in}, {}};
        EXPECT_EQ(complaints(text, by_suite[suite]), "") << name << " has a password of its own";
    }
    for (const char* const suite : {"client", "lab", "interop", "unit"})
        EXPECT_GE(by_suite[suite], 1U) << suite << ": no login was checked";
}

TEST(canary, other_password_in_any_form_is_detected)
{
    const char* const others[] = {
        R"(connect("mongodb://ada:wave@a/"))",
        R"(connect('mongodb+srv://ada:wave@a.b.c/'))",
        R"({"createUser": "ada", "pwd": "wave", "roles": []})",
        R"(bson::doc("createUser", "ada", "pwd", "wave"))",
        R"(shop.command({ createUser: 'ada', pwd: 'wave', roles: [] }))",
        R"(command('createUser', 'ada', pwd='wave'))",
        R"(started({.user = "ada", .password = "wave"}))",
        R"(connect(hosts, username='ada', password='wave'))",
        R"(Lab('--members', '3', '--auth', 'ada:wave'))",
        R"(create_root_user(*server, "ada", "wave"))",
        R"(start_login({plain, "ada", "wave"}, ""))",
    };
    for (const char* const one : others) {
        std::size_t found = 0;
        EXPECT_NE(complaints(one, found), "") << one;
        EXPECT_EQ(found, 1U) << one;
    }
}

}  // namespace
}  // namespace holdfast::proof::canary_files_test
