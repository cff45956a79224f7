#include "schema.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::spec::unified {
namespace {

namespace json = boost::json;

struct shape;
using shape_ptr = std::shared_ptr<const shape>;

struct item {
    std::string name;  // of a kind, or of another rule
};
struct text {
    std::string is;
};
struct list {
    shape_ptr of;
    bool not_empty = false;
};
struct field {
    std::string key;
    shape_ptr is;
    bool optional = false;
    bool with_suffix = false;
};
struct fields {
    std::vector<field> known;
    std::vector<std::pair<std::string, std::string>> not_together;  // the second may be empty
    shape_ptr any_other;                                            // null: no other keys
    std::size_t at_least = 0;
    std::size_t at_most = SIZE_MAX;
};
struct either {
    std::vector<shape_ptr> of;
};
struct shape {
    std::variant<item, text, list, fields, either> is;
};

using rule_map = std::map<std::string, shape_ptr, std::less<>>;

/// Reads a grammar. What is wrong with one is a mistake of ours.
class grammar_reader {
public:
    explicit grammar_reader(std::string_view source) : rest_{source} {}

    rule_map rules()
    {
        rule_map all;
        for (skip_blanks(); !rest_.empty(); skip_blanks()) {
            const std::string name = identifier();
            expect("=");
            all[name] = alternatives();
        }
        return all;
    }

private:
    shape_ptr alternatives()
    {
        either some;
        some.of.push_back(single());
        while (take("|"))
            some.of.push_back(single());
        return some.of.size() == 1 ? some.of[0] : make(std::move(some));
    }
    shape_ptr single()
    {
        if (take("["))
            return array();
        if (take("{"))
            return object();
        if (!take("\""))
            return make(item{identifier()});
        const std::size_t end = rest_.find('"');
        text quoted{std::string{rest_.substr(0, end)}};
        rest_.remove_prefix(end + 1);
        return make(std::move(quoted));
    }
    shape_ptr array()
    {
        list some{.of = alternatives()};
        some.not_empty = take("+");
        expect("]");
        return make(std::move(some));
    }
    shape_ptr object()
    {
        fields all;
        if (take("1"))
            all.at_least = all.at_most = 1;
        else if (take("+"))
            all.at_least = 1;
        while (!take("}")) {
            entry(all);
            if (!take(","))
                skip_blanks();
        }
        return make(std::move(all));
    }
    void entry(fields& all)
    {
        if (take("...")) {
            all.any_other = make(item{"any"});
        } else if (take("!")) {
            const std::string first = identifier();
            all.not_together.emplace_back(first, take("&") ? identifier() : std::string{});
        } else if (take("*")) {
            expect(":");
            all.any_other = alternatives();
        } else {
            field one{.key = identifier(), .is = {}};
            one.with_suffix = take("*");
            one.optional = take("?");
            expect(":");
            one.is = alternatives();
            all.known.push_back(std::move(one));
        }
    }

    template <class T>
    static shape_ptr make(T is)
    {
        return std::make_shared<const shape>(shape{std::move(is)});
    }
    static bool is_of_name(char c)
    {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
    }
    void skip_blanks()
    {
        const std::size_t first = rest_.find_first_not_of(" \n");
        rest_.remove_prefix(std::min(first, rest_.size()));
    }
    bool take(std::string_view token)
    {
        skip_blanks();
        if (!rest_.starts_with(token))
            return false;
        rest_.remove_prefix(token.size());
        return true;
    }
    void expect(std::string_view token)
    {
        if (!take(token))
            throw std::logic_error{"the grammar lacks " + std::string{token} + " before " +
                                   std::string{rest_.substr(0, 40)}};
    }
    std::string identifier()
    {
        skip_blanks();
        const auto* const end = std::ranges::find_if_not(rest_, is_of_name);
        std::string name{rest_.begin(), end};
        if (name.empty())
            throw std::logic_error{"the grammar lacks a name before " +
                                   std::string{rest_.substr(0, 40)}};
        rest_.remove_prefix(name.size());
        return name;
    }

    std::string_view rest_;
};

struct fault {
    std::string path;
    std::size_t depth = 0;
    std::string what;
};
using found_fault = std::optional<fault>;

class checker {
public:
    explicit checker(const rule_map& rules) : rules_{rules} {}

    found_fault check(const shape& wanted, const json::value& value) const
    {
        return std::visit([&](const auto& is) { return check_as(is, value); }, wanted.is);
    }

private:
    static fault plain(std::string what) { return {{}, 0, std::move(what)}; }
    static fault within(fault inner, const std::string& key)
    {
        inner.path = inner.path.empty() ? key : key + "." + inner.path;
        ++inner.depth;
        return inner;
    }
    static found_fault demand_kind(bool holds, std::string_view kind)
    {
        return holds ? found_fault{} : plain("is not " + std::string{kind});
    }

