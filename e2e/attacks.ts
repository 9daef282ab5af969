/**
 * What a hostile company can do to others: everything that a holder of its API keys, its visitors and its sites' PHP can. Each
 * attack repeats itself until the process ends. It reports the statuses of its responses, so that a test notices an attack that
 * no longer reaches what it attacks.
 */
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** The attacker's company, and where it sends its requests. */
export interface Attacker {
  readonly apiUrl: string;
  readonly key: string;
  readonly companyId: string;
  readonly sites: readonly { readonly id: string; readonly environmentId: string; readonly address: string }[];
}

/** Another address than the victim's visitors have, as on the internet. */
const localAddress = "127.0.0.66";
const agent = new Agent({ keepAlive: true, maxSockets: 500 });
let number = 0;

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Reads the response at a few bytes per second. */
  readonly isSlow?: boolean;
}

/** Called with the status of each response, or `connected` for each connection that an attack only holds open. */
export type Report = (status: number) => void;

const connected = 0;

export interface Attack {
  /** Any of these statuses shows that the attack reaches its target. 429 and 503 mean that the target held it back. */
  readonly reaches: readonly number[];
  run(attacker: Attacker, report: Report): void;
}

/** Resolves when the response has ended, whatever it is. */
function send(
  address: string,
  report: Report,
  { method = "GET", headers = {}, body, isSlow = false }: Sent = {},
): Promise<void> {
  const { host, port, pathname, search } = new URL(address);
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const options = { host: "127.0.0.1", port, method, localAddress, agent, path: pathname + search };
    const sent = request({ ...options, headers: { host, ...length, ...headers } }, (response) => {
      report(response.statusCode ?? 0);
      response.once("close", resolve);
      if (isSlow) setInterval(() => response.read(1), 1_000);
      else response.resume();
    });
    // A refused connection must not become a loop that only burns this process's time.
    sent.once("error", () => setTimeout(resolve, 50));
    sent.end(body);
  });
}

/** Opens connections that send something and then nothing more, and replaces those that are closed. */
function hold(address: string, report: Report, connections: number, sent: (host: string) => string): void {
  const { host, port } = new URL(address);
  const open = (): void => {
    const socket: Socket = connect({ host: "127.0.0.1", port: Number(port), localAddress });
    socket.once("connect", () => {
      report(connected);
      socket.write(sent(host));
    });
    socket.on("error", () => undefined).once("close", () => setTimeout(open, 100));
    socket.resume();
  };
  for (let count = 0; count < connections; count += 1) open();
}

/**
 * How much of a processor this process may use. Real attackers have their own processors; here it would be taken from the
 * installation.
 */
const maxCores = 0.25;
const startedAt = performance.now();

/** Resolves when this process has not used more than its part of a processor. */
async function untilAffordable(): Promise<void> {
  for (;;) {
    const { user, system } = process.cpuUsage();
    const excess = (user + system) / 1_000 - (performance.now() - startedAt) * maxCores;
    if (excess <= 0) return;
    await delay(excess / maxCores);
  }
}

/** Repeats the work, many times at once. */
function repeat(parallel: number, work: (runner: number) => Promise<unknown>): void {
  for (let runner = 0; runner < parallel; runner += 1) {
    void (async () => {
      for (;;) {
        await work(runner);
        await untilAffordable();
      }
    })();
  }
}

function siteOf({ sites }: Attacker, index: number) {
  const site = sites[index % sites.length];
  if (site === undefined) throw new Error("The attacker has no site");
  return site;
}

/** Requests a path of all sites. `{n}` becomes a different number each time. */
function visit(parallel: number, path: string, sent: Sent = {}): Attack {
  return {
    reaches: [200, 429, 503],
    run: (attacker, report) =>
      repeat(parallel, (runner) => {
        number += 1;
        return send(`${siteOf(attacker, runner).address}${path.replace("{n}", String(number))}`, report, sent);
      }),
  };
}

