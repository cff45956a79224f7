// Every snippet of docs/bson.md, run and checked: the program fails if the guide is wrong.

#include "holdfast/bson/binary_vector.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/mapping.hpp"
#include "holdfast/bson/validate.hpp"

#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bson = holdfast::bson;
using holdfast::error;
using holdfast::result;
using namespace std::chrono_literals;

namespace shop {

enum class state { open, in_transit, done };
BOOST_DESCRIBE_ENUM(state, open, in_transit, done)

struct address {
    std::vector<std::string> lines;
    std::string city;
};
BOOST_DESCRIBE_STRUCT(address, (), (lines, city))

struct order {
    bson::object_id id;
    std::string customer;
    address ship_to;
    std::map<std::string, int> items;
    std::optional<std::string> note;
    state now = state::open;
    std::chrono::system_clock::time_point placed;
    int priority = 3;
    int cached_total = 0;
};
BOOST_DESCRIBE_STRUCT(order, (),
                      (id, customer, ship_to, items, note, now, placed, priority, cached_total))

struct comment {
    std::string text;
    std::unique_ptr<comment> reply;
};
BOOST_DESCRIBE_STRUCT(comment, (), (text, reply))

struct circle {
    double radius = 0;
};
struct square {
    double side = 0;
};
BOOST_DESCRIBE_STRUCT(circle, (), (radius))
BOOST_DESCRIBE_STRUCT(square, (), (side))
using shape = std::variant<circle, square>;

class money {
public:
    static std::optional<money> from_cents(std::int64_t cents)
    {
        return cents < 0 ? std::nullopt : std::optional{money{cents}};
    }
    std::int64_t cents() const { return cents_; }

private:
    explicit money(std::int64_t cents) : cents_{cents} {}
    std::int64_t cents_;
};

}  // namespace shop

template <>
inline constexpr auto holdfast::bson::mapping_of<shop::order> = mapping{
    rename(&shop::order::id, "_id"),
    defaulted(&shop::order::priority),  // may be missing, and is then 3
    skip(&shop::order::cached_total),   // neither read nor written
    reject_unknown,                     // a field that order does not have is an error
};

template <>
inline constexpr auto holdfast::bson::mapping_of<shop::state> = mapping{
    rename(shop::state::in_transit, "in transit")};

template <>
struct holdfast::bson::codec<shop::money> {
    static result<shop::money> read(const element& from)
    {
        auto cents = from.get<std::int64_t>();
        if (!cents)
            return std::move(cents).error();
        const auto amount = shop::money::from_cents(*cents);
        if (!amount)
            return error{errc::invalid_value, "money is never negative"};
        return *amount;
    }
    static void write(auto& out, std::string_view key, const shop::money& value)
    {
        out.add(key, value.cents());
    }
};

