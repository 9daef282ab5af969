import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { environmentUsers } from "../../owner.ts";
import { Machine } from "./testing/startMachine.ts";

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const tcp = "stream_socket_client('tcp://' . $place, $n, $e, 10)";

/** PHP code that tells for each place, `host:port`, whether it is reached. */
const reach = `foreach (array_slice($argv, 1) as $place) {
  $s = @${tcp}; $found[$place] = $s ? trim((string) fgets($s)) : ($n === 111 ? 'refused' : "error $n $e");
} echo json_encode($found, JSON_UNESCAPED_SLASHES);`;

const other = [
  "127.0.0.1:8080",
  "127.1.2.3:8080",
  "0.0.0.0:8080",
  "[::1]:8080",
  "[::ffff:127.0.0.1]:8080",
  "localhost:8080",
  "93.184.216.1:8080",
  "10.9.9.1:8080",
  "[2606:2800::1]:8080",
  "10.9.9.9:80",
  "100.64.9.9:80",
  "169.254.169.254:80",
  "[::ffff:169.254.169.254]:80",
  "[fd00:9::9]:80",
  "10.53.53.53:80",
];
const outside = ["93.184.216.34:80", "93.184.216.34:9000", "[2606:2800::34]:443", "[::ffff:93.184.216.34]:80"];

