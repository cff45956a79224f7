// Runs shell.js in mongosh: main.mjs REPORT
import { spawnSync } from 'node:child_process';
import { Lab, stopAll } from '../node/lab.mjs';

let status = 1;
try {
  const lab = await Lab.start('--members', '3');
  status = spawnSync('node_modules/.bin/mongosh',
    [lab.uri, '--quiet', '--norc', '--file', 'shell.js'],
    { stdio: 'inherit', env: { ...process.env, REPORT: process.argv[2] }, timeout: 120000 }).status;
} finally {
  await stopAll();
}
process.exit(status ?? 1);
