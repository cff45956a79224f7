#include "generator.hpp"

#include "examples.hpp"
#include "holdfast/bson/json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::lab::hostile {

namespace {

constexpr std::int64_t cursor_mark = 0x7E57C0DE7E57C0DE;
constexpr std::size_t largest_text = 200'000;

tree read_example(std::string_view text)
{
    std::string json{text};
    constexpr std::string_view mark = "{{cursor}}";
    for (auto at = json.find(mark); at != json.npos; at = json.find(mark))
        json.replace(at, mark.size(), R"({"$numberLong":")" + std::to_string(cursor_mark) + "\"}");
    const auto read = bson::from_json(json);
    EXPECT_TRUE(read) << read.error().message() << " in " << text;
    return read ? read_tree(read->view()) : tree{0x03};
}

void put_cursor(tree& in, const std::string& mark, const std::string& id)
{
    for (tree& one : in.inside) {
        if (one.payload == mark)
            one.payload = id;
        put_cursor(one, mark, id);
    }
}

bool has_key(const tree& in, std::string_view key)
{
    return std::ranges::any_of(in.inside, [&](const tree& one) { return one.key == key; });
}

tree named(std::string_view key, tree value)
{
    value.key = key;
    return value;
}

}  // namespace

generator::generator(std::uint64_t seed) : state_{seed}
{
    for (const std::string_view one : examples)
        examples_.push_back(read_example(one));
    for (const std::string_view one : common_fields)
        common_.push_back(read_example(one));
}

void generator::cover(std::string_view name)
{
    const auto is_about = [&](const tree& one) { return one.inside.front().key == name; };
    if (std::ranges::any_of(examples_, is_about))
        return;
    tree made{0x03};
    made.inside.push_back(named(name, {0x10, {}, number_bytes(std::int32_t{1})}));
    made.inside.push_back(named("$db", text_value("admin")));
    examples_.push_back(std::move(made));
}

