// Asks for URLs with Node's http2 module, all at once on one connection, and exits with 0 if every response came whole.
//
//   node client.mjs [--method METHOD] [--body FILE] [--ca FILE] URL...

import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { method: { type: 'string', default: 'GET' }, body: { type: 'string' }, ca: { type: 'string' } },
});
const body = values.body ? readFileSync(values.body) : undefined;
const ca = values.ca ? readFileSync(values.ca) : undefined;

const session = http2.connect(positionals[0], { ca });
const broken = new Promise((_, reject) => session.on('error', reject));

function fetch(url) {
  return new Promise((resolve, reject) => {
    const { pathname } = new URL(url);
    const request = session.request({ ':method': values.method, ':path': pathname }, { endStream: !body });
    let status = 0;
    let ended = false;
    request.on('response', (headers) => { status = headers[':status']; });
    request.on('data', () => {});
    request.on('end', () => { ended = true; });
    request.on('error', reject);
    request.on('aborted', () => reject(new Error('aborted')));
    request.on('close', () => {
      if (status && ended && request.rstCode === http2.constants.NGHTTP2_NO_ERROR) resolve();
      else reject(new Error(`status ${status}, ended ${ended}, code ${request.rstCode}`));
    });
    if (body) request.end(body);
  });
}

try {
  await Promise.race([broken, Promise.all(positionals.map(fetch))]);
} catch (err) {
  console.error(String(err));
  process.exitCode = 1;
}
if (!session.destroyed) session.close();
