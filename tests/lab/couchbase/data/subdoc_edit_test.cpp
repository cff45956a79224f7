#include "lab/couchbase/data/subdoc_edit.hpp"

#include "lab/couchbase/data/json_check.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace holdfast::lab::couchbase::subdoc_edit_test {
namespace {

using op = subdoc_opcode;

unsigned code_of(kv_status status)
{
    return static_cast<unsigned>(status);
}

TEST(lab_couchbase_subdoc_path, text_is_read_as_names_and_indices)
{
    struct row {
        const char* text;
        unsigned code;
        std::size_t steps;
    };
    const row table[] = {
        {"", 0x00, 0},       {"a", 0x00, 1},       {"a.b[0].c", 0x00, 4}, {"[-1]", 0x00, 1},
        {"[1][2]", 0x00, 2}, {"`a.b`.c", 0x00, 2}, {"`a``b`", 0x00, 1},   {"`a[0]`[0]", 0x00, 2},
        {"a..b", 0xc2, 0},   {".a", 0xc2, 0},      {"a.", 0xc2, 0},       {"a[", 0xc2, 0},
        {"a[x]", 0xc2, 0},   {"a[-2]", 0xc2, 0},   {"a[0]b", 0xc2, 0},    {"`a", 0xc2, 0},
        {"a]", 0xc2, 0},
    };
    for (const row& r : table) {
        const auto read = parse_path(r.text);
        EXPECT_EQ(code_of(read.code), r.code) << r.text;
        EXPECT_EQ(read.path.steps.size(), r.steps) << r.text;
    }
}

TEST(lab_couchbase_subdoc_path, name_in_back_ticks_keeps_dots_and_doubled_back_ticks)
{
    const auto read = parse_path("`a.b[0]``c`");
    ASSERT_EQ(read.path.steps.size(), 1u);
    EXPECT_EQ(*read.path.last_name(), "a.b[0]`c");
}

TEST(lab_couchbase_subdoc_path, more_than_32_steps_or_1024_bytes_are_too_big)
{
    std::string path = "a";
    for (int n = 1; n != 32; ++n)
        path += ".a";
    EXPECT_EQ(parse_path(path).code, kv_status::success);
    EXPECT_EQ(parse_path(path + ".a").code, kv_status::subdoc_path_too_big);
    EXPECT_EQ(parse_path(std::string(1024, 'a')).code, kv_status::success);
    EXPECT_EQ(parse_path(std::string(1025, 'a')).code, kv_status::subdoc_path_too_big);
}

TEST(lab_couchbase_subdoc, lookups_give_the_bytes_of_the_document)
{
    const std::string text = R"( {"a": {"b" : [1, 2.50, "x,]}"], "e\u0041": null}, "n":-0.0,
        "q": "\"]\\", "z": 1 } )";
    struct row {
        op what;
        const char* path;
        unsigned code;
        const char* value;
    };
    const row table[] = {
        {op::get, "a.b", 0x00, R"([1, 2.50, "x,]}"])"},
        {op::get, "a.b[1]", 0x00, "2.50"},
        {op::get, "a.b[-1]", 0x00, R"("x,]}")"},
        {op::get, "a.eA", 0x00, "null"},
        {op::get, "n", 0x00, "-0.0"},
        {op::get, "q", 0x00, R"("\"]\\")"},
        {op::get, "z", 0x00, "1"},
        {op::get, "a.b[3]", 0xc0, ""},
        {op::get, "x", 0xc0, ""},
        {op::get, "a.b.c", 0xc1, ""},
        {op::get, "a[0]", 0xc1, ""},
        {op::get, "n.x", 0xc1, ""},
        {op::get, "", 0xc2, ""},
        {op::exists, "a.b[0]", 0x00, ""},
        {op::exists, "a.c", 0xc0, ""},
        {op::get_count, "", 0x00, "4"},
        {op::get_count, "a.b", 0x00, "3"},
        {op::get_count, "n", 0xc1, ""},
        {op::get_count, "x", 0xc0, ""},
    };
    for (const row& r : table) {
        const auto found = look_up(text, r.what, parse_path(r.path).path);
        EXPECT_EQ(code_of(found.code), r.code) << r.path;
        EXPECT_EQ(found.value, r.value) << r.path;
    }
}

struct edit_row {
    op what;
    const char* before;
    const char* path;
    const char* value;
    bool parents;
    unsigned code;
    const char* after;  // null: as before
};

