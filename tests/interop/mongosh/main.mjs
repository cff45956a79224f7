// Runs shell.js in mongosh: main.mjs REPORT
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { Lab, canary, stopAll } from '../node/lab.mjs';

let status = 1;
try {
  mkdirSync('home', { recursive: true }); // it keeps its settings and logs there
  const lab = await Lab.start('--members', '3', '--auth',
    `${canary.user}:${canary.password}`);
  status = spawnSync('node_modules/.bin/mongosh',
    [lab.uri, '--quiet', '--norc', '--file', 'shell.js'],
    { stdio: 'inherit', timeout: 120000,
      env: { ...process.env, REPORT: process.argv[2], HOME: `${process.cwd()}/home` } }).status;
} finally {
  await stopAll();
}
process.exit(status ?? 1);
