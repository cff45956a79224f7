"""Documents, cursors, indexes and aggregation through PyMongo's helpers."""
import datetime
import re
import uuid

import pymongo
from bson import Binary, Code, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from pymongo import (DeleteMany, DeleteOne, InsertOne, ReplaceOne, ReturnDocument, UpdateMany,
                     UpdateOne)
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure, WriteError

from context import at, fresh
from harness import equal, fails, holds, like, test


@test
def inserts():
    c = fresh()
    equal('insert_one', 1, c.insert_one({'_id': 1, 'a': 1}).inserted_id)
    holds('an ObjectId is made', isinstance(c.insert_one({}).inserted_id, ObjectId))
    equal('insert_many', [2, 3], c.insert_many([{'_id': 2}, {'_id': 3}]).inserted_ids)
    error = fails('duplicate', 11000, lambda: c.insert_one({'_id': 1}), DuplicateKeyError)
    equal('keyPattern', {'_id': 1}, error.details['keyPattern'])
    equal('keyValue', {'_id': 1}, error.details['keyValue'])
    holds('E11000', 'E11000 duplicate key error collection: interop_py.' in str(error), str(error))
    equal('5 MB', 1, len(c.insert_many([{'x': 'x' * (5 << 20)}]).inserted_ids))


@test
def every_type_survives():
    c = fresh()
    given = {
        '_id': 1, 'double': -0.5, 'string': 'h\u00e9', 'document': {'a': {'b': []}},
        'array': [1, 'x', None], 'binary': Binary(b'\x00\xff', 128),
        'uuid': Binary(uuid.UUID(int=7).bytes, 4), 'id': ObjectId('0123456789abcdef01234567'),
        'true': True, 'date': datetime.datetime(2001, 2, 3, 4, 5, 6, 789000), 'null': None,
        'regex': Regex('^a', 'im'), 'code': Code('x'), 'scoped': Code('y', {'z': 1}),
        'int': 2**31 - 1, 'long': Int64(2**63 - 1), 'decimal': Decimal128('1.0E-100'),
        'min': MinKey(), 'max': MaxKey(), 'timestamp': Timestamp(5, 6), 'ref': DBRef('c', 5),
    }
    c.insert_one(given)
    got = c.find_one({'_id': 1})
    for key, value in given.items():
        if key != 'uuid':
            equal(key, value, got[key])
    equal('order', list(given), list(got))
    order = [[], MinKey(), None, 1, 'a', {'a': 1}, Binary(b'a', 128), ObjectId(), True,
             datetime.datetime(2000, 1, 1), Timestamp(1, 1), Regex('a'), MaxKey()]
    c.delete_many({})
    c.insert_many([{'_id': i, 'v': v} for i, v in enumerate(order) if v != []])
    equal('order of types', list(range(1, len(order))),
          [one['_id'] for one in c.find().sort('v', pymongo.ASCENDING)])


@test
def updates_and_deletes():
    c = fresh([{'_id': i, 'n': i} for i in range(5)])
    result = c.update_one({'_id': 1}, {'$inc': {'n': 5}})
    equal('update_one', (1, 1, None), (result.matched_count, result.modified_count,
                                       result.upserted_id))
    equal('update_many', 4, c.update_many({'n': {'$lt': 5}}, {'$set': {'x': 1}}).modified_count)
    equal('upsert', 9, c.update_one({'_id': 9}, {'$set': {'n': 1}}, upsert=True).upserted_id)
    equal('replace_one', 1, c.replace_one({'_id': 9}, {'r': 1}).modified_count)
    equal('replaced', {'_id': 9, 'r': 1}, c.find_one({'_id': 9}))
    equal('array filters', {'_id': 10, 'l': [1, 0, 0]}, (
        c.insert_one({'_id': 10, 'l': [1, 5, 7]}),
        c.update_one({'_id': 10}, {'$set': {'l.$[e]': 0}}, array_filters=[{'e': {'$gt': 4}}]),
        c.find_one({'_id': 10}))[2])
    equal('delete_one', 1, c.delete_one({'_id': 9}).deleted_count)
    equal('delete_many', 6, c.delete_many({}).deleted_count)
    fails('a bad operator', 9, lambda: c.update_one({}, {'$nope': {'a': 1}}), WriteError)
    fails('a bad query', 2, lambda: list(c.find({'a': {'$nope': 1}})), OperationFailure)


@test
def find_one_and():
    c = fresh([{'_id': i, 'n': i} for i in range(4)])
    equal('update', {'_id': 3, 'n': 3}, c.find_one_and_update(
        {}, {'$inc': {'n': 1}}, sort=[('n', -1)]))
    equal('after', {'n': 5}, c.find_one_and_update(
        {'_id': 3}, {'$inc': {'n': 1}}, projection={'_id': 0},
        return_document=ReturnDocument.AFTER))
    equal('replace', {'_id': 3, 'n': 5}, c.find_one_and_replace({'_id': 3}, {'m': 1}))
    equal('delete', {'_id': 3, 'm': 1}, c.find_one_and_delete({'_id': 3}))
    equal('none', None, c.find_one_and_delete({'_id': 3}))
    like('the command by its old name', {'value': {'_id': 0, 'n': 0}},
         at.db.command('findandmodify', c.name, query={'_id': 0}, remove=True))


