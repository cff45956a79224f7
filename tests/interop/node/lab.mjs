// Starts deployments of `holdfast lab` and breaks them.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/// Who logs in to all deployments that want it.
export const canary = { user: process.env.CANARY_USER, password: process.env.CANARY_PASSWORD,
  wrong: process.env.CANARY_WRONG_PASSWORD };

const running = new Set();

export class Lab {
  static async start(...options) {
    const lab = new Lab();
    lab.process = spawn(process.env.HOLDFAST, ['lab', ...options],
      { stdio: ['pipe', 'pipe', 'inherit'] });
    running.add(lab);
    lab.lines = createInterface({ input: lab.process.stdout })[Symbol.asyncIterator]();
    lab.ended = new Promise((done) => lab.process.once('exit', done));
    lab.uri = await lab.line();
    if (options.includes('--routers') || options.includes('--load-balancer'))
      lab.routers = (await lab.line()).replace('routers: ', '');
    if (options.includes('--load-balancer'))
      lab.balancer = (await lab.line()).replace('balancer: ', '');
    if (options.includes('--couchbase')) {
      if (options.includes('--tls')) lab.tls = (await lab.line()).replace('tls: ', '');
      if (options.includes('--external'))
        lab.external = (await lab.line()).replace('external: ', '');
      lab.management = (await lab.line()).replace('management: ', '');
    }
    return lab;
  }

  async line() {
    const { value, done } = await this.lines.next();
    if (done) throw new Error(`the lab has ended with status ${this.process.exitCode}`);
    return value;
  }

  /// One line of its standard input; gives the lines of its answer.
  async command(order) {
    this.process.stdin.write(`${order}\n`);
    const answer = [];
    for (;;) {
      const line = await this.line();
      answer.push(line);
      if (line.startsWith('error')) throw new Error(`lab: ${order}: ${line}`);
      if (line.startsWith('ok')) return answer;
    }
  }

  async primary() {
    return Number((await this.command('primary'))[0].split(' ')[1]);
  }

  /// "127.0.0.1:4711" of each member.
  get hosts() {
    return this.uri.replace(/^mongodb:\/\/([^@/]*@)?/, '').replace(/[/?].*$/, '').split(',');
  }

  /// Of one member alone.
  direct(member) {
    return `mongodb://${this.hosts[member]}/?directConnection=true`;
  }

  async stop() {
    running.delete(this);
    this.process.kill('SIGTERM');
    return this.ended;
  }
}

export async function stopAll() {
  for (const lab of [...running]) await lab.stop();
}
