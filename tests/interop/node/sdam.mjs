// Streaming monitoring: the driver hears of a new primary without asking.
import { at } from './context.mjs';
import { alsoSent, connect, equal, eventually, holds, test } from './harness.mjs';

test('streaming hello', async () => {
  const beats = [];
  const client = await connect(at.lab.uri, { heartbeatFrequencyMS: 1000, appName: 'watcher' });
  client.on('serverHeartbeatSucceeded', (event) => beats.push(event));
  const awaited = await eventually(() => {
    const streamed = beats.filter((event) => event.awaited);
    return new Set(streamed.map((event) => event.connectionId)).size === 3 && streamed;
  });
  alsoSent('hello');
  holds('awaited heartbeats from all three', awaited, beats.length);
  holds('they come after maxAwaitTimeMS', awaited &&
    awaited.every((event) => event.duration < 3000),
    awaited && awaited.map((event) => event.duration));
  holds('with a topologyVersion', awaited && awaited.every((event) =>
    event.reply.topologyVersion?.processId && event.reply.topologyVersion?.counter !== undefined));
  await client.close();
});

test('a stepdown is announced', async () => {
  const leads = [];
  const client = await connect(at.lab.uri, { heartbeatFrequencyMS: 60000 });
  let description;
  client.on('topologyDescriptionChanged', (event) => {
    description = event.newDescription;
    for (const server of description.servers.values())
      if (server.type === 'RSPrimary' && leads.at(-1)?.address !== server.address)
        leads.push({ address: server.address, at: Date.now(), electionId: server.electionId });
  });
  const old = await at.lab.primary();
  await at.lab.command('stepdown 2');
  const ordered = Date.now();
  const now = at.lab.hosts[await at.lab.primary()];
  const heard = await eventually(() => leads.find((one) => one.address === now));
  holds('the new primary is known', heard, { leads, now });
  holds('within a second of the election', heard && heard.at - ordered < 1000 + 5000,
    heard && heard.at - ordered);
  holds('and it is another one', now !== at.lab.hosts[old], now);
  equal('kinds', ['RSPrimary', 'RSSecondary', 'RSSecondary'], await eventually(() => {
    const types = [...description.servers.values()].map((one) => one.type).sort();
    return types.join() === 'RSPrimary,RSSecondary,RSSecondary' && types;
  }));
  equal('kind of the whole', ['ReplicaSetWithPrimary', 'rs0'],
    [description.type, description.setName]);
  await client.close();
});

test('a crash is noticed', async () => {
  const client = await connect(at.lab.uri, { heartbeatFrequencyMS: 500 });
  let types = [];
  client.on('topologyDescriptionChanged', (event) => {
    types = [...event.newDescription.servers.values()].map((one) => one.type).sort();
  });
  const victim = (await at.lab.primary() + 1) % 3;
  await at.lab.command(`crash ${victim}`);
  holds('one is unknown', await eventually(() =>
    types.join() === 'RSPrimary,RSSecondary,Unknown'), types);
  await at.lab.command(`restart ${victim}`);
  holds('and known again', await eventually(() =>
    types.join() === 'RSPrimary,RSSecondary,RSSecondary'), types);
  await client.close();
});
