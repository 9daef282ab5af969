import { describe, expect, test } from "vitest";
import { createRateLimit } from "./rateLimit.ts";
import { createResponder } from "./respond.ts";
import { createServed } from "./served.ts";
import { type QueryOptions, question, readAnswer } from "./testing/packets.ts";
import { blog, makeTable, makeZone, set, shop, written } from "./testing/zones.ts";

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const client = "127.0.0.1";

function responder(zones = [shop, blog], answersPerSecond = 0) {
  const served = createServed(
    (_name, sealed) => sealed,
    log,
    () => undefined,
  );
  served.set(written(makeTable(zones)));
  return createResponder(
    served,
    createRateLimit(answersPerSecond, () => 0),
  );
}

const { overUdp, overTcp } = responder();
const raw = (packet: Buffer): Buffer => {
  const answer = overUdp(packet, client);
  if (answer === null) throw new Error("No response");
  return answer;
};
const ask = (name: string, type: number, asking: QueryOptions = {}) => readAnswer(raw(question(name, type, asking)));
const askOverTcp = (packet: Buffer) => [...overTcp(packet, client)].map(readAnswer);

describe("a response", () => {
  test("has the id and the question as sent", () => {
    const packet = question("WwW.sHoP.eXaMpLe", 1, { id: 513 });
    const answer = raw(packet);
    expect(answer.subarray(12, packet.length)).toEqual(packet.subarray(12));
    expect(readAnswer(answer)).toMatchObject({ id: 513, rcode: 0, isAuthoritative: true });
    expect(readAnswer(answer).answers.map(({ owner, type }) => [owner, type])).toEqual([
      ["www.shop.example.", 5],
      ["shop.example.", 1],
      ["shop.example.", 1],
    ]);
  });

  test("copies the flag for desired recursion but never offers recursion", () => {
    expect(ask("shop.example", 1, { flags: 0x0100 }).flags & 0x0190).toBe(0x0100);
    expect(ask("shop.example", 1, { flags: 0x0010 }).flags & 0x01b0).toBe(0x0010);
    expect(ask("shop.example", 1, { flags: 0x0020 }).flags & 0x0030).toBe(0);
  });

  test("compresses names", () => {
    const answer = raw(question("shop.example", 15));
    // "shop" with its length occurs only in the question.
    expect(answer.toString("latin1").split("\u0004shop").length - 1).toBe(1);
    expect(readAnswer(answer).answers).toHaveLength(2);
  });
});

describe("the size of a response", () => {
  test.each([
    [undefined, 512],
    [100, 512],
    [900, 900],
    [1_232, 1_232],
    [4_096, 1_232],
    [65_535, 1_232],
  ])("for a client that accepts %s bytes is at most %i, and it is truncated if needed", (udpSize, most) => {
    const asking = udpSize === undefined ? {} : { udpSize };
    const answer = ask("big.blog.example", 16, asking);
    expect(answer).toMatchObject({ isTruncated: true, answers: [], isAuthoritative: true });
    for (let bytes = 20; bytes < 250; bytes += 7) {
      const zone = makeZone("a.example", [
        set("a.example", "TXT", ...Array.from({ length: 9 }, (_, n) => `${n}${"x".repeat(bytes)}`)),
      ]);
      const packet = responder([zone]).overUdp(question("a.example", 16, asking), client);
      expect(packet?.length).toBeLessThanOrEqual(most);
      expect(packet && readAnswer(packet).isTruncated).toBe(packet?.readUInt16BE(6) === 0);
    }
  });

  test("is not limited over TCP", () => {
    expect(askOverTcp(question("big.blog.example", 16))).toMatchObject([
      { isTruncated: false, answers: { length: 40 } },
    ]);
  });

  test("is reduced by omitting optional addresses, but not those of a referral", () => {
    const hosts = Array.from({ length: 10 }, (_, n) => `mail-server-number-${n}`);
    const make = (type: string) => {
      const values = hosts.map((host, n) => `${type === "MX" ? `${n} ` : ""}${host}.sub.a.example`);
      const addresses = hosts.map((host) => set(`${host}.sub.a.example`, "AAAA", "2001:db8::1", "2001:db8::2"));
      return responder([makeZone("a.example", [set("sub.a.example", type, ...values), ...addresses])]);
    };
    const mail = make("MX").overUdp(question("sub.a.example", 15), client);
    expect(mail && readAnswer(mail)).toMatchObject({ isTruncated: false, answers: { length: 10 } });
    const referral = make("NS").overUdp(question("x.sub.a.example", 1), client);
    expect(referral && readAnswer(referral)).toMatchObject({ isTruncated: true, authority: [] });
  });
});

describe("EDNS", () => {
  test("is answered with the server's EDNS record, which copies the DNSSEC flag", () => {
    const [opt] = ask("shop.example", 1, { udpSize: 4_096, isDnssecOk: true }).additional;
    expect(opt).toMatchObject({ owner: ".", type: 41, class: 1_232, ttl: 0x8000 });
    expect(ask("shop.example", 1).additional).toEqual([]);
  });

  test("of a later version gets BADVERS", () => {
    const answer = ask("shop.example", 1, { udpSize: 1_232, ednsVersion: 1 });
    // The OPT record has the upper bits of code 16.
    expect(answer).toMatchObject({ rcode: 0, answers: [], additional: [{ type: 41, ttl: 0x0100_0000 }] });
  });

  test("is malformed if it occurs twice or has a name", () => {
    const packet = question("shop.example", 1, { udpSize: 1_232 });
    const twice = Buffer.concat([packet, packet.subarray(-11)]);
    twice.writeUInt16BE(2, 10);
    expect(readAnswer(raw(twice))).toMatchObject({ rcode: 1 });
    const named = Buffer.concat([packet.subarray(0, -11), Buffer.from([1, 97]), packet.subarray(-11)]);
    expect(readAnswer(raw(named))).toMatchObject({ rcode: 1 });
  });
});

