/** DNS rebinding: a name has a public address while a plugin checks it, and a private one when PHP connects. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Machine } from "./testing/startMachine.ts";

const isRoot = process.getuid?.() === 0;

/** Names by the address that they have in the end (`testing/nameServer.ts`), with the port of a service there. */
const places = [
  "127-0-0-1.rebound.example:8080",
  "127-1-2-3.rebound.example:8080",
  "0-0-0-0.rebound.example:8080",
  "93-184-216-1.rebound.example:8080",
  "10-9-9-1.rebound.example:8080",
  "10-9-9-9.rebound.example:80",
  "100-64-9-9.rebound.example:80",
  "169-254-169-254.rebound.example:80",
  "0-0-0-0-0-0-0-1.rebound.example:8080",
  "0-0-0-0-0-ffff-7f00-1.rebound.example:8080",
  "0-0-0-0-0-ffff-a9fe-a9fe.rebound.example:80",
  "fd00-9-0-0-0-0-0-9.rebound.example:80",
];

/** The public address refuses connections at this port, so PHP tries the next one. */
const twoAddresses = ["127-0-0-1.both.example:8080", "10-9-9-1.both.example:8080", "0-0-0-0-0-0-0-1.both.example:8080"];

/** PHP code that tells for each place which address a check finds, and then whether PHP's streams and curl reach it. */
const checkAndConnect = `foreach (array_slice($argv, 2) as $place) {
  [$name, $port] = explode(':', "$argv[1].$place");
  $record = dns_get_record($name, substr_count($place, '-') > 3 ? DNS_AAAA : DNS_A)[0] ?? array();
  $stream = @stream_socket_client("tcp://$name:$port", $n, $e, 10);
  $curl = curl_init("http://$name:$port/");
  curl_setopt_array($curl, array(CURLOPT_CONNECT_ONLY => true, CURLOPT_CONNECTTIMEOUT => 10));
  curl_exec($curl);
  $found[$place] = array($record['ip'] ?? $record['ipv6'] ?? 'no address',
    $stream ? trim((string) fgets($stream)) : ($n === 111 ? 'refused' : "error $n $e"),
    array(0 => 'connected', CURLE_COULDNT_CONNECT => 'refused')[curl_errno($curl)] ?? curl_error($curl));
} echo json_encode($found, JSON_UNESCAPED_SLASHES);`;

type Found = Readonly<Record<string, readonly [checked: string, stream: string, curl: string]>>;

describe.skipIf(!isRoot)("a name server that changes its answer", () => {
  let machine: Machine;
  beforeAll(() => {
    machine = new Machine();
  });
  afterEach(() => machine.call("close"));
  afterAll(() => machine.end());

  /** Each run asks for names of its own, so that its first question is the name server's first one too. */
  async function found(run: string, of: readonly string[]): Promise<Found> {
    return JSON.parse(await machine.call("php", "1", checkAndConnect, run, ...of));
  }
  const publicAddressFor = (place: string) => (place.split("-").length > 4 ? "2606:2800::34" : "93.184.216.34");

  test("leads PHP to private addresses without the rules", async () => {
    for (const [place, [checked, stream, curl]] of Object.entries(await found("free", [...places, ...twoAddresses])))
      expect([place, checked, stream, curl]).toEqual([
        place,
        publicAddressFor(place),
        place.endsWith(":80") ? "reached 80" : "reached control",
        "connected",
      ]);
  });

  test("leads PHP nowhere with them: whatever a check has found, connections are refused", async () => {
    expect(await machine.call("restrict")).toBe("");
    const before = await machine.call("connections");
    const refused = (place: string) => [place, [publicAddressFor(place), "refused", "refused"]];
    expect(await found("restricted", [...places, ...twoAddresses])).toEqual(
      Object.fromEntries([...places, ...twoAddresses].map(refused)),
    );
    expect(await machine.call("connections")).toBe(before);
  });

  test("leads PHP to public addresses", async () => {
    expect(await machine.call("restrict")).toBe("");
    const place = "93-184-216-34.rebound.example:80";
    expect(await found("public", [place])).toEqual({ [place]: ["93.184.216.34", "reached 80", "connected"] });
  });
});