describe.skipIf(!isRoot)("PHP of an environment", () => {
  let machine: Machine;
  beforeAll(() => {
    machine = new Machine();
  });
  afterEach(async () => {
    for (const name of ["close", "closeSecond"]) await machine.call(name);
  });
  afterAll(() => machine.end());

  const restrict = (options: object = {}) => machine.call("restrict", JSON.stringify(options));
  const setEnvironments = (...environments: readonly object[]) =>
    machine.call("setEnvironments", JSON.stringify(environments));
  const reached = async (places: readonly string[], number = "1"): Promise<Readonly<Record<string, string>>> =>
    JSON.parse(await machine.call("php", number, reach, ...places));
  const allRefused = (places: readonly string[]) => Object.fromEntries(places.map((place) => [place, "refused"]));

  test("reaches everything without the rules", async () => {
    expect(Object.values(await reached([...other, ...outside, "93.184.216.34:25"])).join()).not.toMatch(
      /refused|error/,
    );
  });

  test("reaches public addresses, and is refused at once at all others, this machine's included", async () => {
    expect(await restrict()).toBe("");
    const before = await machine.call("connections");
    expect(await reached(other)).toEqual(allRefused(other));
    expect(await machine.call("connections")).toBe(before);
    expect(Object.values(await reached(outside))).toEqual(outside.map((place) => `reached ${place.split(":").at(-1)}`));
  });

  test("does not reach this machine by a name that resolves to it", async () => {
    await restrict();
    await machine.call("setHostNames", JSON.stringify([{ name: "rebound.example", environmentId: "e1" }]));
    expect(await reached(["rebound.example:8080"])).toEqual({ "rebound.example:8080": "refused" });
  });

  test("reaches networks that a setting opens, but not services there, nor this machine", async () => {
    const mayReach = ["10.9.9.0/24", "fd00:9::/64", "127.0.0.0/8"];
    await restrict({ mayReach, internal: ["10.9.9.9:9000", "93.184.216.34:9000"], forbidden: ["[fd00:9::9]:443"] });
    const open = ["10.9.9.9:80", "[fd00:9::9]:80", "93.184.216.34:9000"];
    const closed = ["10.9.9.9:9000", "[fd00:9::9]:443", "10.9.9.1:8080", "127.0.0.1:8080", "100.64.9.9:80"];
    expect(await reached([...open, ...closed])).toEqual({
      "10.9.9.9:80": "reached 80",
      "[fd00:9::9]:80": "reached 80",
      "93.184.216.34:9000": "reached 9000",
      ...allRefused(closed),
    });
  });

  test("does not reach services that settings name, by TCP or UDP, on public addresses either", async () => {
    const udp = `$s = stream_socket_client('udp://' . $argv[1]); stream_set_timeout($s, 5);
      echo @fwrite($s, 'x') ? fgets($s) : 'refused';`;
    await restrict();
    expect(await machine.call("php", "1", udp, "93.184.216.34:53")).toBe("reached udp");
    await machine.call("close");
    await restrict({ forbidden: ["93.184.216.34:5432", "[2606:2800::34]:443", "93.184.216.34:53"] });
    const closed = ["93.184.216.34:5432", "[2606:2800::34]:443", "93.184.216.34:53"];
    expect(await reached([...closed, "93.184.216.34:443"])).toEqual({
      ...allRefused(closed),
      "93.184.216.34:443": "reached 443",
    });
    expect(await machine.call("php", "1", udp, "93.184.216.34:53")).toMatch(/^(refused)?$/);
  });

  test("reaches the machine's resolvers, and the package source wherever it is", async () => {
    await restrict({ packageSource: "http://127.0.0.1:8080/wporg" });
    expect(await reached(["10.53.53.53:53", "127.0.0.1:8080", "127.0.0.2:8080", "10.9.9.9:53"])).toEqual({
      "10.53.53.53:53": "reached 53",
      "127.0.0.1:8080": "reached control",
      ...allRefused(["127.0.0.2:8080", "10.9.9.9:53"]),
    });
  });

  test("reaches mail servers only while its environment may send mail", async () => {
    const mail = [25, 465, 587, 2525].flatMap((port) => [`93.184.216.34:${port}`, `[2606:2800::34]:${port}`]);
    const one = { id: "e1", number: 1 };
    await restrict();
    await setEnvironments(one, { id: "e2", number: 2, maySendMail: true });
    expect(await reached(mail)).toEqual(allRefused(mail));
    expect(Object.values(await reached(mail, "2")).join()).not.toContain("refused");
    await setEnvironments({ ...one, maySendMail: true });
    expect(Object.values(await reached(mail)).join()).not.toContain("refused");
    expect(await reached(mail, "2")).toEqual(allRefused(mail));
  });

  test("can't be reached by others of this machine, or from outside", async () => {
    const serve = `$s = stream_socket_server('tcp://0.0.0.0:7000'); touch($argv[1]);
      while ($c = @stream_socket_accept($s, 3)) { fwrite($c, "reached PHP\\n"); fclose($c); }`;
    const connectAsRoot = `$place = '127.0.0.1:7000'; $s = @stream_socket_client('tcp://' . $place, $n, $e, 1);
      echo $s ? fgets($s) : 'nothing';`;
    const folder = await mkdtemp(path.join(tmpdir(), "listening-"));
    await run("chmod", ["777", folder]);
    const serving = machine.call("phpOf", `${environmentUsers().first + 1}`, serve, path.join(folder, "listens"));
    await vi.waitUntil(async () => (await machine.call("shell", `ls ${folder}`)) === "listens", { timeout: 30_000 });
    await rm(folder, { recursive: true });
    expect(await machine.call("fromOutside", "7000")).toBe("reached PHP");
    expect(await machine.call("phpOf", "0", connectAsRoot)).toBe("reached PHP");
    await restrict();
    expect(await machine.call("fromOutside", "7000")).toBe("nothing");
    expect(await machine.call("phpOf", "0", connectAsRoot)).toBe("nothing");
    expect(await reached(["127.0.0.1:7000"], "2")).toEqual({ "127.0.0.1:7000": "refused" });
    await serving;
  });

  test("is restricted until the rules are removed, also if a firewall is loaded again meanwhile", async () => {
    await machine.call("shell", "nft add table inet other");
    await restrict();
    await machine.call("shell", "nft flush ruleset; nft add table inet other");
    expect(await reached(other)).toEqual(allRefused(other));
    await machine.call("close");
    expect(await machine.call("shell", "nft list tables")).toBe("table inet other");
    await machine.call("shell", "nft delete table inet other");
  });

  test("stays restricted when the server's processes are told to end, and for a moment after the server was killed", async () => {
    expect(await machine.call("killServer")).toBe("ready");
    expect(await reached(["127.0.0.1:8080"])).toEqual({ "127.0.0.1:8080": "refused" });
    expect(await restrict()).toBe("");
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) expect(await machine.call("signalNft", signal)).not.toBe("0");
    expect(await reached(other)).toEqual(allRefused(other));
    expect(JSON.parse(await machine.call("lost")).isRestricted).toBe(true);
  });

  test("is restricted by the rules of the new server alone, while those of a killed one are still there", async () => {
    const mail = "93.184.216.34:25";
    expect(await machine.call("killServer")).toBe("ready");
    expect(await restrict()).toBe("");
    await setEnvironments({ id: "e1", number: 1, maySendMail: true });
    expect(await reached([mail])).toEqual({ [mail]: "reached 25" });
  });

  test("is restricted by the rules of another process when the first is gone", async () => {
    const mail = "93.184.216.34:25";
    const environments = [{ id: "e1", number: 1, maySendMail: true }];
    await restrict({ mayReach: ["10.9.9.0/24"] });
    expect(await machine.call("restrictSecond")).toBe("");
    await setEnvironments(...environments);
    expect(await reached([mail, "10.9.9.9:80", ...outside.slice(0, 1)])).toEqual({
      [mail]: "reached 25",
      "10.9.9.9:80": "reached 80",
      "93.184.216.34:80": "reached 80",
    });
    await machine.call("close");
    expect(await reached([...other, mail])).toEqual(allRefused([...other, mail]));
    expect(await reached(outside.slice(0, 1))).toEqual({ "93.184.216.34:80": "reached 80" });
    await machine.call("closeSecond");
  });

  test("can be ended if someone kills nft", async () => {
    await restrict();
    await machine.call("killNft");
    await vi.waitUntil(async () => JSON.parse(await machine.call("lost")).isRestricted === false, { timeout: 30_000 });
    expect(JSON.parse(await machine.call("lost")).lost).toHaveLength(1);
  });

  test("gets no network without nft, which one sentence says", async () => {
    // Only this machine sees the mount.
    await machine.call("shell", 'mount --bind /dev/null "$(readlink -f "$(command -v nft)")"');
    const problem = await restrict();
    await machine.call("shell", 'umount "$(readlink -f "$(command -v nft)")"');
    expect(problem).toBe(
      "PHP of native environments gets no network, because nft, which would restrict it, is missing. Install it: apt-get install nftables",
    );
    expect(JSON.parse(await machine.call("lost")).isRestricted).toBe(false);
  });
});