interface Call {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

function call(
  { apiUrl, key }: Attacker,
  report: Report,
  path: string,
  { method = "POST", body, headers = {} }: Call = {},
): Promise<void> {
  const authorization = { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers };
  return send(`${apiUrl}${path}`, report, {
    method,
    headers: authorization,
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

/** Calls the API. `reaches`: the statuses of a call that does what it is for. */
function calls(
  reaches: readonly number[],
  parallel: number,
  work: (attacker: Attacker, report: Report, runner: number) => Promise<unknown>,
): Attack {
  return {
    reaches: [...reaches, 429, 503],
    run: (attacker, report) => repeat(parallel, (runner) => work(attacker, report, runner)),
  };
}

/** Holds connections to all sites open, and with `andApi` to the API. */
function holds(connections: number, sent: (host: string) => string, { andApi = false } = {}): Attack {
  return {
    reaches: [connected],
    run: ({ apiUrl, sites }, report) => {
      for (const address of [...(andApi ? [apiUrl] : []), ...sites.map((site) => site.address)]) {
        hold(address, report, connections, sent);
      }
    },
  };
}

/** Runs PHP code with WP-CLI in one of the sites. */
function evaluate(attacker: Attacker, report: Report, site: number, code: string): Promise<void> {
  const path = `/sites/environments/${siteOf(attacker, site).environmentId}/run-wp-cli-command`;
  return call(attacker, report, path, { body: { argv: ["eval", code] }, headers: { "when-busy": "queue" } });
}

/** Returns the id of the attacker's newest operation, or null. */
async function newestOperation({ apiUrl, key }: Attacker): Promise<string | null> {
  const answer = await fetch(`${apiUrl}/operations?limit=1`, { headers: { authorization: `Bearer ${key}` } });
  const found = /"id":"([^"]+)"/.exec(await answer.text());
  return found?.[1] ?? null;
}

const megabyte = "x".repeat(1_000_000);
const form = { "content-type": "application/x-www-form-urlencoded" };
/** Deep, long, and with a value that is refused in each place: the answer could be much larger than the request. */
const hostileJson = `{"search":${"[".repeat(50_000)}${Array(50).fill('"\\u0000"').join(",")}${"]".repeat(50_000)}}`;
const endlessHead = (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `;
const absentBody = (host: string) => `POST /index.php HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 30000000\r\n\r\nx`;
const tinyChunks = (host: string) =>
  `POST /index.php HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(100_000)}`;

export const attacks: Readonly<Record<string, Attack>> = {
  "pages without a pause": visit(8, "/?visit={n}"),
  "pages that use the processor": visit(8, "/burn.php?visit={n}"),
  "pages that never end": visit(40, "/sleep.php?visit={n}"),
  "pages that request their own site": visit(10, "/loop.php?visit={n}"),
  "pages that write files": visit(8, "/write.php?visit={n}", { method: "POST", body: megabyte }),
  "pages that send mail": visit(4, "/mail.php?visit={n}"),
  "sockets that PHP opens to its site and leaves open": visit(10, "/sockets.php?visit={n}"),
  "static files": visit(100, "/load.css"),
  "large responses, read slowly": visit(50, "/large.php?visit={n}", { isSlow: true }),
  "many pages for the page cache": visit(8, "/?lang={n}"),
  "guessed passwords": visit(8, "/wp-login.php", { method: "POST", headers: form, body: "log=owner&pwd=wrong" }),
  "bodies that never arrive": holds(40, absentBody),
  "bodies of one-byte chunks": holds(5, tinyChunks, { andApi: true }),
  "heads that never end, at the edge and the API": holds(100, endlessHead, { andApi: true }),
  "API requests without a pause": calls([200], 16, (attacker, report) =>
    call(attacker, report, "/validate", { method: "GET" }),
  ),
  "hostile JSON": calls([400], 4, (attacker, report) =>
    call(attacker, report, `/company/${attacker.companyId}/wp-plugins`, { method: "GET", body: hostileJson }),
  ),
  "changes of the routing table": calls([200], 4, (attacker, report, runner) => {
    number += 1;
    const body = { environment_id: siteOf(attacker, runner).environmentId, ip_list: [`203.0.113.${number % 250}`] };
    return call(attacker, report, "/sites/tools/denied-ips", { method: "PUT", body });
  }),
  "one idempotency key in many requests": calls([200, 202], 20, (attacker, report) => {
    const { environmentId } = siteOf(attacker, 0);
    const body = { email: "hang@example.com", first_name: "H", last_name: "Ang" };
    const headers = { "idempotency-key": `key-${Math.floor(Date.now() / 5_000)}` };
    return call(attacker, report, `/sites/environments/${environmentId}/wpa-create-user`, { body, headers });
  }),
  "WP-CLI commands that use the processor": calls([202], 8, (attacker, report, runner) =>
    evaluate(attacker, report, runner, "for (;;) { md5(random_bytes(64)); }"),
  ),
  "searches for users": calls([200], 8, (attacker, report, runner) => {
    const { environmentId } = siteOf(attacker, runner);
    const path = `/sites/environments/${environmentId}/wpa-user-exists?email=a@example.com`;
    return call(attacker, report, path, { method: "GET" });
  }),
  backups: calls([202], 8, async (attacker, report, runner) => {
    const { environmentId } = siteOf(attacker, runner);
    await call(attacker, report, `/sites/environments/${environmentId}/manual-backups`, { body: { tag: "again" } });
    await delay(200);
  }),
  "new sites": calls([202], 4, async (attacker, report) => {
    number += 1;
    const body = { company: attacker.companyId, display_name: `New ${number}`, region: "europe-west3" };
    await call(attacker, report, "/sites/plain", { body });
    await delay(500);
  }),
  "open waits for operations": calls([200, 202], 100, async (attacker, report, runner) => {
    if (runner === 0) await evaluate(attacker, report, 0, "sleep(60);");
    const id = await newestOperation(attacker).catch(() => null);
    if (id === null) await delay(1_000);
    else await call(attacker, report, `/operations/${encodeURIComponent(id)}?wait=30`, { method: "GET" });
  }),
};
