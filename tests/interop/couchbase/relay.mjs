// Stands between a client and the nodes of the lab, under another address, and counts what passes.
import { createServer, connect } from 'node:net';

const HEADER = 24;
const SNAPPY = 2;

/// Counts the frames of one direction: all of an operation, and those whose value is compressed.
class FrameCounter {
  constructor(counts) {
    this.counts = counts;
    this.rest = Buffer.alloc(0);
  }

  add(bytes) {
    this.rest = Buffer.concat([this.rest, bytes]);
    while (this.rest.length >= HEADER) {
      const size = HEADER + this.rest.readUInt32BE(8);
      if (this.rest.length < size) return;
      const operation = this.rest[1];
      const seen = this.counts.get(operation) ?? { all: 0, compressed: 0, bytes: 0 };
      seen.all += 1;
      seen.bytes += size;
      if (this.rest[5] & SNAPPY) seen.compressed += 1;
      this.counts.set(operation, seen);
      this.rest = this.rest.subarray(size);
    }
  }
}

export class Relay {
  requests = new Map();
  replies = new Map();
  connections = 0;
  listeners = [];
  sockets = new Set();

  /// Listens at `host` on the ports of `uri`, and passes on to 127.0.0.1.
  static async start(host, uri) {
    const relay = new Relay();
    const ports = [...uri.matchAll(/:(\d+)/g)].map(([, port]) => Number(port));
    for (const port of ports) {
      const listener = createServer((client) => relay.pass(client, port));
      await new Promise((done, failed) => {
        listener.once('error', failed);
        listener.listen(port, host, done);
      });
      relay.listeners.push(listener);
    }
    return relay;
  }

  pass(client, port) {
    this.connections += 1;
    const server = connect(port, '127.0.0.1');
    const sent = new FrameCounter(this.requests);
    const answered = new FrameCounter(this.replies);
    client.on('data', (bytes) => { sent.add(bytes); server.write(bytes); });
    server.on('data', (bytes) => { answered.add(bytes); client.write(bytes); });
    for (const [one, other] of [[client, server], [server, client]]) {
      this.sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => { this.sockets.delete(one); other.destroy(); });
    }
  }

  async stop() {
    const closed = this.listeners.map((one) => new Promise((done) => one.close(done)));
    for (const one of [...this.sockets]) one.destroy();
    await Promise.all(closed);
  }
}
