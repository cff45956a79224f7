// The Couchbase SDK's suites: main.mjs REPORT [PART OF A TEST'S NAME]
import couchbase from 'couchbase';
import { at, start } from './context.mjs';
import { countCalls, printCalls, runAll, writeReport } from './harness.mjs';
import { stopAll } from './lab.mjs';
import './connection.mjs';
import './documents.mjs';
import './subdocuments.mjs';
import './replicas.mjs';
import './admin.mjs';
import './security.mjs';
import './movement.mjs';
import './search.mjs';
import './queries.mjs';

const [report, only] = process.argv.slice(2);
let fine = false;
countCalls(couchbase);
try {
  await start();
  fine = await runAll(only);
  printCalls();
  writeReport(report);
  await at.cluster.close();
} finally {
  await stopAll();
}
process.exit(fine ? 0 : 1);