namespace {

int lies = 0;

void check(bool holds, std::source_location at = std::source_location::current())
{
    if (holds)
        return;
    std::cerr << "line " << at.line() << ": not as documented\n";
    ++lies;
}

void views()
{
    const std::vector<std::uint8_t> bytes{12, 0, 0, 0, 0x10, 'a', 0, 1, 0, 0, 0, 0};

    result<bson::view> seen = bson::view::parse(bytes);  // looks at length and last byte only
    if (!seen)
        std::cerr << seen.error().message() << '\n';
    for (const bson::element& e : *seen)
        std::cout << e.key() << " is " << bson::name_of(e.type()) << '\n';

    check(seen->size() == 12);
    check((*seen)["a"].get<int>().value() == 1);
}

void building()
{
    const bson::document ada = bson::doc("name", "Ada", "born", 1815, "langs",
                                         bson::list("en", "fr"), "home",
                                         bson::object("city", "London", "zip", bson::null{}));
    const bson::array primes = bson::arr(2, 3, 5);

    check(bson::to_json(ada).value().find("\"city\"") != std::string::npos);
    check(primes.count() == 3);

    bson::byte_buffer out;  // or any std::vector<std::uint8_t>, std::string ...
    bson::builder order{out};
    order.add("item", "rope").add("count", 3);
    {
        auto price = order.document("price");  // closed at the end of its scope
        price.add("amount", 12.5).add("currency", "EUR");
    }
    {
        auto tags = order.array("tags");
        for (const char* tag : {"fresh", "green"})
            tags.add(tag);
    }
    order.copy(ada["born"]);  // an element of another document, as it is
    const result<bson::view> done = order.finish();

    check(done && done->data() == out.data());
    check(done->get<double>("price.amount").value() == 12.5);
    check(done->get<int>("born").value() == 1815);

    bson::builder wrong{out};
    wrong.add(std::string_view{"a\0b", 3}, 1);
    check(wrong.finish().error().code() == bson::errc::invalid_key);
}

void reading()
{
    const bson::document d = bson::doc("n", 7, "x", 2.5, "who", bson::object("name", "Ada"), "list",
                                       bson::list(1, 2, 3));

    const bson::element n = d["n"];  // the first of that key
    if (n)
        std::cout << "n has type " << bson::name_of(n.type()) << '\n';
    const result<std::int64_t> seven = n.get<std::int64_t>();         // int32 to int64: fine
    const result<std::string> name = d.get<std::string>("who.name");  // by path
    const int second = d.get<int>("list.1").value();                  // throws holdfast::failure

    check(*seven == 7 && *name == "Ada" && second == 2);

    const result<int> wrong = d.get<int>("who.name");
    check(wrong.error().message() == "who.name: expected int32, found string");
    check(wrong.error().code() == bson::errc::wrong_type);
    check(wrong.error().context("path") == "who.name");
    check(wrong.error().context("found") == "string");
    check(d.get<int>("rank").error().message() == "rank: missing");
    check(d.get<int>("x").error().code() == bson::errc::out_of_range);  // 2.5 is no int

    std::int64_t sum = 0;
    for (const bson::element& e : d["list"].as_array()) {  // after a look at the type
        if (e.type() == bson::type::int32)
            sum += e.as_int32();
    }
    check(sum == 6);
}

void validation()
{
    const bson::document stored = bson::doc("a", bson::object("b", bson::unchecked_text{"\xFF"}));

    const auto all = bson::validate(stored.bytes());
    check(all.error().code() == bson::errc::invalid_utf8);

    const bson::validation quick{.utf8 = false, .depth = 10, .size = 16 * 1024 * 1024};
    check(bson::validate(stored.bytes(), quick).has_value());
}

void ids_and_numbers()
{
    bson::object_id_source source{{1, 2, 3, 4, 5}, 42};  // five random bytes, a random counter
    const bson::object_id id = source.next(std::chrono::sys_seconds{1'700'000'000s});
    check(id.to_string() == "6553f100010203040500002a");
    check(bson::object_id::parse(id.to_string()).value() == id);
    check(id.created() == std::chrono::sys_seconds{1'700'000'000s});

    const auto uuid = bson::uuid::parse("00112233-4455-6677-8899-aabbccddeeff").value();
    const bson::document d = bson::doc("id", uuid);  // binary of subtype 4
    check(d.get<bson::uuid>("id").value() == uuid);

    const auto price = bson::decimal128::parse("19.90").value();  // exact, keeps the zero
    check(price.to_string() == "19.90");
}

void vectors()
{
    const std::vector<float> embedding{0.5F, -1.0F, 2.0F};
    const std::vector<std::uint8_t> payload = bson::encode_vector(embedding);
    const bson::document d = bson::doc("v", bson::binary{payload, bson::binary_subtype::vector});

    const auto vector = bson::binary_vector::parse(d.get<bson::binary>("v").value()).value();
    check(vector.dtype() == bson::vector_dtype::float32);
    check(vector.float32_values().value() == embedding);
}

void json()
{
    const std::string text = R"({"n":1,"when":{"$date":"2024-02-29T12:00:00Z"}})";
    const bson::document d = bson::from_json(text).value();
    check(bson::to_json(d).value() == text);  // relaxed: what people read
    const std::string all = bson::to_json(d, bson::json_mode::canonical).value();
    check(all.starts_with(R"({"n":{"$numberInt":"1"},)"));  // canonical: keeps every type
    check(bson::from_json(all).value() == d);

    const auto wrong = bson::from_json("{\n  \"a\": tru\n}");
    check(wrong.error().message() == "line 2, column 8: expected a value, found 't'");
}

void mapping()
{
    shop::order o;
    o.customer = "ada";
    o.ship_to = {{"12 Strand"}, "London"};
    o.items = {{"rope", 3}};
    o.now = shop::state::in_transit;

    const bson::document stored = bson::to_bson(o).value();
    const result<shop::order> again = bson::from_bson<shop::order>(stored);

    check(again && again->items == o.items && again->now == o.now);
    check(stored == bson::doc("_id", o.id, "customer", "ada", "ship_to",
                              bson::object("lines", bson::list("12 Strand"), "city", "London"),
                              "items", bson::object("rope", 3), "now", "in transit", "placed",
                              bson::datetime{}, "priority", 3));

    bson::byte_buffer message;
    const result<bson::view> in_place = bson::append_bson(message, o);  // no copy
    check(in_place && *in_place == stored.view());

    const bson::document d = bson::doc("to", o.ship_to, "at", bson::list(o.ship_to));
    check(d.get<shop::address>("to").value().city == "London");
    check(d.get<std::vector<shop::address>>("at").value().size() == 1);

    const auto wrong = bson::from_bson<shop::address>(bson::doc("lines", bson::list("a", "b", 3)));
    check(wrong.error().message() == "lines.2: expected string, found int32");
    check(bson::from_bson<shop::address>(bson::doc("lines", bson::list())).error().message() ==
          "city: missing");
    check(bson::from_bson<shop::order>(bson::doc("colour", 1)).error().message() ==
          "colour: unknown field");
    check(bson::doc("s", "lost")["s"].get<shop::state>().error().message() ==
          "s: expected one of open, in transit, done, found \"lost\"");
}

void richer_types()
{
    shop::comment first{"nice", std::make_unique<shop::comment>()};
    first.reply->text = "thanks";
    check(bson::to_bson(first).value() ==
          bson::doc("text", "nice", "reply", bson::object("text", "thanks")));

    const bson::document d = bson::doc("s", shop::shape{shop::square{2}});
    check(d == bson::doc("s", bson::object("side", 2.0)));
    check(std::holds_alternative<shop::square>(d.get<shop::shape>("s").value()));

    check(bson::doc("a", std::optional<int>{}) == bson::doc("a", bson::null{}));
    check(bson::doc("t", 1500ms) == bson::doc("t", std::int64_t{1500}));
    check(bson::from_bson<std::map<std::string, int>>(bson::doc("x", 1)).value().at("x") == 1);
}

void own_types()
{
    const auto price = shop::money::from_cents(1990);
    const bson::document d = bson::doc("price", *price, "loss", -5);
    check(d["price"].get<shop::money>().value().cents() == 1990);

    const auto loss = bson::from_bson<std::map<std::string, shop::money>>(d);
    check(loss.error().message() == "loss: money is never negative");
}

}  // namespace

int main()
{
    views();
    building();
    reading();
    validation();
    ids_and_numbers();
    vectors();
    json();
    mapping();
    richer_types();
    own_types();
    return lies == 0 ? 0 : 1;
}