describe("an unusual packet", () => {
  test("is ignored if it is a response or shorter than a header", () => {
    expect(overUdp(question("shop.example", 1, { flags: 0x8000 }), client)).toBeNull();
    expect(overUdp(Buffer.alloc(11), client)).toBeNull();
    expect([...overTcp(question("shop.example", 1, { flags: 0x8000 }), client)]).toEqual([]);
  });

  test.each([1, 2, 4, 5, 15])("with opcode %i gets NOTIMP", (opcode) => {
    const answer = raw(question("shop.example", 6, { flags: opcode << 11, id: 99 }));
    expect(answer).toHaveLength(12);
    expect(readAnswer(answer)).toMatchObject({ id: 99, rcode: 4 });
    expect((answer.readUInt16BE(2) >> 11) & 15).toBe(opcode);
  });

  test.each([
    ["no question", (packet: Buffer) => packet.writeUInt16BE(0, 4)],
    ["two questions", (packet: Buffer) => packet.writeUInt16BE(2, 4)],
    ["an answer in addition to the question", (packet: Buffer) => packet.writeUInt16BE(1, 6)],
    ["missing records", (packet: Buffer) => packet.writeUInt16BE(65_535, 10)],
    ["a name that points to itself", (packet: Buffer) => packet.writeUInt16BE(0xc00c, 12)],
    ["a label of an unknown type", (packet: Buffer) => packet.writeUInt8(0x41, 12)],
    ["a name that continues after the end", (packet: Buffer) => packet.writeUInt8(63, 12)],
  ])("with %s is malformed", (_, damage) => {
    const packet = question("shop.example", 1);
    damage(packet);
    expect(raw(packet)).toHaveLength(12);
    expect(readAnswer(raw(packet))).toMatchObject({ rcode: 1 });
    expect(askOverTcp(packet)).toMatchObject([{ rcode: 1 }]);
  });

  test("with extra bytes is malformed", () => {
    expect(readAnswer(raw(Buffer.concat([question("shop.example", 1), Buffer.of(0)])))).toMatchObject({ rcode: 1 });
  });

  test.each([3, 4, 254, 255])("with class %i is refused", (recordClass) => {
    expect(ask("shop.example", 1, { class: recordClass })).toMatchObject({ rcode: 5, answers: [] });
  });

  test.each([
    [252, 5],
    [251, 5],
    [253, 4],
    [249, 4],
    [41, 1],
    [0, 0],
    [128, 4],
  ])("with type %i gets the code %i", (type, rcode) => {
    expect(ask("shop.example", type)).toMatchObject({ rcode, answers: [] });
  });

  test("that asks for a transfer without a key is refused", () => {
    expect(askOverTcp(question("shop.example", 252))).toMatchObject([{ rcode: 5, answers: [] }]);
    expect(askOverTcp(question("shop.example", 251))).toMatchObject([{ rcode: 5, answers: [] }]);
  });
});

describe("a repeated response", () => {
  const flood = (limited: ReturnType<typeof responder>, names: (n: number) => string, address = client) =>
    Array.from({ length: 10 }, (_, n) => limited.overUdp(question(names(n), 1), address));
  const kinds = (packets: readonly (Buffer | null)[]) =>
    packets.map((packet) => (packet === null ? "-" : readAnswer(packet).isTruncated ? "short" : "whole"));
  const expected = ["whole", "whole", "whole", "whole", "-", "short", "-", "short", "-", "short"];

  test("is alternately dropped and truncated, regardless of the name's case", () => {
    const limited = responder([shop, blog], 4);
    expect(kinds(flood(limited, (n) => (n % 2 ? "shop.example" : "SHOP.example")))).toEqual(expected);
    // Other networks, other names and TCP are not affected.
    expect(kinds(flood(limited, () => "shop.example", "192.0.2.1"))).toEqual(expected);
    expect(kinds([limited.overUdp(question("mail.shop.example", 1), client)])).toEqual(["whole"]);
    expect([...limited.overTcp(question("shop.example", 1), client)]).toHaveLength(1);
  });

  test("is recognised for random names below a zone or a wildcard", () => {
    expect(kinds(flood(responder([shop], 4), (n) => `x${n}.shop.example`))).toEqual(expected);
    expect(kinds(flood(responder([shop], 4), (n) => `x${n}.any.shop.example`))).toEqual(expected);
    expect(kinds(flood(responder([shop], 4), (n) => `x${n}.example.org`))).toEqual(expected);
  });

  test("is not longer than the query when truncated", () => {
    const limited = responder([shop], 1);
    const packet = question("shop.example", 16, { udpSize: 1_232 });
    const answers = Array.from({ length: 10 }, () => limited.overUdp(packet, client)).slice(1);
    for (const answer of answers) expect(answer?.length ?? 0).toBeLessThanOrEqual(packet.length);
    const malformed = question("shop.example", 1);
    malformed.writeUInt16BE(2, 4);
    expect(Array.from({ length: 5 }, () => limited.overUdp(malformed, client)?.length)).toEqual([
      12,
      ...Array(4).fill(undefined),
    ]);
  });
});