std::uint64_t generator::number()
{
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

std::string generator::command(std::int64_t cursor)
{
    tree made = examples_[below(examples_.size())];
    put_cursor(made, number_bytes(cursor_mark), number_bytes(cursor));
    if (!has_key(made, "$db"))
        made.inside.push_back(named("$db", text_value("db")));
    if (once_in(3))
        add_common_fields(made);
    for (std::uint64_t left = below(once_in(2) ? 2 : 5); left != 0; --left)
        mutate(made);
    std::string bytes;
    write_tree(made, bytes);
    if (once_in(12))
        spoil(bytes);
    return bytes;
}

void generator::add_common_fields(tree& to)
{
    const tree& from = common_[below(common_.size())];
    to.inside.insert(to.inside.end(), from.inside.begin(), from.inside.end());
}

tree& generator::any_of(tree& from)
{
    tree* at = &from;
    while (!at->inside.empty() && (at == &from || !once_in(3)))
        at = &at->inside[below(at->inside.size())];
    return *at;
}

void generator::mutate(tree& command)
{
    // Somewhere inside: deep places as often as high ones.
    tree* parent = &command;
    while (!parent->inside.empty()) {
        tree& next = parent->inside[below(parent->inside.size())];
        if (!next.nested() || next.inside.empty() || once_in(3))
            break;
        parent = &next;
    }
    if (!parent->inside.empty())
        mutate_list(parent->inside, below(parent->inside.size()));
}

void generator::mutate_list(std::vector<tree>& in, std::size_t which)
{
    tree& one = in[which];
    const std::string key = one.key;
    const auto place = in.begin() + static_cast<std::ptrdiff_t>(which);
    switch (below(13)) {
    case 0:
    case 1:
        one = named(key, odd_value());
        break;
    case 2:
        in.erase(place);
        break;
    case 3:
        in.insert(place, tree{one});
        break;
    case 4:
        one.key = odd_key();
        break;
    case 5:
        one = named(key, deep(std::move(one), once_in(20) ? 5000 : 1 + below(150)));
        break;
    case 6: {
        tree around{0x03};
        around.inside.push_back(named(known_keys[below(std::size(known_keys))], std::move(one)));
        one = named(key, std::move(around));
        break;
    }
    case 7:
        one = named(key, odd_number());
        break;
    case 8:
    case 9: {
        tree from = examples_[below(examples_.size())];
        one = named(key, tree{any_of(from)});
        break;
    }
    case 10:
        in.insert(place, named(odd_key(), odd_value()));
        break;
    case 11:
        one.type = one.nested() ? static_cast<std::uint8_t>(7 - one.type) : one.type;
        break;
    default:
        if (once_in(4) && !one.nested())
            one.type = static_cast<std::uint8_t>(below(256));  // bytes of something else
        else
            std::swap(one.payload, in[below(in.size())].payload);
        break;
    }
}

tree generator::odd_value()
{
    switch (below(10)) {
    case 0:
        return text_value(odd_text());
    case 1: {
        constexpr std::uint8_t empty[] = {0x06, 0x0A, 0x7F, 0xFF, 0x03, 0x04};
        return tree{empty[below(std::size(empty))]};
    }
    case 2: {
        tree many{0x04};
        const std::size_t size = once_in(10) ? 5000 : below(20);
        for (std::size_t i = 0; i < size; ++i)
            many.inside.push_back(named(std::to_string(i), odd_number()));
        return many;
    }
    case 3: {
        tree binary{0x05};
        const std::string text = odd_text();
        binary.payload = number_bytes(static_cast<std::int32_t>(text.size()));
        binary.payload.push_back(static_cast<char>(below(256)));
        binary.payload += text;
        return binary;
    }
    case 4:
        return {
            0x0B, {}, std::string{once_in(2) ? "(a*)*b(?R)?" : "[\xFF"} + '\0' + "imxsz" + '\0'};
    case 5:
        return {0x08, {}, std::string(1, static_cast<char>(below(3)))};
    case 6:
        return {once_in(2) ? std::uint8_t{0x11} : std::uint8_t{0x09}, {}, number_bytes(number())};
    case 7: {
        tree operation{0x03};
        operation.inside.push_back(named(known_keys[below(std::size(known_keys))], odd_number()));
        return operation;
    }
    default:
        return odd_number();
    }
}

tree generator::odd_number()
{
    constexpr std::int64_t whole[] = {0,
                                      1,
                                      -1,
                                      2,
                                      100'001,
                                      std::numeric_limits<std::int32_t>::max(),
                                      std::numeric_limits<std::int32_t>::min(),
                                      std::numeric_limits<std::int64_t>::max(),
                                      std::numeric_limits<std::int64_t>::min(),
                                      std::int64_t{1} << 53};
    constexpr double real[] = {0.0,
                               -0.0,
                               0.5,
                               -1.5,
                               1e308,
                               -1e308,
                               9.3e18,
                               -9.3e18,
                               1e-320,
                               2147483648.0,
                               3.5e9,
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};
    switch (below(4)) {
    case 0:
        return {0x10, {}, number_bytes(static_cast<std::int32_t>(whole[below(std::size(whole))]))};
    case 1:
        return {0x12, {}, number_bytes(whole[below(std::size(whole))])};
    case 2:
        return {0x01, {}, number_bytes(real[below(std::size(real))])};
    default:
        return {0x13, {}, number_bytes(number()) + number_bytes(number() | (number() << 40))};
    }
}

std::string generator::odd_key()
{
    if (!once_in(3))
        return std::string{known_keys[below(std::size(known_keys))]};
    return odd_text();
}

std::string generator::odd_text()
{
    switch (below(9)) {
    case 0:
        return {};
    case 1:
        return std::string{"\xFF\xC0\x80 not utf-8 \xED\xA0\x80"};
    case 2:
        return {"a\0b", 3};
    case 3:
        return std::string(once_in(10) ? largest_text : 1 + below(3000), 'x');
    case 4:
        return "$" + std::string{known_keys[below(std::size(known_keys))]};
    case 5: {
        std::string path;
        for (std::uint64_t left = 1 + below(300); left != 0; --left)
            path += "a.";
        return path;
    }
    case 6:
        return std::string(1 + below(300), '(') + "a+";
    case 7:
        return "system.views";
    default:
        return std::string{known_keys[below(std::size(known_keys))]};
    }
}

tree generator::deep(tree inner, std::size_t levels)
{
    const std::string key{once_in(2) ? std::string_view{"0"}
                                     : known_keys[below(std::size(known_keys))]};
    const bool lists = once_in(2);
    for (; levels != 0; --levels) {
        tree around{lists ? std::uint8_t{0x04} : std::uint8_t{0x03}};
        around.inside.push_back(named(key, std::move(inner)));
        inner = std::move(around);
    }
    return inner;
}

void generator::spoil(std::string& bytes)
{
    for (std::uint64_t left = 1 + below(3); left != 0 && !bytes.empty(); --left) {
        const std::size_t at = below(bytes.size());
        switch (below(4)) {
        case 0:
            bytes[at] = static_cast<char>(below(256));
            break;
        case 1:
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
            break;
        case 2:
            bytes.erase(at, 1 + below(8));
            break;
        default:
            bytes.insert(at, number_bytes(number()).substr(0, 1 + below(8)));
            break;
        }
    }
}

}  // namespace holdfast::lab::hostile
