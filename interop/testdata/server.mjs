// The origin as a server of Node: ports of cleartext and of TLS, certificate, key, and the directory to serve.
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import http2 from 'node:http2';
import { join, normalize } from 'node:path';

const [cleartext, tls, cert, key, files] = process.argv.slice(2);
const settings = { maxHeaderListSize: 131072 };
const options = { settings, maxHeaderListPairs: 256, maxSendHeaderBlockLength: 131072 };

const pages = {
  '/b/upload': (stream) => {
    const sum = createHash('sha256');
    stream.on('data', (octets) => sum.update(octets));
    stream.on('end', () => {
      stream.respond({ ':status': 200 });
      stream.end(sum.digest('hex'));
    });
  },
  '/b/head': (stream, head) => {
    const reply = { ':status': 200 };
    for (const name of Object.keys(head)) if (name.startsWith('x-big-')) reply[name] = head[name];
    stream.respond(reply);
    stream.end();
  },
  '/b/trailers': (stream) => {
    stream.respond({ ':status': 200, trailer: 'x-sum' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '42' }));
    stream.end('trailers follow');
  },
};

function answer(stream, head) {
  stream.on('error', () => {}); // it was reset
  const page = pages[head[':path']];
  if (page) return page(stream, head);
  stream.resume(); // or it is reset before its end, by RST_STREAM(NO_ERROR)
  const name = join(files, normalize(head[':path']));
  stream.respond({ ':status': 200, 'content-length': statSync(name).size });
  createReadStream(name).pipe(stream);
}

for (const [server, port] of [
  [http2.createServer(options), cleartext],
  [http2.createSecureServer({ ...options, cert: readFileSync(cert), key: readFileSync(key) }), tls],
]) {
  server.on('stream', answer);
  server.on('sessionError', () => {});
  server.listen(Number(port), '127.0.0.1');
}