@test
def bulk_writes():
    c = fresh([{'_id': 1, 'n': 1}])
    result = c.bulk_write([
        InsertOne({'_id': 2}), UpdateOne({'_id': 1}, {'$inc': {'n': 1}}),
        UpdateMany({}, {'$set': {'x': 1}}), ReplaceOne({'_id': 7}, {'y': 1}, upsert=True),
        DeleteOne({'_id': 2}), DeleteMany({'y': 1})])
    equal('counts', (1, 3, 3, 2, {3: 7}), (
        result.inserted_count, result.matched_count, result.modified_count, result.deleted_count,
        result.upserted_ids))
    error = fails('ordered', None, lambda: c.bulk_write(
        [InsertOne({'_id': 3}), InsertOne({'_id': 1}), InsertOne({'_id': 4})]), BulkWriteError)
    equal('stops', [(1, 11000)], [(e['index'], e['code']) for e in error.details['writeErrors']])
    equal('inserted before', 1, error.details['nInserted'])
    error = fails('unordered', None, lambda: c.bulk_write(
        [InsertOne({'_id': 1}), InsertOne({'_id': 4}), InsertOne({'_id': 3})], ordered=False),
        BulkWriteError)
    equal('goes on', [0, 2], [e['index'] for e in error.details['writeErrors']])
    equal('inserted between', 1, error.details['nInserted'])
    many = [InsertOne({'_id': 1000 + i}) for i in range(3000)]
    equal('thousands', 3000, c.bulk_write(many, ordered=False).inserted_count)


@test
def cursors():
    c = fresh([{'_id': i, 'a': i % 3} for i in range(30)])
    at.seen.names()
    equal('batches', 30, len(list(c.find(batch_size=7))))
    equal('commands', ['find'] + ['getMore'] * 4, at.seen.names())
    equal('sort, skip, limit', [27, 24], [d['_id'] for d in c.find({'a': 0}).sort(
        '_id', -1).limit(2)])
    equal('slice', [5, 6], [d['_id'] for d in c.find().sort('_id', 1)[5:7]])
    cursor = c.find(batch_size=5)
    next(cursor)
    at.seen.names()
    cursor.close()
    equal('close', ['killCursors'], at.seen.names())
    equal('count_documents', 10, c.count_documents({'a': 1}))
    equal('estimated', 30, c.estimated_document_count())
    equal('distinct', [0, 1, 2], sorted(c.distinct('a')))
    equal('regex', 1, c.count_documents({'_id': 1, 'b': {'$not': re.compile('x')}}))
    tail = at.db.create_collection('tail', capped=True, size=4096)
    tail.insert_many([{'_id': 1}, {'_id': 2}])
    cursor = tail.find(cursor_type=pymongo.CursorType.TAILABLE_AWAIT).max_await_time_ms(100)
    equal('tailable', [1, 2], [next(cursor)['_id'], next(cursor)['_id']])
    tail.insert_one({'_id': 3})
    equal('it goes on', {'_id': 3}, next(cursor))
    equal('alive', True, cursor.alive)
    cursor.close()


@test
def indexes():
    c = fresh([{'_id': 1, 'u': 1}])
    equal('create_index', 'u_1', c.create_index('u', unique=True))
    equal('create_indexes', ['a_1_b_-1', 'mine'], c.create_indexes([
        pymongo.IndexModel([('a', 1), ('b', -1)]), pymongo.IndexModel('h', name='mine')]))
    equal('index_information', {'_id_': {'v': 2, 'key': [('_id', 1)]},
                                'u_1': {'v': 2, 'key': [('u', 1)], 'unique': True},
                                'a_1_b_-1': {'v': 2, 'key': [('a', 1), ('b', -1)]},
                                'mine': {'v': 2, 'key': [('h', 1)]}}, {
        name: {k: v for k, v in info.items() if k != 'ns'}
        for name, info in c.index_information().items()})
    error = fails('unique', 11000, lambda: c.insert_one({'u': 1}), DuplicateKeyError)
    equal('keyPattern', {'u': 1}, error.details['keyPattern'])
    c.drop_index('mine')
    equal('dropped', 3, len(list(c.list_indexes())))
    fails('unknown', 27, lambda: c.drop_index('nope'), OperationFailure)
    c.drop_indexes()
    equal('all but _id', ['_id_'], [one['name'] for one in c.list_indexes()])
    c.create_index('t', expireAfterSeconds=5)
    equal('ttl', 5, c.index_information()['t_1']['expireAfterSeconds'])


@test
def aggregation():
    c = fresh([{'_id': i, 'g': 'ab'[i % 2], 'n': i, 'l': [i, i + 1]} for i in range(6)])
    equal('$group', [{'_id': 'a', 's': 6}, {'_id': 'b', 's': 9}], list(c.aggregate([
        {'$group': {'_id': '$g', 's': {'$sum': '$n'}}}, {'$sort': {'_id': 1}}])))
    equal('$unwind', 12, len(list(c.aggregate([{'$unwind': '$l'}], batchSize=5))))
    equal('$lookup', [{'_id': 1, 'same': [{'_id': 1}]}], list(c.aggregate([
        {'$match': {'_id': 1}},
        {'$lookup': {'from': c.name, 'localField': 'n', 'foreignField': '_id', 'as': 'same'}},
        {'$project': {'same._id': 1}}])))
    list(c.aggregate([{'$match': {'g': 'a'}}, {'$out': 'out_py'}]))
    equal('$out', 3, at.db.out_py.count_documents({}))
    list(c.aggregate([{'$merge': {'into': 'out_py'}}]))
    equal('$merge', 6, at.db.out_py.count_documents({}))
    fails('unknown stage', 40324, lambda: c.aggregate([{'$nope': 1}]), OperationFailure)
    like('explain', {'ok': 1}, at.db.command('explain', {'find': c.name, 'filter': {}}))