    found_fault check_as(const item& wanted, const json::value& value) const
    {
        static const std::regex version{"[0-9]+(\\.[0-9]+){1,2}"};
        const std::string& name = wanted.name;
        if (name == "any")
            return {};
        if (name == "string")
            return demand_kind(value.is_string(), "a string");
        if (name == "bool")
            return demand_kind(value.is_bool(), "true or false");
        if (name == "int")
            return demand_kind(is_whole(value), "an integer");
        if (name == "object")
            return demand_kind(value.is_object(), "an object");
        if (name == "true")
            return demand_kind(value.is_bool() && value.get_bool(), "true");
        if (name == "version")
            return demand_kind(value.is_string() &&
                                   std::regex_match(std::string{value.get_string()}, version),
                               "a version number");
        const auto rule = rules_.find(name);
        if (rule == rules_.end())
            throw std::logic_error{"the grammar has no rule " + name};
        return check(*rule->second, value);
    }
    static bool is_whole(const json::value& value)
    {
        return value.is_int64() || value.is_uint64() ||
               (value.is_double() && value.get_double() == std::floor(value.get_double()));
    }

    found_fault check_as(const text& wanted, const json::value& value) const
    {
        return demand_kind(value.is_string() && value.get_string() == wanted.is,
                           "\"" + wanted.is + "\"");
    }

    found_fault check_as(const list& wanted, const json::value& value) const
    {
        if (!value.is_array())
            return plain("is not an array");
        const json::array& values = value.get_array();
        if (wanted.not_empty && values.empty())
            return plain("is empty");
        for (std::size_t i = 0; i != values.size(); ++i)
            if (auto wrong = check(*wanted.of, values[i]))
                return within(*std::move(wrong), std::to_string(i));
        return {};
    }

    /// The fault of the alternative that came furthest.
    found_fault check_as(const either& wanted, const json::value& value) const
    {
        found_fault deepest;
        for (const shape_ptr& one : wanted.of) {
            auto wrong = check(*one, value);
            if (!wrong)
                return {};
            if (!deepest || wrong->depth > deepest->depth)
                deepest = std::move(wrong);
        }
        if (deepest->depth == 0 && std::holds_alternative<text>(wanted.of.front()->is))
            return plain("is none of the texts that it can be");
        return deepest;
    }

    found_fault check_as(const fields& wanted, const json::value& value) const
    {
        if (!value.is_object())
            return plain("is not an object");
        const json::object& object = value.get_object();
        if (object.size() < wanted.at_least || object.size() > wanted.at_most)
            return plain("has " + std::to_string(object.size()) + " keys");
        for (const field& one : wanted.known)
            if (!one.optional && !object.contains(one.key))
                return plain("lacks the key " + one.key);
        for (const auto& [first, second] : wanted.not_together)
            if (object.contains(first) && (second.empty() || object.contains(second)))
                return plain("must not have the key " + first +
                             (second.empty() ? "" : " together with " + second));
        for (const auto& member : object)
            if (auto wrong = check_member(wanted, std::string{member.key()}, member.value()))
                return wrong;
        return {};
    }

    found_fault check_member(const fields& wanted, const std::string& key,
                             const json::value& value) const
    {
        const auto known = std::ranges::find_if(wanted.known,
                                                [&](const field& one) { return is_key(one, key); });
        const shape_ptr& is = known == wanted.known.end() ? wanted.any_other : known->is;
        if (!is)
            return plain("has a key that is not known: " + key);
        if (auto wrong = check(*is, value))
            return within(*std::move(wrong), key);
        return {};
    }
    static bool is_key(const field& one, std::string_view key)
    {
        if (key == one.key)
            return true;
        if (!one.with_suffix || !key.starts_with(one.key + ":") || key.size() == one.key.size() + 1)
            return false;
        return std::ranges::all_of(key.substr(one.key.size() + 1),
                                   [](unsigned char c) { return std::isalnum(c) || c == '_'; });
    }

    const rule_map& rules_;
};

}  // namespace

struct grammar::rules {
    rule_map all;
};

grammar::grammar(std::string_view text)
    : rules_{std::make_unique<const rules>(rules{grammar_reader{text}.rules()})}
{
}

grammar::~grammar() = default;

std::optional<std::string> grammar::fault(std::string_view rule, const json::value& value) const
{
    const auto wrong = checker{rules_->all}.check(shape{item{std::string{rule}}}, value);
    if (!wrong)
        return {};
    return (wrong->path.empty() ? "the " + std::string{rule} : wrong->path) + " " + wrong->what;
}

const grammar& unified_grammar()
{
    static const grammar instance{unified_grammar_text};
    return instance;
}

}  // namespace holdfast::spec::unified