void expect_edits(std::span<const edit_row> table)
{
    for (const edit_row& r : table) {
        SCOPED_TRACE(std::string{r.before} + " " + r.path + " " + r.value);
        std::string text = r.before;
        const auto done = edit(text, r.what, parse_path(r.path).path, r.value, r.parents);
        EXPECT_EQ(code_of(done.code), r.code);
        EXPECT_EQ(text, r.after ? r.after : r.before);
        EXPECT_EQ(check_json(text, max_subdoc_depth), json_state::valid);
    }
}

TEST(lab_couchbase_subdoc, members_are_added_upserted_replaced_and_removed)
{
    const edit_row table[] = {
        {op::dict_add, "{}", "a", "1", false, 0x00, R"({"a":1})"},
        {op::dict_add, R"({"a": 1 })", "b", "[]", false, 0x00, R"({"a": 1 ,"b":[]})"},
        {op::dict_add, R"({"a":1})", "a", "2", false, 0xc9, nullptr},
        {op::dict_add, R"({"a":1})", "a.b", "2", false, 0xc1, nullptr},
        {op::dict_add, "{}", "a.b", "2", false, 0xc0, nullptr},
        {op::dict_add, "{}", "a.b.c", "2", true, 0x00, R"({"a":{"b":{"c":2}}})"},
        {op::dict_add, R"({"a":{}})", "a.b.c", "2", true, 0x00, R"({"a":{"b":{"c":2}}})"},
        {op::dict_add, "{}", "a[0]", "2", true, 0xc2, nullptr},
        {op::dict_add, "{}", "a[0].b", "2", true, 0xc0, nullptr},
        {op::dict_add, "{}", "", "2", false, 0xc2, nullptr},
        {op::dict_add, "{}", "a", "nul", false, 0xc5, nullptr},
        {op::dict_add, "{}", "a", "1,2", false, 0xc5, nullptr},
        {op::dict_add, "{}", "`x\"y`", "1", false, 0x00, R"({"x\"y":1})"},
        {op::dict_add, "[]", "a", "1", false, 0xc1, nullptr},
        {op::dict_upsert, R"({"a":1,"b":2})", "a", "{}", false, 0x00, R"({"a":{},"b":2})"},
        {op::dict_upsert, R"({"a":[{}]})", "a[0].x", "1", false, 0x00, R"({"a":[{"x":1}]})"},
        {op::replace, R"({"a":1})", "a", "true", false, 0x00, R"({"a":true})"},
        {op::replace, R"({"a":1})", "b", "true", false, 0xc0, nullptr},
        {op::replace, "[1,2,3]", "[-1]", "9", false, 0x00, "[1,2,9]"},
        {op::replace, "[1]", "", "9", false, 0xc2, nullptr},
        {op::remove, R"({"a":1,"b":2})", "a", "", false, 0x00, R"({"b":2})"},
        {op::remove, R"({"a":1, "b":2})", "b", "", false, 0x00, R"({"a":1})"},
        {op::remove, R"({"a":1})", "a", "", false, 0x00, "{}"},
        {op::remove, "[1, 2 ,3]", "[1]", "", false, 0x00, "[1 ,3]"},
        {op::remove, "[1,2,3]", "[-1]", "", false, 0x00, "[1,2]"},
        {op::remove, "[1]", "[1]", "", false, 0xc0, nullptr},
        {op::remove, "[1]", "", "", false, 0xc2, nullptr},
    };
    expect_edits(table);
}

