#include "net/dns/answer.hpp"

#include "net/dns/names.hpp"

#include <ares.h>

#include <memory>
#include <utility>

namespace holdfast::net {
namespace {

using bytes = std::span<const std::uint8_t>;

constexpr std::size_t longest_message = 65'535;  // of DNS, by UDP or TCP

enum class record_type : std::uint16_t { txt = 16, srv = 33 };
constexpr std::uint16_t internet = 1;

/// Reads a message from its beginning; after the first thing that is missing, all is.
class message_reader {
public:
    explicit message_reader(bytes message) : message_{message} {}

    bool good() const noexcept { return good_; }

    std::uint8_t byte() noexcept
    {
        const bytes one = take(1);
        return one.empty() ? std::uint8_t{0} : one[0];
    }
    std::uint16_t number() noexcept
    {
        const std::uint16_t high = byte();
        return static_cast<std::uint16_t>(high << 8 | byte());
    }
    std::uint32_t long_number() noexcept
    {
        const std::uint32_t high = number();
        return high << 16 | number();
    }
    bytes take(std::size_t count) noexcept
    {
        good_ = good_ && count <= message_.size() - at_;
        if (!good_)
            return {};
        const bytes taken = message_.subspan(at_, count);
        at_ += count;
        return taken;
    }

    /// A name, perhaps compressed: then it points back to an earlier occurrence.
    std::string name()
    {
        char* text = nullptr;
        long length = 0;
        if (!good_ || at_ == message_.size() ||
            ares_expand_name(message_.data() + at_, message_.data(),
                             static_cast<int>(message_.size()), &text, &length) != ARES_SUCCESS) {
            good_ = false;
            return {};
        }
        const std::unique_ptr<char, void (*)(void*)> owned{text, ares_free_string};
        take(static_cast<std::size_t>(length));
        return std::string{text};
    }

    std::size_t position() const noexcept { return at_; }

private:
    bytes message_;
    std::size_t at_ = 0;
    bool good_ = true;
};

struct record_head {
    std::uint16_t type = 0;
    std::uint16_t of_class = 0;
    std::uint32_t ttl = 0;
    std::uint16_t length = 0;
};

record_head read_head(message_reader& from)
{
    from.name();
    record_head head;
    head.type = from.number();
    head.of_class = from.number();
    head.ttl = from.long_number();
    if (head.ttl > 0x7fff'ffff)  // RFC 2181, 8
        head.ttl = 0;
    head.length = from.number();
    return head;
}

/// Calls `read_one(reader, head)` for each answer of a type; it has to read all of it.
template <class ReadOne>
bool each_record(bytes message, record_type wanted, ReadOne read_one)
{
    if (message.size() > longest_message)
        return false;
    message_reader from{message};
    from.long_number();  // id and flags have been looked at by c-ares
    const std::uint16_t questions = from.number();
    const std::uint16_t answers = from.number();
    from.long_number();
    for (int i = 0; i < questions && from.good(); ++i) {
        from.name();
        from.long_number();
    }
    for (int i = 0; i < answers && from.good(); ++i) {
        const record_head head = read_head(from);
        const std::size_t end = from.position() + head.length;
        if (head.of_class != internet || head.type != static_cast<std::uint16_t>(wanted))
            from.take(head.length);
        else if (!read_one(from, head))
            return false;
        if (from.good() && from.position() != end)
            return false;
    }
    return from.good();
}

}  // namespace

std::optional<std::vector<runtime::srv_record>> read_srv(bytes message)
{
    std::vector<runtime::srv_record> found;
    const auto read_one = [&found](message_reader& from, const record_head& head) {
        runtime::srv_record record;
        record.ttl = head.ttl;
        record.priority = from.number();
        record.weight = from.number();
        record.port = from.number();
        record.host = in_lower_case(from.name());
        if (!from.good())
            return false;
        if (record.host.empty())
            return true;  // RFC 2782: the service is decidedly not available
        if (!is_host_name(record.host))
            return false;
        found.push_back(std::move(record));
        return true;
    };
    if (!each_record(message, record_type::srv, read_one))
        return std::nullopt;
    return found;
}

std::optional<std::vector<std::string>> read_txt(bytes message)
{
    std::vector<std::string> found;
    const auto read_one = [&found](message_reader& from, const record_head& head) {
        std::string text;
        const std::size_t end = from.position() + head.length;
        while (from.good() && from.position() < end) {
            const bytes part = from.take(from.byte());
            text.append(part.begin(), part.end());
        }
        found.push_back(std::move(text));
        return from.good();
    };
    if (!each_record(message, record_type::txt, read_one))
        return std::nullopt;
    return found;
}

}  // namespace holdfast::net
