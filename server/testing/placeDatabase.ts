/** Writes a database in MaxMind's format (version 2.0) with a few IPv4 networks, for tests. */

interface KnownNetwork {
  /** Such as `203.0.113.0/24`. */
  readonly network: string;
  readonly country: string;
  readonly city?: string;
}

interface Node {
  readonly next: [Node | number | null, Node | number | null];
}

const recordBits = 24;
/** Zero bytes between the tree and the data. */
const separatorBytes = 16;

export function makePlaceDatabase(networks: readonly KnownNetwork[]): Buffer {
  const root: Node = { next: [null, null] };
  const records: Buffer[] = [];
  let offset = 0;
  for (const { network, country, city } of networks) {
    insert(root, network, offset);
    const named = { iso_code: country };
    const record = encode(city === undefined ? { country: named } : { country: named, city: { names: { en: city } } });
    records.push(record);
    offset += record.length;
  }
  const nodes = collect(root);
  const numbers = new Map(nodes.map((node, number) => [node, number]));
  const tree = Buffer.concat(
    nodes.map(({ next }) =>
      Buffer.concat(
        next.map((child) => {
          const bytes = Buffer.alloc(recordBits / 8);
          const isData = typeof child === "number";
          const value =
            child === null ? nodes.length : isData ? nodes.length + separatorBytes + child : numbers.get(child);
          bytes.writeUIntBE(value ?? nodes.length, 0, bytes.length);
          return bytes;
        }),
      ),
    ),
  );
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1,
    database_type: "Test-City",
    description: { en: "Test" },
    ip_version: 4,
    languages: {},
    node_count: nodes.length,
    record_size: recordBits,
  });
  const marker = Buffer.from("\xab\xcd\xefMaxMind.com", "latin1");
  return Buffer.concat([tree, Buffer.alloc(separatorBytes), ...records, marker, metadata]);
}

function insert(root: Node, network: string, offset: number): void {
  const [address = "", length = "32"] = network.split("/");
  const bits = address.split(".").flatMap((byte) => [...Number(byte).toString(2).padStart(8, "0")].map(Number));
  let node = root;
  for (let at = 0; at < Number(length); at += 1) {
    const side = bits[at] === 1 ? 1 : 0;
    if (at === Number(length) - 1) node.next[side] = offset;
    else {
      const known = node.next[side];
      const below: Node = known !== null && typeof known === "object" ? known : { next: [null, null] };
      node.next[side] = below;
      node = below;
    }
  }
}

function collect(node: Node): readonly Node[] {
  return [node, ...node.next.flatMap((next) => (next !== null && typeof next === "object" ? collect(next) : []))];
}

type Value = string | number | { readonly [name: string]: Value };

/** Encodes strings below 285 bytes, 32-bit integers, and maps with fewer than 29 entries. */
function encode(value: Value): Buffer {
  if (typeof value === "string") {
    const text = Buffer.from(value);
    return Buffer.concat([text.length < 29 ? Buffer.of(0x40 + text.length) : Buffer.of(0x5d, text.length - 29), text]);
  }
  if (typeof value === "number") {
    const bytes = Buffer.alloc(5);
    bytes.writeUInt8(0xc4, 0);
    bytes.writeUInt32BE(value, 1);
    return bytes;
  }
  const pairs = Object.entries(value);
  return Buffer.concat([Buffer.of(0xe0 + pairs.length), ...pairs.flatMap(([name, of]) => [encode(name), encode(of)])]);
}