TEST(lab_couchbase_subdoc, arrays_are_pushed_to_inserted_into_and_kept_unique)
{
    const edit_row table[] = {
        {op::array_push_last, "[]", "", "1", false, 0x00, "[1]"},
        {op::array_push_last, "[1]", "", "2,3", false, 0x00, "[1,2,3]"},
        {op::array_push_first, R"({"a":[2]})", "a", "0,1", false, 0x00, R"({"a":[0,1,2]})"},
        {op::array_push_first, "[]", "", "1", false, 0x00, "[1]"},
        {op::array_push_last, "{}", "a", "1", false, 0xc0, nullptr},
        {op::array_push_last, "{}", "a.b", "1", true, 0x00, R"({"a":{"b":[1]}})"},
        {op::array_push_last, R"({"a":1})", "a", "1", true, 0xc1, nullptr},
        {op::array_push_last, "[]", "", "", false, 0xc5, nullptr},
        {op::array_push_last, "[]", "", "1]", false, 0xc5, nullptr},
        {op::array_push_last, "[]", "", "],[", false, 0xc5, nullptr},
        {op::array_insert, "[1,3]", "[1]", "2", false, 0x00, "[1,2,3]"},
        {op::array_insert, "[1]", "[1]", "2", false, 0x00, "[1,2]"},
        {op::array_insert, "[]", "[0]", "1,2", false, 0x00, "[1,2]"},
        {op::array_insert, "[1]", "[2]", "2", false, 0xc0, nullptr},
        {op::array_insert, "[1]", "[-1]", "2", false, 0xc2, nullptr},
        {op::array_insert, R"({"a":1})", "a", "2", false, 0xc2, nullptr},
        {op::array_insert, R"({"a":1})", "a[0]", "2", false, 0xc1, nullptr},
        {op::array_add_unique, "[1,2]", "", "3", false, 0x00, "[1,2,3]"},
        {op::array_add_unique, "[1, 2]", "", "2", false, 0xc9, nullptr},
        {op::array_add_unique, R"(["a"])", "", R"("a")", false, 0xc9, nullptr},
        {op::array_add_unique, "[1,{}]", "", "3", false, 0xc1, nullptr},
        {op::array_add_unique, "[1]", "", "[]", false, 0xc5, nullptr},
        {op::array_add_unique, "{}", "a", "1", true, 0x00, R"({"a":[1]})"},
    };
    expect_edits(table);
}

TEST(lab_couchbase_subdoc, counter_adds_to_a_whole_number_and_gives_the_sum)
{
    struct row {
        const char* before;
        const char* path;
        const char* delta;
        bool parents;
        unsigned code;
        const char* sum;
    };
    const row table[] = {
        {R"({"n":41})", "n", "1", false, 0x00, "42"},
        {R"({"n":1})", "n", "-3", false, 0x00, "-2"},
        {"{}", "n", "5", false, 0x00, "5"},
        {"{}", "a.n", "5", false, 0xc0, ""},
        {"{}", "a.n", "5", true, 0x00, "5"},
        {"[]", "[0]", "5", true, 0xc0, ""},
        {R"({"n":"1"})", "n", "1", false, 0xc1, ""},
        {R"({"n":1.5})", "n", "1", false, 0xc1, ""},
        {R"({"n":9223372036854775807})", "n", "1", false, 0xc5, ""},
        {R"({"n":9223372036854775808})", "n", "1", false, 0xc7, ""},
        {R"({"n":1})", "n", "0", false, 0xc8, ""},
        {R"({"n":1})", "n", "x", false, 0xc8, ""},
        {R"({"n":1})", "n", "1.5", false, 0xc8, ""},
        {R"({"n":1})", "n", "9223372036854775808", false, 0xc8, ""},
    };
    for (const row& r : table) {
        SCOPED_TRACE(std::string{r.before} + " " + r.delta);
        std::string text = r.before;
        const auto path = parse_path(r.path).path;
        const auto done = edit(text, op::counter, path, r.delta, r.parents);
        EXPECT_EQ(code_of(done.code), r.code);
        EXPECT_EQ(done.value, r.sum);
        if (done.code == kv_status::success)
            EXPECT_EQ(look_up(text, op::get, path).value, r.sum);
        else
            EXPECT_EQ(text, r.before);
    }
}

TEST(lab_couchbase_subdoc, value_that_would_be_deeper_than_32_levels_is_refused)
{
    std::string text = "{}";
    const std::string deep31 = std::string(31, '[') + std::string(31, ']');
    EXPECT_EQ(edit(text, op::dict_add, parse_path("a").path, deep31, false).code,
              kv_status::success);
    EXPECT_EQ(edit(text, op::dict_add, parse_path("b").path, "[" + deep31 + "]", false).code,
              kv_status::subdoc_value_too_deep);
    EXPECT_EQ(edit(text, op::array_push_last, parse_path("a").path, deep31, false).code,
              kv_status::subdoc_value_too_deep);
    EXPECT_EQ(check_json(text, max_subdoc_depth), json_state::valid);
}

TEST(lab_couchbase_json, text_is_valid_too_deep_or_invalid)
{
    EXPECT_EQ(check_json("[[1]] ", 2), json_state::valid);
    EXPECT_EQ(check_json("[[1]]", 1), json_state::too_deep);
    EXPECT_EQ(check_json("", 2), json_state::invalid);
    EXPECT_EQ(check_json("[1", 2), json_state::invalid);
    EXPECT_EQ(check_json("1 2", 2), json_state::invalid);
    EXPECT_EQ(check_json("12", 2), json_state::valid);
    EXPECT_EQ(check_json("\"\xff\"", 2), json_state::invalid);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::subdoc_edit_test
