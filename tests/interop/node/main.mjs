// The Node driver's suites: main.mjs REPORT [PART OF A TEST'S NAME]
import { at, start } from './context.mjs';
import { runAll, writeReport } from './harness.mjs';
import { stopAll } from './lab.mjs';
import './crud.mjs';
import './bulk.mjs';
import './cursors.mjs';
import './indexes.mjs';
import './operators.mjs';
import './aggregate.mjs';
import './catalog.mjs';
import './admin.mjs';
import './sessions.mjs';
import './concerns.mjs';
import './retry.mjs';
import './sdam.mjs';
import './transport.mjs';
import './users.mjs';
import './routers.mjs';

const [report, only] = process.argv.slice(2);
let fine = false;
try {
  await start();
  fine = await runAll(only);
  const { commands } = await at.admin.command({ listCommands: 1 });
  writeReport(report, { listed: Object.keys(commands) });
  await at.client.close();
} finally {
  await stopAll();
}
process.exit(fine ? 0 : 1);
