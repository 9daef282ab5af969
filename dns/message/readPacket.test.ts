import { describe, expect, test } from "vitest";
import { writeName } from "../names.ts";
import { question } from "../testing/packets.ts";
import { createRandomIntegers } from "../testing/random.ts";
import { readNameAt, readPacket } from "./readPacket.ts";

const packetOf = (...bytes: number[]): Buffer => Buffer.concat([Buffer.alloc(12), Buffer.from(bytes)]);
const a = [1, 0x61];

describe("a name in a packet", () => {
  test("is read in lower case, with the offset after it", () => {
    expect(readNameAt(packetOf(3, 0x57, 0x77, 0x57, ...a, 0, 9), 12, false)).toEqual({
      name: "\u0003www\u0001a",
      end: 19,
    });
    expect(readNameAt(packetOf(0), 12, false)).toEqual({ name: "", end: 13 });
  });

  test("may continue at an earlier offset", () => {
    const packet = packetOf(...a, 0, 1, 0x62, 0xc0, 12, 1, 0x63, 0xc0, 15);
    expect(writeName(readNameAt(packet, 19, true)?.name ?? "")).toBe("c.b.a.");
    expect(readNameAt(packet, 19, true)?.end).toBe(23);
  });

  test.each([
    ["itself", packetOf(0xc0, 12), 12],
    ["a later offset", packetOf(0xc0, 14, 0), 12],
    ["the header", packetOf(0xc0, 0), 12],
    ["an offset that points back", packetOf(0xc0, 14, 0xc0, 12), 14],
    ["its own middle", packetOf(1, 0x61, 0xc0, 12), 12],
    ["nothing, because the pointer is cut off", packetOf(...a, 0xc0), 12],
    ["an offset after the end", packetOf(...a, 0xff, 0xff), 12],
  ])("that points to %s is malformed", (_, packet, from) => {
    expect(readNameAt(packet, from, true)).toBeNull();
  });

  test("may have 255 bytes and not 256, and a label 63", () => {
    const label = (length: number) => [length, ...Array.from({ length }, () => 0x61)];
    const longest = [...label(63), ...label(63), ...label(63), ...label(61), 0];
    expect(readNameAt(packetOf(...longest), 12, false)?.name).toHaveLength(254);
    expect(readNameAt(packetOf(...label(63), ...label(63), ...label(63), ...label(62), 0), 12, false)).toBeNull();
    expect(readNameAt(packetOf(64, ...Array.from({ length: 64 }, () => 0x61), 0), 12, false)).toBeNull();
    // Too long because of a pointer.
    expect(readNameAt(packetOf(...longest, 1, 0x62, 0xc0, 12), 12 + 255, true)).toBeNull();
  });

  test("has at most 32 pointers", () => {
    const pointers = Array.from({ length: 40 }, (_, n) => [0xc0, n === 0 ? 12 : 13 + (n - 1) * 2]).flat();
    const packet = packetOf(0, ...pointers);
    expect(readNameAt(packet, 13 + 31 * 2, true)).toEqual({ name: "", end: 13 + 32 * 2 });
    expect(readNameAt(packet, 13 + 32 * 2, true)).toBeNull();
  });

  test("is, for random bytes, malformed or at most 255 bytes long, and ends within the packet", () => {
    const random = createRandomIntegers(20_261);
    let names = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const bytes = Array.from({ length: 1 + random(60) }, () =>
        random(3) === 0 ? random(256) : ([0, 1, 2, 0xc0, 13][random(5)] ?? 0),
      );
      const packet = packetOf(...bytes);
      const found = readNameAt(packet, 12 + random(bytes.length), true);
      if (found === null) continue;
      names += 1;
      expect(found.name.length).toBeLessThan(255);
      expect(found.end).toBeLessThanOrEqual(packet.length);
      expect(found.name).not.toMatch(/[A-Z]/);
    }
    expect(names).toBeGreaterThan(1_000);
  });
});

describe("a packet", () => {
  test("is parsed as a query with its EDNS record", () => {
    const read = readPacket(question("Shop.example", 15, { id: 7, flags: 0x0100, udpSize: 4_000, isDnssecOk: true }));
    expect(read).toMatchObject({
      kind: "query",
      query: {
        id: 7,
        flags: 0x0100,
        name: "\u0004shop\u0007example",
        type: 15,
        class: 1,
        questionEnd: 30,
        edns: { version: 0, udpSize: 4_000, isDnssecOk: true },
        tsig: null,
        knownSerial: null,
      },
    });
  });

  test("that is cut off is ignored or malformed", () => {
    const whole = question("shop.example", 15, { udpSize: 4_000 });
    for (let length = 0; length < whole.length; length += 1) {
      expect(readPacket(whole.subarray(0, length)).kind).toBe(length < 12 ? "ignored" : "malformed");
    }
  });
});
