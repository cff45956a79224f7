// Random replies of services, cut at random places: their rows are those that Boost.JSON finds, and
// a damaged reply is refused or has them as well.
#include "check.hpp"
#include "choices.hpp"
#include "core/couchbase/rows/row_splitter.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace holdfast::property::couchbase_rows_test {
namespace {

using core::couchbase::row_splitter;

int reply_count()
{
    return property_count() / 10;
}

class reply_text {
public:
    explicit reply_text(choices& from) : choices_{from} {}

    std::string make()
    {
        space();
        text_ += '{';
        const std::size_t before = choices_.below(4);
        const std::size_t after = choices_.below(4);
        for (std::size_t i = 0; i < before; ++i)
            member("m" + std::to_string(i));
        rows();
        for (std::size_t i = 0; i < after; ++i) {
            text_ += ',';
            member(i == 0 ? "" : "n\\\"" + std::to_string(i));
            text_.pop_back();
        }
        text_ += '}';
        space();
        return std::move(text_);
    }

private:
    void space()
    {
        constexpr std::string_view some[] = {"", "", "", " ", "\n  ", "\r\n\t"};
        text_ += choices_.pick(some);
    }

    void member(const std::string& name)
    {
        key(name);
        value(0);
        space();
        text_ += ',';
    }

    void key(std::string_view name)
    {
        space();
        text_.append("\"").append(name).append("\"");
        space();
        text_ += ':';
        space();
    }

    void rows()
    {
        key("results");
        if (choices_.one_in(20)) {
            value(9);
            return space();
        }
        list('[', ']', 0, choices_.below(12));
        space();
    }

    void list(char open, char close, int depth, std::size_t count)
    {
        text_ += open;
        space();
        for (std::size_t i = 0; i < count; ++i) {
            if (i != 0) {
                text_ += ',';
                space();
            }
            if (open == '{')
                key("results");
            value(depth + 1);
            space();
        }
        text_ += close;
    }

    void string()
    {
        constexpr std::string_view parts[] = {"a",    "results",
                                              "\\\"", "\\\\",
                                              "[",    "]",
                                              "{",    "}",
                                              ",",    ":",
                                              "é",    "\\u00e9",
                                              "\\n",  "a long text without anything in it, "};
        text_ += '"';
        for (std::size_t i = choices_.below(6); i != 0; --i)
            text_ += choices_.pick(parts);
        text_ += '"';
    }

    void value(int depth)
    {
        constexpr std::string_view plain[] = {
            "0",       "-0",   "17",    "-1.5", "1e3",
            "0.25E-2", "true", "false", "null", "18446744073709551615"};
        const std::size_t kind = choices_.below(depth > 5 ? 2 : 4);
        if (kind == 0)
            text_ += choices_.pick(plain);
        else if (kind == 1)
            string();
        else
            list(kind == 2 ? '{' : '[', kind == 2 ? '}' : ']', depth, choices_.below(4));
    }

    choices& choices_;
    std::string text_;
};

struct outcome {
    std::vector<std::string> rows = {};
    std::string metadata = {};
    bool failed = false;
};

outcome split(const std::string& text, choices& c)
{
    row_splitter splitter{"results"};
    outcome found;
    std::vector<char> piece;
    for (std::size_t at = 0; at < text.size() && !splitter.failed();) {
        const std::size_t size = 1 + c.below(c.one_in(3) ? text.size() : 20);
        piece.assign(text.begin() + static_cast<std::ptrdiff_t>(at),
                     text.begin() + static_cast<std::ptrdiff_t>(std::min(at + size, text.size())));
        splitter.feed({piece.data(), piece.size()});
        for (std::string_view row; splitter.next(row);)
            found.rows.emplace_back(row);
        at += piece.size();
    }
    found.failed = splitter.failed() || !splitter.finish();
    found.metadata = std::move(splitter).metadata();
    return found;
}

/// The rows that Boost.JSON finds, and the reply without them; nothing if it does not parse.
struct expected_reply {
    std::vector<boost::json::value> rows = {};
    boost::json::value metadata = {};
};

std::optional<expected_reply> parse(const std::string& text)
{
    boost::json::error_code problem;
    expected_reply made{.metadata = boost::json::parse(text, problem)};
    if (problem || !made.metadata.is_object())
        return std::nullopt;
    if (boost::json::value* const found = made.metadata.as_object().if_contains("results")) {
        if (boost::json::array* const rows = found->if_array()) {
            made.rows.assign(rows->begin(), rows->end());
            rows->clear();
        }
    }
    return made;
}

void require_same(const outcome& found, const expected_reply& expected)
{
    RC_ASSERT(!found.failed);
    RC_ASSERT(found.rows.size() == expected.rows.size());
    for (std::size_t i = 0; i < found.rows.size(); ++i)
        RC_ASSERT((boost::json::parse(found.rows[i]) == expected.rows[i]));
    RC_ASSERT((boost::json::parse(found.metadata) == expected.metadata));
}

TEST(couchbase_rows_property, rows_of_a_reply_cut_anywhere_are_those_of_boost_json)
{
    check(
        [] {
            const choice_bytes bytes = *any_choices();
            choices c{bytes};
            const std::string text = reply_text{c}.make();
            const choice_bytes more = *any_choices();
            choices cuts{more};
            const auto expected = parse(text);
            RC_ASSERT(expected.has_value());
            require_same(split(text, cuts), *expected);
        },
        reply_count());
}

TEST(couchbase_rows_property, damaged_reply_is_refused_or_has_the_rows_of_boost_json)
{
    check(
        [] {
            const choice_bytes bytes = *any_choices();
            choices c{bytes};
            std::string text = reply_text{c}.make();
            const choice_bytes more = *any_choices();
            choices damage{more};
            constexpr std::string_view marks = "{}[],:\"\\ 0e-";
            for (std::size_t i = 1 + damage.below(3); i != 0; --i)
                text[damage.below(text.size())] = damage.pick(marks);
            const auto expected = parse(text);
            const outcome found = split(text, damage);
            const bool twice = text.find("\"results\"") != text.rfind("\"results\"");
            if (expected && !twice)
                require_same(found, *expected);
            choices no_cuts{{}};
            RC_ASSERT(split(text, no_cuts).failed == found.failed);
            RC_ASSERT(split(text, no_cuts).rows == found.rows);
        },
        reply_count());
}

}  // namespace
}  // namespace holdfast::property::couchbase_rows_test
