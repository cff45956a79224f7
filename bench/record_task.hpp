#pragma once
#include "by_hand.hpp"
#include "task.hpp"

namespace holdfast::bench {

/// Rows struct_write and struct_read of our two sides, which differ in `Way` alone:
/// `append(byte_buffer&, const Record&)` and `read<Record>(view)`.
template <class Way, class Record>
class write_record_task : public task {
public:
    explicit write_record_task(Record record) : record_{std::move(record)} {}

    std::uint64_t once() override
    {
        buffer_.clear();
        return Way::append(buffer_, record_).size();
    }
    std::vector<std::uint8_t> outcome() override
    {
        return {buffer_.bytes().begin(), buffer_.bytes().end()};
    }

private:
    Record record_;
    bson::byte_buffer buffer_;
};

template <class Way, class Record>
class read_record_task : public task {
public:
    explicit read_record_task(const input& in) : bytes_{in.bytes} {}

    std::uint64_t once() override
    {
        record_ = Way::template read<Record>(bson::view::parse(bytes_).value());
        return checksum(record_);
    }
    std::vector<std::uint8_t> outcome() override { return to_bytes(record_); }

private:
    const std::vector<std::uint8_t>& bytes_;
    Record record_;
};

template <class Way>
std::unique_ptr<task> make_record_task(std::string_view row, const input& in)
{
    const bool small = in.name == "small_doc";
    if (!small && in.name != "order")
        return nullptr;
    if (row == "struct_write" && small)
        return std::make_unique<write_record_task<Way, small_record>>(sample_small());
    if (row == "struct_write")
        return std::make_unique<write_record_task<Way, order>>(sample_order());
    if (row == "struct_read" && small)
        return std::make_unique<read_record_task<Way, small_record>>(in);
    if (row == "struct_read")
        return std::make_unique<read_record_task<Way, order>>(in);
    return nullptr;
}

}  // namespace holdfast::bench
