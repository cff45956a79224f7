/* Compiled into libmongoc's program (gcc -include), so that it reads the _id of each document that
 * it finds and adds it up, as ours does, and prints the sum. */
#include <mongoc/mongoc.h>
#include <stdio.h>

static long long checksum;

static bool read_next(mongoc_cursor_t *from, const bson_t **document)
{
    bson_iter_t field;
    if (!mongoc_cursor_next(from, document))
        return false;
    if (bson_iter_init(&field, *document) && bson_iter_next(&field) &&
        BSON_ITER_HOLDS_INT64(&field))
        checksum += bson_iter_int64(&field);
    return true;
}

__attribute__((destructor)) static void print_sum(void)
{
    printf("{\"checksum\":%lld}\n", checksum);
}

#define mongoc_cursor_next read_next
