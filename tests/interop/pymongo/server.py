"""Catalogs, commands, users, sessions, faults and other deployments through PyMongo."""
import itertools
import os
import threading
import time

import pymongo
from bson import Int64, SON
from pymongo import InsertOne, ReadPreference, WriteConcern, monitoring
from pymongo.errors import (AutoReconnect, BulkWriteError, CollectionInvalid,
                            CursorNotFound, ExecutionTimeout, NotMasterError, OperationFailure,
                            ServerSelectionTimeoutError, WriteConcernError, WTimeoutError)
from pymongo.read_concern import ReadConcern

from context import at, fail_point, fresh
from harness import (CANARY, CANARY_USER, WRONG, Lab, connect, equal, eventually, fails, holds,
                     like, test)


@test
def catalogs():
    at.db.create_collection('plain')
    fails('twice', None, lambda: at.db.create_collection('plain'), CollectionInvalid)
    fails('the command, with other options', 48,
          lambda: at.db.command('create', 'plain', capped=True, size=4096), OperationFailure)
    holds('list_collection_names', 'plain' in at.db.list_collection_names())
    like('list_collections', [{'name': 'plain', 'type': 'collection'}],
         list(at.db.list_collections(filter={'name': 'plain'})))
    at.db.plain.insert_one({'_id': 1})
    at.db.plain.rename('other')
    equal('rename', {'_id': 1}, at.db.other.find_one())
    equal('options', {}, at.db.other.options())
    at.db.drop_collection('other')
    holds('drop', 'other' not in at.db.list_collection_names())
    holds('list_database_names', 'interop_py' in at.client.list_database_names())
    at.client.gone.c.insert_one({})
    at.client.drop_database('gone')
    holds('drop_database', 'gone' not in at.client.list_database_names())
    checked = at.db.create_collection('checked', validator={'n': {'$gt': 0}})
    fails('validator', 121, lambda: checked.insert_one({'n': 0}))
    like('validate_collection', {'valid': True}, at.db.validate_collection('checked'))
    like('dbstats', {'db': 'interop_py'}, at.db.command('dbstats'))
    like('collstats', {'ns': 'interop_py.checked', 'count': 0},
         at.db.command('collstats', 'checked'))


@test
def server_facts():
    equal('server_info', [8, 2], at.client.server_info()['versionArray'][:2])
    equal('nodes', sorted(at.lab.hosts), sorted('%s:%d' % one for one in at.client.nodes))
    equal('primary', at.lab.hosts[at.lab.primary()], '%s:%d' % at.client.primary)
    equal('secondaries', 2, len(at.client.secondaries))
    equal('is_primary', True, at.client.is_primary)
    equal('max_bson_size', 16777216, at.client.max_bson_size)
    like('isMaster', {'ismaster': True, 'setName': 'rs0', 'maxWireVersion': 27},
         at.admin.command('isMaster'))
    like('serverStatus', {'ok': 1}, at.admin.command('serverStatus'))
    error = fails('unknown command', 59, lambda: at.admin.command('nonsense'), OperationFailure)
    equal('its name', 'CommandNotFound', error.details['codeName'])
    fails('an unknown field', 40415, lambda: at.admin.command('ping', what=1), OperationFailure)
    for name in ['commitTransaction', 'abortTransaction']:
        error = fails(name, 125, lambda one=name: at.admin.command(one), OperationFailure)
        equal('outside of one', f'{name} must be run within a transaction',
              error.details['errmsg'])
    like('count', {'n': 0}, at.db.command('count', 'missing'))


@test
def errors_have_their_classes():
    c = fresh([{'_id': i} for i in range(5)])
    fail_point('failCommand', {'times': 1}, failCommands=['find'], errorCode=50)
    fails('ExecutionTimeout', 50, lambda: c.find_one(max_time_ms=5), ExecutionTimeout)
    cursor = c.find(batch_size=2)
    next(cursor)
    at.db.command('killCursors', c.name, cursors=[Int64(cursor.cursor_id)])
    fails('CursorNotFound', 43, lambda: list(cursor), CursorNotFound)
    one = c.with_options(write_concern=WriteConcern(w=4))
    fails('WriteConcernError', 100, lambda: one.insert_one({}), WriteConcernError)
    lazy = at.lab.hosts[at.lab.primary() - 1]
    direct, _ = connect(f'mongodb://{lazy}', retryWrites=False)
    fails('NotMasterError', 10107, lambda: direct.interop_py.x.insert_one({}), NotMasterError)
    direct.close()
    slow = (at.lab.primary() + 1) % 3
    at.lab.command(f'freeze {slow}')
    all_three = c.with_options(write_concern=WriteConcern(w=3, wtimeout=200))
    error = fails('WTimeoutError', 64, lambda: all_three.insert_one({}), WTimeoutError)
    equal('errInfo', True, error.details['errInfo']['wtimeout'])
    error = fails('in a bulk', None, lambda: all_three.bulk_write([InsertOne({})]), BulkWriteError)
    equal('writeConcernErrors', [64], [e['code'] for e in error.details['writeConcernErrors']])
    at.lab.command(f'thaw {slow}')
    wide = c.with_options(write_concern=WriteConcern(w=3, wtimeout=10000))
    equal('all three again', True, wide.insert_one({}).acknowledged)
    quiet = c.with_options(write_concern=WriteConcern(w=0))
    equal('w=0', False, quiet.insert_one({}).acknowledged)


