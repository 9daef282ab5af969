import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ByteReader } from "./byteReader.ts";
import { serveDisk } from "./nbdServer.ts";
import { seededRandom } from "./random.ts";
import { sectorBytes, VolatileDisk } from "./volatileDisk.ts";

const commands = { read: 0, write: 1, flush: 3 };
const throughCache = 1;

function bytes(...fields: readonly (readonly [size: 1 | 2 | 4 | 8, value: number | bigint])[]): Buffer {
  return Buffer.concat(
    fields.map(([size, value]) =>
      Buffer.from(
        BigInt(value)
          .toString(16)
          .padStart(2 * size, "0"),
        "hex",
      ),
    ),
  );
}

/** Connects a client to a disk of two sectors that contain `a`. */
async function openDisk() {
  const folder = await mkdtemp(join(tmpdir(), "nbd-"));
  const disk = new VolatileDisk(Buffer.alloc(2 * sectorBytes, "a"));
  let writes = 0;
  const server = await serveDisk(disk, join(folder, "disk.sock"), () => {
    writes += 1;
  });
  const client = connect(join(folder, "disk.sock"));
  await once(client, "connect");
  onTestFinished(async () => {
    client.destroy();
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  const reader = new ByteReader(client);
  expect((await reader.take(18))?.toString("latin1", 0, 16)).toBe("NBDMAGICIHAVEOPT");
  const option = (number: number, data: Buffer) =>
    client.write(Buffer.concat([Buffer.from("IHAVEOPT"), bytes([4, number], [4, data.length]), data]));
  client.write(bytes([4, 3]));
  option(99, Buffer.from("unknown"));
  expect((await reader.take(20))?.readUInt32BE(12)).toBe(0x80000001);
  option(7, bytes([4, 0], [2, 0]));
  const information = await reader.take(32 + 20);
  expect(information?.readBigUInt64BE(22)).toBe(BigInt(2 * sectorBytes));

  async function request(command: number, sector: number, content: string | null, flags = 0): Promise<void> {
    const data = content === null ? Buffer.alloc(0) : Buffer.alloc(sectorBytes, content);
    const head = bytes([4, 0x25609513], [2, flags], [2, command], [8, 7], [8, sector * sectorBytes], [4, data.length]);
    client.write(Buffer.concat([head, data]));
    expect(await reader.take(16)).toEqual(bytes([4, 0x67446698], [4, 0], [8, 7]));
  }
  async function read(sector: number): Promise<string | undefined> {
    client.write(
      bytes([4, 0x25609513], [2, 0], [2, commands.read], [8, 8], [8, sector * sectorBytes], [4, sectorBytes]),
    );
    const reply = await reader.take(16 + sectorBytes);
    return reply?.toString("latin1", 16, 17);
  }
  return { disk, request, read, writes: () => writes };
}

test("writes that a client has not flushed are lost in a power cut", async () => {
  const { disk, request, read, writes } = await openDisk();
  await request(commands.write, 0, "b");
  await request(commands.flush, 0, null);
  await request(commands.write, 0, "c");
  await request(commands.write, 1, "c");
  expect([await read(0), await read(1), writes()]).toEqual(["c", "c", 3]);
  disk.cutPower(0, seededRandom(1));
  expect([await read(0), await read(1)]).toEqual(["b", "a"]);
});

test("a write through the cache lasts without a flush", async () => {
  const { disk, request, read } = await openDisk();
  await request(commands.write, 0, "b");
  await request(commands.write, 1, "b", throughCache);
  disk.cutPower(0, seededRandom(1));
  expect([await read(0), await read(1)]).toEqual(["a", "b"]);
});
