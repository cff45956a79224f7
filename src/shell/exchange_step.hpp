#pragma once
#include <cstdint>

namespace holdfast::shell {

/// What a request and its reply are waiting for, and so what is called next.
enum class exchange_step : std::uint8_t {
    sending,    // the stream takes no more for now: round_trip() goes on, up to the reply
    receiving,  // read_more(), and its outcome to resume()
    replied,    // take_reply()
};

}  // namespace holdfast::shell
