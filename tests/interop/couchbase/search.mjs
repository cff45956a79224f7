// Search and views, and services that not all nodes have.
import couchbase from 'couchbase';
import { at, login, withLab } from './context.mjs';
import { equal, fails, holds, sleep, test } from './harness.mjs';

const { SearchQuery, SearchFacet, SearchSort, SearchRequest, VectorQuery, VectorSearch } =
  couchbase;
const index = { name: 'places', type: 'fulltext-index', sourceType: 'gocbcore',
  sourceName: 'default' };
const ids = (found) => found.rows.map((row) => row.id);

/// Three documents and their index; gives what a search has to wait for.
async function seed() {
  const indexes = at.cluster.searchIndexes();
  if (!(await indexes.getAllIndexes()).some((one) => one.name === index.name))
    await indexes.upsertIndex(index);
  const places = [
    { name: 'old mill', city: 'Delft', stars: 3, built: '1900-05-01', v: [0, 0] },
    { name: 'old town', city: 'Ghent', stars: 5, v: [1, 0] },
    { name: 'new mill', city: 'Delft', stars: 4, v: [0, 3] },
  ];
  const made = await Promise.all(places.map((one, n) => at.documents.upsert(`place-${n}`, one)));
  return new couchbase.MutationState(...made.map((one) => one.token));
}

test('search indexes are created, listed, counted and dropped', async () => {
  const indexes = at.cluster.searchIndexes();
  await seed();
  equal('its name', 'places', (await indexes.getIndex('places')).name);
  holds('listed', (await indexes.getAllIndexes()).some((one) => one.name === 'places'));
  holds('documents', (await indexes.getIndexedDocumentsCount('places')) >= 3);
  await fails('it exists', couchbase.IndexExistsError, indexes.upsertIndex(index));
  await indexes.dropIndex('places');
  await fails('gone', couchbase.IndexNotFoundError, indexes.getIndex('places'));
  await fails('not searched', couchbase.IndexNotFoundError,
    at.cluster.searchQuery('places', SearchQuery.matchAll()));
});

test('searches find, sort, count and mark', async () => {
  const consistentWith = await seed();
  const options = { consistentWith, fields: ['name', 'stars'], sort: [SearchSort.field('stars')] };
  const found = await at.cluster.searchQuery('places', SearchQuery.match('mill').field('name'),
    { ...options, includeLocations: true,
      highlight: { style: couchbase.HighlightStyle.HTML, fields: ['name'] },
      facets: { cities: SearchFacet.term('city', 5),
        stars: SearchFacet.numeric('stars', 5).addRange('many', 4, 9),
        age: SearchFacet.date('built', 5).addRange('old', undefined, new Date('1950-01-01')) } });
  equal('ids', ['place-0', 'place-2'], ids(found));
  equal('fields', { name: 'old mill', stars: 3 }, found.rows[0].fields);
  equal('fragments', ['old <mark>mill</mark>'], found.rows[0].fragments.name);
  holds('metrics', found.meta.metrics.total_rows === 2 && found.meta.metrics.max_score > 0);
  const { facets } = found.meta;
  equal('cities', [{ term: 'delft', count: 2 }], facets.cities.terms);
  equal('stars', 1, facets.stars.numeric_ranges[0].count);
  equal('age', 1, facets.age.date_ranges[0].count);
  const search = async (query, more = {}) => ids(await at.cluster.searchQuery('places', query,
    { ...options, ...more }));
  equal('term', ['place-1'], await search(SearchQuery.term('ghent')));
  equal('phrase', ['place-2'], await search(SearchQuery.matchPhrase('new mill')));
  equal('prefix', ['place-1'], await search(SearchQuery.prefix('tow').field('name')));
  equal('ids', ['place-1'], await search(SearchQuery.docIds('place-1')));
  equal('text', ['place-0'], await search(SearchQuery.queryString('+name:mill -name:new')));
  equal('numbers', ['place-2', 'place-1'], await search(SearchQuery.numericRange().min(4).field('stars')));
  equal('both', ['place-0'], await search(SearchQuery.conjuncts(SearchQuery.match('old'),
    SearchQuery.match('mill'))));
  equal('either', ['place-2', 'place-1'], await search(SearchQuery.disjuncts(
    SearchQuery.match('town'), SearchQuery.match('new'))));
  equal('none', [], await search(SearchQuery.matchNone()));
  equal('limit', ['place-2'], await search(SearchQuery.match('mill'), { skip: 1, limit: 1 }));
  await fails('wrong', couchbase.CouchbaseError,
    at.cluster.searchQuery('places', SearchQuery.regexp('what.the.lab.lacks')));
});

test('nearest vectors are found', async () => {
  const consistentWith = await seed();
  const near = VectorSearch.fromVectorQuery(VectorQuery.create('v', [0, 2]).numCandidates(1));
  const found = await at.cluster.search('places', SearchRequest.create(near), { consistentWith });
  equal('id', ['place-2'], ids(found));
  const both = await at.cluster.search('places', SearchRequest.create(near)
    .withSearchQuery(SearchQuery.match('town')), { consistentWith });
  equal('ids', ['place-1', 'place-2'], ids(both).sort());
});

