// The code of README.md, as a program.
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/mapping.hpp"

#include <iostream>
#include <string>

namespace bson = holdfast::bson;

struct account {
    std::string owner;
    double balance = 0;
};
BOOST_DESCRIBE_STRUCT(account, (), (owner, balance))

int main()
{
    bson::document stored = bson::to_bson(account{"ada", 100}).value();
    bson::document update = bson::doc("$inc", bson::object("balance", 5), "tags",
                                      bson::list("vip"));
    std::cout << bson::to_json(update).value() << '\n';  // {"$inc":{"balance":5},"tags":["vip"]}
    std::cout << stored.get<int>("owner").error().message() << '\n';
    // owner: expected int32, found string

    const bool as_told = bson::to_json(update).value() ==
                             R"({"$inc":{"balance":5},"tags":["vip"]})" &&
                         stored.get<int>("owner").error().message() ==
                             "owner: expected int32, found string";
    return as_told ? 0 : 1;
}