describe.skipIf(!isRoot)("connections of PHP to the edge", () => {
  let machine: Machine;
  let folder: string;
  let ports: {
    readonly port: number;
    readonly tlsPort: number;
    readonly phpPorts: readonly { readonly phpPort: number }[];
  };
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "network-"));
    const [key, chain] = [path.join(folder, "key"), path.join(folder, "chain")];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=one.example"];
    await run("openssl", ["req", "-x509", ...kind, "-keyout", key, "-out", chain, "-days", "2"]);
    machine = new Machine();
    expect(await machine.call("restrict")).toBe("");
    await machine.call("setEnvironments", JSON.stringify([1, 2].map((number) => ({ id: `e${number}`, number }))));
    ports = JSON.parse(await machine.call("startEdge", key, chain));
    expect(await machine.call("putTable", JSON.stringify(tableOf(folder)))).toContain('"generation":1');
  });
  afterAll(async () => {
    await machine.end();
    await rm(folder, { recursive: true });
  });

  /** Requests a URL by PHP of an environment. Returns the status and what the edge's PHP was asked. */
  async function visit(number: string, url: string, options: readonly string[] = []) {
    const code = `$c = curl_init($argv[1]); curl_setopt_array($c, [CURLOPT_RETURNTRANSFER => true,
      CURLOPT_SSL_VERIFYPEER => false, CURLOPT_TIMEOUT => 20, CURLOPT_RESOLVE => array_slice($argv, 2)]);
      curl_exec($c); echo curl_getinfo($c, CURLINFO_RESPONSE_CODE), ' ', curl_errno($c);`;
    const result = await machine.call("php", number, code, url, ...options);
    return { result, asked: JSON.parse(await machine.call("asked")) };
  }
  const asOwner = (https: boolean) => ({ environmentId: "e1", fromPhp: true, remoteAddress: "127.0.0.1", https });
  const asNeighbour = { environmentId: "e1", fromPhp: false, remoteAddress: "fd5a:17d2:0:2::1", https: false };

  test("to its own name come from its environment, over HTTP and HTTPS", async () => {
    expect(await visit("1", `http://one.example:${ports.port}/`)).toEqual({ result: "200 0", asked: [asOwner(false)] });
    // curl does not look up such names, and tries IPv6 first.
    expect((await visit("1", `http://one.localhost:${ports.port}/`)).asked).toEqual([asOwner(false)]);
    expect(await visit("1", `https://one.example:${ports.tlsPort}/`)).toEqual({
      result: "200 0",
      asked: [asOwner(true)],
    });
  });

  test.each(["127.0.0.1", "93.184.216.1", "10.9.9.1"])("at %s come from each one's environment", async (address) => {
    const to = [`one.example:${ports.port}:${address}`];
    expect((await visit("1", `http://one.example:${ports.port}/`, to)).asked).toEqual([asOwner(false)]);
    expect((await visit("2", `http://one.example:${ports.port}/`, to)).asked).toEqual([asNeighbour]);
  });

  test("of users who are no environment come from a visitor", async () => {
    const code = `echo @file_get_contents('http://127.0.0.1:${ports.port}/', false,
      stream_context_create(['http' => ['header' => 'Host: one.example']]));`;
    expect(await machine.call("phpOf", "1234", code)).toBe("GET /index.php");
    expect(JSON.parse(await machine.call("asked"))).toMatchObject([{ fromPhp: false, remoteAddress: "127.0.0.1" }]);
  });

  test("can't be made in the name of another environment", async () => {
    const places = ports.phpPorts.flatMap(({ phpPort }) =>
      ["127.64.0.1", "127.0.0.1", "93.184.216.1"].map((address) => `${address}:${phpPort}`),
    );
    const refused = Object.fromEntries(places.map((place) => [place, "refused"]));
    expect(JSON.parse(await machine.call("php", "2", reach, ...places))).toEqual(refused);
    for (const user of ["0", "1234"])
      expect(JSON.parse(await machine.call("phpOf", user, reach, ...places))).toEqual(refused);
    for (const { phpPort } of ports.phpPorts) expect(await machine.call("fromOutside", `${phpPort}`)).toBe("refused");
    expect(await machine.call("php", "1", `echo (bool) ${tcp.replace("$place", "$argv[1]")};`, places[0] ?? "")).toBe(
      "1",
    );
  });

  test("can't be made in the name of another environment from a port that it used before", async () => {
    // The edge resets a connection that still sends, and the system remembers for seconds where it led.
    const code = `$c = stream_context_create(['socket' => ['bindto' => '127.0.0.1:45678']]);
      $s = @stream_socket_client('tcp://127.0.0.1:${ports.port}', $n, $e, 10, STREAM_CLIENT_CONNECT, $c);
      if (!$s) exit('refused');
      fwrite($s, "GET / HTTP/1.1\\r\\nHost: one.example\\r\\n\\r\\n"); echo strlen(fread($s, 100)) > 0 ? 'answered' : '';
      while (@fwrite($s, str_repeat('x', 1000000)));`;
    expect(await machine.call("php", "1", code)).toBe("answered");
    expect(JSON.parse(await machine.call("asked"))).toEqual([asOwner(false)]);
    await machine.call("php", "2", code);
    for (const asked of JSON.parse(await machine.call("asked"))) expect(asked).toEqual(asNeighbour);
  });

  test("are possible beside the rules of another process", async () => {
    expect(await machine.call("restrictSecond")).toBe("");
    expect((await visit("1", `http://one.example:${ports.port}/`)).asked).toEqual([asOwner(false)]);
    await machine.call("closeSecond");
  });

  test("are possible beside a firewall that allows what is marked", async () => {
    const { first, last } = environmentUsers();
    const chain = `chain output { type filter hook output priority 0; meta skuid ${first}-${last} ip daddr 127.0.0.0/8 jump sites; }`;
    const firewall = (rule: string) => `table inet firewall { chain sites { ${rule} reject; }; ${chain}; }`;
    const load = (rule: string) => machine.call("shell", `nft flush ruleset; nft '${firewall(rule)}'`);
    expect(await load("")).toBe("");
    expect((await visit("1", `http://one.example:${ports.port}/`)).asked).toEqual([]);
    expect(await load("meta mark 0x73770001 accept;")).toBe("");
    expect((await visit("1", `http://one.example:${ports.port}/`)).asked).toEqual([asOwner(false)]);
    await machine.call("shell", "nft flush ruleset");
  });

  test("follow the names of sites, also in running PHP", async () => {
    const isKnown = "str_contains(file_get_contents('/etc/hosts'), ' late.example')";
    const watching = machine.call("php", "1", `while (!${isKnown}) usleep(10000); echo gethostbyname('late.example');`);
    const table = { ...tableOf(folder), generation: 2 };
    await machine.call("putTable", JSON.stringify({ ...table, hosts: [...table.hosts, hostOf("late.example", "e1")] }));
    expect(await watching).toBe("127.0.0.1");
    expect(await machine.call("php", "2", `echo json_encode(${isKnown});`)).toBe("false");
  });
});

const hostOf = (name: string, environmentId: string) => ({ name, environmentId });

function tableOf(documentRoot: string) {
  const environments = [1, 2].map((number) => ({
    id: `e${number}`,
    number,
    phpVersion: "8.3",
    release: 1,
    documentRoot,
    overlays: {},
    multisite: null,
    isFrozen: false,
  }));
  const hosts = [hostOf("one.example", "e1"), hostOf("two.example", "e2"), hostOf("one.localhost", "e1")];
  const certificates = [{ id: "c", names: ["one.example"], notAfter: Date.now() + 86_400_000 }];
  return { generation: 1, environments, hosts, certificates };
}