test('an index of a scope searches its collections', async () => {
  for (const order of ['scope default scoped', 'collection default scoped one',
    'collection default scoped two'])
    await at.lab.command(order);
  const scope = at.bucket.scope('scoped');
  await scope.collection('one').upsert('first', { text: 'here' });
  await scope.collection('two').upsert('second', { text: 'here' });
  await scope.searchIndexes().upsertIndex({ name: 'inside', type: 'fulltext-index',
    sourceType: 'gocbcore', sourceName: 'default' });
  equal('listed', 1, (await scope.searchIndexes().getAllIndexes()).length);
  const request = () => SearchRequest.create(SearchQuery.match('here'));
  equal('both', ['first', 'second'], ids(await scope.search('inside', request())).sort());
  equal('one', ['second'], ids(await scope.search('inside', request(), { collections: ['two'] })));
});

test('searches that are refused are errors of their kind', async () => {
  await seed();
  const answer = (status, error) => at.lab.command('fault limits ' + JSON.stringify({
    service: 'search', method: 'POST', times: 1,
    answers: [{ status, body: JSON.stringify({ status: 'fail', error }) }] }));
  await answer(429, 'limit num_queries_per_min');
  await fails('rate', couchbase.RateLimitedError,
    at.cluster.searchQuery('places', SearchQuery.matchAll()));
  await answer(400, 'num_fts_indexes (active + pending)');
  await fails('quota', couchbase.QuotaLimitedError,
    at.cluster.searchQuery('places', SearchQuery.matchAll()));
  await at.lab.command('clear limits');
});

test('views give documents by key, and design documents are kept', async () => {
  const views = at.bucket.viewIndexes();
  const namespace = couchbase.DesignDocumentNamespace.Production;
  await seed();
  await views.upsertDesignDocument(new couchbase.DesignDocument({ name: 'places', views: {
    by_stars: new couchbase.DesignDocumentView({
      map: 'function (doc, meta) { emit(doc.stars, doc.name); }', reduce: '_count' }),
  } }), namespace);
  const view = (options) => at.bucket.viewQuery('places', 'by_stars', {
    scanConsistency: couchbase.ViewScanConsistency.RequestPlus, ...options });
  const found = await view({ reduce: false, range: { start: 3, end: 5 } });
  equal('ids', ['place-0', 'place-2', 'place-1'], ids(found));
  equal('row', { key: 3, value: 'old mill' }, { key: found.rows[0].key,
    value: found.rows[0].value });
  holds('count', found.meta.totalRows >= 3);
  equal('down', ['place-1', 'place-2'], ids(await view({ reduce: false, limit: 2,
    order: couchbase.ViewOrdering.Descending, range: { start: 5, end: 3 } })));
  equal('keys', ['place-2', 'place-0'], ids(await view({ reduce: false, keys: [4, 3] })));
  equal('reduced', [3], (await view({ range: { start: 3, end: 5 } })).rows.map((row) => row.value));
  equal('listed', ['places'], (await views.getAllDesignDocuments(namespace))
    .map((one) => one.name));
  holds('shown', (await views.getDesignDocument('places', namespace)).views.by_stars.map);
  await views.dropDesignDocument('places', namespace);
  await fails('gone', couchbase.DesignDocumentNotFoundError,
    views.getDesignDocument('places', namespace));
  await fails('not queried', couchbase.DesignDocumentNotFoundError, view({}));
});

test('every service of a layout answers a ping', () => withLab(['--nodes', '3',
  '--services', 'kv,views', '--services', 'search', '--services', 'kv'],
async (lab, cluster, documents) => {
  await documents.upsert('k', 1);
  const { ServiceType } = couchbase;
  const report = await cluster.ping({ serviceTypes: [ServiceType.KeyValue, ServiceType.Search,
    ServiceType.Views, ServiceType.Management] });
  const count = (name) => (report.services[name] ?? []).filter((one) =>
    one.state === 'ok' || one.state === 0).length;
  equal('search', 1, count('search'));
  equal('views', 1, count('views'));
  equal('management', 3, count('mgmt'));
  holds('data', count('kv') >= 2);
  await lab.command('remove-service 1 search');
  await lab.command('add-service 2 search');
  const { name } = index;
  for (let n = 0; n < 50; n += 1) {  // the SDK learns of it by and by
    try {
      await cluster.searchIndexes().upsertIndex(index);
      break;
    } catch (error) {
      if (!(error instanceof couchbase.ServiceNotAvailableError)) throw error;
      await sleep(100);
    }
  }
  equal('on the other node', ['k'], ids(await cluster.searchQuery(name, SearchQuery.matchAll())));
}, login));
