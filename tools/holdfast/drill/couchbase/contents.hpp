#pragma once
#include "tools/holdfast/drill/history.hpp"

#include <boost/describe/class.hpp>

#include <string>
#include <vector>

/// What is stored. `k` is the key that it is stored under.
namespace holdfast::drill {

struct marked_value {
    std::string k = {};
    token t = 0;
};
BOOST_DESCRIBE_STRUCT(marked_value, (), (k, t))

struct marked_list {
    std::string k = {};
    std::vector<token> s = {};
};
BOOST_DESCRIBE_STRUCT(marked_list, (), (k, s))

}  // namespace holdfast::drill