@test
def users():
    lab = Lab('--members', '3', '--auth', f'{CANARY_USER}:{CANARY}')
    hosts = ','.join(lab.hosts)
    root, _ = connect(lab.uri)
    root.shop.command('createUser', 'ann', pwd=CANARY, roles=['readWrite'],
                      writeConcern={'w': 'majority'})
    root.shop.command('createUser', 'old', pwd=CANARY, roles=['read'], mechanisms=['SCRAM-SHA-1'])
    for mechanism in ['SCRAM-SHA-1', 'SCRAM-SHA-256', 'DEFAULT']:
        ann, _ = connect(f'mongodb://{hosts}/?replicaSet=rs0', username='ann', password=CANARY,
                         authSource='shop', authMechanism=mechanism)
        equal(mechanism, [{'user': 'ann', 'db': 'shop'}], ann.shop.command('connectionStatus')[
            'authInfo']['authenticatedUsers'])
        ann.close()
    old, _ = connect(f'mongodb://old:{CANARY}@{hosts}/shop?replicaSet=rs0')
    equal('negotiated', None, old.shop.c.find_one())
    old.close()
    wrong, _ = connect(f'mongodb://ann:{WRONG}@{hosts}/shop?replicaSet=rs0')
    fails('a wrong password', 18, wrong.shop.c.find_one, OperationFailure)
    wrong.close()
    stranger, _ = connect(f'mongodb://{hosts}/?replicaSet=rs0')
    fails('no login', 13, stranger.shop.c.find_one, OperationFailure)
    stranger.close()
    equal('usersInfo', ['ann', 'old'], sorted(
        one['user'] for one in root.shop.command('usersInfo', 1)['users']))
    root.close()
    equal('the lab ends with status 0', 0, lab.stop())


@test
def compression_and_tls():
    text = 'x' * 500000
    packed, _ = connect(at.lab.uri, compressors='zlib')
    packed.interop_py.zlib.insert_one({'_id': 1, 'text': text})
    equal('zlib', text, packed.interop_py.zlib.find_one()['text'])
    packed.close()
    folder = os.environ['CERTIFICATES']
    lab = Lab('--members', '1', '--tls', f'{folder}/server.pem')
    hosts = f'mongodb://{lab.hosts[0]}/?replicaSet=rs0'
    secure, _ = connect(hosts, tls=True, tlsCAFile=f'{folder}/ca.pem', compressors='zlib')
    secure.t.c.insert_one({'_id': 1, 'text': text})
    equal('TLS', text, secure.t.c.find_one()['text'])
    secure.close()
    other, _ = connect(hosts, tls=True, tlsCAFile=f'{folder}/other_ca.pem',
                       serverSelectionTimeoutMS=800)
    fails('another CA', None, other.t.c.find_one, ServerSelectionTimeoutError)
    other.close()
    lab.stop()


@test
def sessions():
    c = fresh([{'_id': 0}])
    with at.client.start_session(causal_consistency=True) as session:
        second = c.with_options(read_preference=ReadPreference.SECONDARY)
        missed = 0
        for i in range(1, 30):
            c.insert_one({'_id': i}, session=session)
            missed += second.find_one({'_id': i}, session=session) is None
        equal('causal reads', 0, missed)
        holds('operation_time', session.operation_time)
        holds('cluster_time', session.cluster_time)
    alone, _ = connect(at.lab.uri)  # whose sessions are not used afterwards
    number = alone.start_session()
    insert = SON([('insert', c.name), ('documents', [{'_id': 'once'}]), ('txnNumber', Int64(3))])
    equal('a numbered write', [1, 1], [
        alone.interop_py.command(insert, session=number)['n'] for _ in range(2)])
    old = SON([('insert', c.name), ('documents', [{'_id': 'old'}]), ('txnNumber', Int64(2))])
    fails('an old number', 225, lambda: alone.interop_py.command(old, session=number))
    alone.close()
    for level in ['local', 'majority', 'linearizable']:
        strict = c.with_options(read_concern=ReadConcern(level))
        equal(level, {'_id': 0}, strict.find_one({'_id': 0}))
    client, seen = connect(at.lab.uri)
    client.interop_py.c.find_one()
    client.close()
    equal('endSessions', 'endSessions', seen.names()[-1])


