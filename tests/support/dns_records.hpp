#pragma once
#include "runtime/world.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::proof {

using dns_message = std::vector<std::uint8_t>;

enum class dns_type : std::uint16_t { a = 1, cname = 5, txt = 16, aaaa = 28, srv = 33 };

enum class dns_status : std::uint8_t {
    good = 0,
    server_failure = 2,
    no_such_name = 3,
    refused = 5
};

struct dns_question {
    std::uint16_t id = 0;
    std::string name = {};  // in lower case
    std::uint16_t type = 0;
    std::size_t length = 0;  // of header and question, as they came
};

/// Nothing if it is not one plain question.
std::optional<dns_question> read_question(std::span<const std::uint8_t> message);

/// What a name server knows.
class dns_records {
public:
    void add(std::string_view name, dns_type type, std::uint32_t ttl, dns_message data);
    void add_srv(std::string_view name, const runtime::srv_record& what);
    void add_txt(std::string_view name, const std::vector<std::string>& strings);
    void add_alias(std::string_view name, std::string_view of);
    void remove(std::string_view name) { all_.erase(std::string{name}); }

    dns_message answer(const dns_question& asked, std::span<const std::uint8_t> as_it_came) const;

private:
    struct record {
        dns_type type;
        std::uint32_t ttl;
        dns_message data;
        std::string alias = {};
    };
    bool is_known(const std::string& name) const;

    std::map<std::string, std::vector<record>, std::less<>> all_;
};

/// A message without records.
dns_message bare_answer(std::span<const std::uint8_t> as_it_came, const dns_question& asked,
                        dns_status status, bool truncated = false);

}  // namespace holdfast::proof