@test
def retryable_writes():
    name = fresh([{'_id': 1, 'n': 0}]).name
    # A fault is no change of the set, so a driver that has stopped trusting its primary waits for
    # the next heartbeat.
    client, seen = connect(at.lab.uri, heartbeatFrequencyMS=500)
    c = client.interop_py[name]
    for what, fault in [('closeConnection', {'closeConnection': True}), ('91', {'errorCode': 91}),
                        ('10107', {'errorCode': 10107}), ('189', {'errorCode': 189})]:
        fail_point('failCommand', {'times': 1}, failCommands=['update'], **fault)
        seen.names()
        equal(what, 1, c.update_one({'_id': 1}, {'$inc': {'n': 1}}).modified_count)
        equal(f'{what}: sent twice', 2, seen.names().count('update'))
    equal('each done once', 4, c.find_one()['n'])
    fail_point('onPrimaryTransactionalWrite', {'times': 1}, closeConnection=True)
    equal('a lost reply', 1, c.update_one({'_id': 1}, {'$inc': {'n': 1}}).modified_count)
    equal('done once', 5, c.find_one()['n'])
    fail_point('failCommand', {'times': 2}, failCommands=['insert'], errorCode=91)
    error = fails('twice is too much', 91, lambda: c.insert_one({}), AutoReconnect)
    equal('label', True, error.has_error_label('RetryableWriteError'))
    fail_point('failCommand', {'times': 1}, failCommands=['find'], closeConnection=True)
    equal('reads too', 5, c.find_one()['n'])
    client.close()


@test
def stepdown_and_crash():
    c = fresh([{'_id': 1, 'ids': []}]).with_options(write_concern=WriteConcern('majority'))
    done = threading.Event()
    written, unknown = [], []  # the driver retries once; after that it does not know

    def write():
        for number in itertools.count():
            if done.is_set():
                return
            try:
                c.update_one({'_id': 1}, {'$push': {'ids': number}})
                written.append(number)
            except (AutoReconnect, WriteConcernError):
                unknown.append(number)

    writer = threading.Thread(target=write)
    writer.start()
    time.sleep(0.1)
    before = at.lab.primary()
    at.lab.command('stepdown 2')
    holds('another one leads', at.lab.primary() != before)
    time.sleep(0.2)
    victim = at.lab.primary()
    at.lab.command(f'crash {victim}')
    at.lab.primary()
    time.sleep(0.2)
    at.lab.command(f'restart {victim}')
    done.set()
    writer.join()
    ids = c.find_one()['ids']
    equal('none doubled', sorted(set(ids)), sorted(ids))
    equal('none lost', [], sorted(set(written) - set(ids)))
    equal('none from nowhere', [], sorted(set(ids) - set(written) - set(unknown)))
    holds('nearly all acknowledged', len(written) > 10 * len(unknown), [len(written), unknown])
    holds('the primary is followed', eventually(
        lambda: '%s:%d' % at.client.primary == at.lab.hosts[at.lab.primary()]))
    holds('all are known again', eventually(lambda: len(at.client.secondaries) == 2))


class Changes(monitoring.TopologyListener):
    def __init__(self):
        self.kinds = []

    def opened(self, event):
        pass

    def description_changed(self, event):
        self.kinds.append(event.new_description.topology_type_name)

    def closed(self, event):
        pass


@test
def other_deployments():
    lab = Lab('--members', '3', '--routers', '2')
    changes = Changes()
    client = pymongo.MongoClient(lab.routers, event_listeners=[changes])
    client.t.c.insert_many([{'_id': i} for i in range(20)])
    equal('through routers', 20, len(list(client.t.c.find(batch_size=3))))
    equal('is_mongos', True, client.is_mongos)
    holds('kind', eventually(lambda: changes.kinds[-1] == 'Sharded'), changes.kinds)
    equal('two of them', 2, len(client.nodes))
    client.close()
    lab.stop()
    lab = Lab('--standalone', '--version', '4.4')
    client, _ = connect(lab.uri, retryWrites=False)
    client.t.c.insert_one({'_id': 1})
    equal('standalone', {'_id': 1}, client.t.c.find_one())
    equal('version', [4, 4], client.server_info()['versionArray'][:2])
    equal('no set', True, client.is_primary)
    fails('no set status', 76, lambda: client.admin.command('replSetGetStatus'), OperationFailure)
    client.close()
    lab.stop()
    wrong = pymongo.MongoClient(at.lab.uri.replace('rs0', 'rs1'), serverSelectionTimeoutMS=500)
    fails('another set name', None, wrong.t.c.find_one, ServerSelectionTimeoutError)
    wrong.close()
