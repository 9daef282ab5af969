import { describe, expect, test } from "vitest";
import { createRateLimit } from "./rateLimit.ts";
import { createResponder } from "./respond.ts";
import { createServed } from "./served.ts";
import { type Asking, question, readAnswer } from "./testing/packets.ts";
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
  if (answer === null) throw new Error("Nothing was answered");
  return answer;
};
const ask = (name: string, type: number, asking: Asking = {}) => readAnswer(raw(question(name, type, asking)));
const byTcp = (packet: Buffer) => [...overTcp(packet, client)].map(readAnswer);

describe("an answer", () => {
  test("has the question as it was written, and the number it was asked with", () => {
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

  test("says back whether recursion was wanted, and never that there is any", () => {
    expect(ask("shop.example", 1, { flags: 0x0100 }).flags & 0x0190).toBe(0x0100);
    expect(ask("shop.example", 1, { flags: 0x0010 }).flags & 0x01b0).toBe(0x0010);
    expect(ask("shop.example", 1, { flags: 0x0020 }).flags & 0x0030).toBe(0);
  });

  test("names are written once and pointed to afterwards", () => {
    const answer = raw(question("shop.example", 15));
    // "shop" with its length; the question has it.
    expect(answer.toString("latin1").split("\u0004shop").length - 1).toBe(1);
    expect(readAnswer(answer).answers).toHaveLength(2);
  });
});

describe("how large an answer is", () => {
  test.each([
    [undefined, 512],
    [100, 512],
    [900, 900],
    [1_232, 1_232],
    [4_096, 1_232],
    [65_535, 1_232],
  ])("whoever takes %s bytes gets %i at most, and is told to come by TCP for more", (udpSize, most) => {
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

  test("by TCP it comes whole", () => {
    expect(byTcp(question("big.blog.example", 16))).toMatchObject([{ isTruncated: false, answers: { length: 40 } }]);
  });

  test("addresses that are only helpful are left out without a word; those of a referral are not", () => {
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
  test("is answered with ours, and what was said of signatures", () => {
    const [opt] = ask("shop.example", 1, { udpSize: 4_096, isDnssecOk: true }).additional;
    expect(opt).toMatchObject({ owner: ".", type: 41, class: 1_232, ttl: 0x8000 });
    expect(ask("shop.example", 1).additional).toEqual([]);
  });

  test("of a later version is not known, and the answer says which is", () => {
    const answer = ask("shop.example", 1, { udpSize: 1_232, ednsVersion: 1 });
    // The upper bits of 16 are in the OPT record.
    expect(answer).toMatchObject({ rcode: 0, answers: [], additional: [{ type: 41, ttl: 0x0100_0000 }] });
  });

  test("said twice, or of a name, is malformed", () => {
    const packet = question("shop.example", 1, { udpSize: 1_232 });
    const twice = Buffer.concat([packet, packet.subarray(-11)]);
    twice.writeUInt16BE(2, 10);
    expect(readAnswer(raw(twice))).toMatchObject({ rcode: 1 });
    const named = Buffer.concat([packet.subarray(0, -11), Buffer.from([1, 97]), packet.subarray(-11)]);
    expect(readAnswer(raw(named))).toMatchObject({ rcode: 1 });
  });
});

describe("what is not answered as it was meant", () => {
  test("an answer is not answered, nor what is too short for anything", () => {
    expect(overUdp(question("shop.example", 1, { flags: 0x8000 }), client)).toBeNull();
    expect(overUdp(Buffer.alloc(11), client)).toBeNull();
    expect([...overTcp(question("shop.example", 1, { flags: 0x8000 }), client)]).toEqual([]);
  });

  test.each([1, 2, 4, 5, 15])("operation %i is not known", (operation) => {
    const answer = raw(question("shop.example", 6, { flags: operation << 11, id: 99 }));
    expect(answer).toHaveLength(12);
    expect(readAnswer(answer)).toMatchObject({ id: 99, rcode: 4 });
    expect((answer.readUInt16BE(2) >> 11) & 15).toBe(operation);
  });

  test.each([
    ["no question", (packet: Buffer) => packet.writeUInt16BE(0, 4)],
    ["two questions", (packet: Buffer) => packet.writeUInt16BE(2, 4)],
    ["an answer beside the question", (packet: Buffer) => packet.writeUInt16BE(1, 6)],
    ["records that are not there", (packet: Buffer) => packet.writeUInt16BE(65_535, 10)],
    ["a name that points to itself", (packet: Buffer) => packet.writeUInt16BE(0xc00c, 12)],
    ["a label of an unknown kind", (packet: Buffer) => packet.writeUInt8(0x41, 12)],
    ["a name that goes on behind the end", (packet: Buffer) => packet.writeUInt8(63, 12)],
  ])("%s is malformed", (_, spoil) => {
    const packet = question("shop.example", 1);
    spoil(packet);
    expect(raw(packet)).toHaveLength(12);
    expect(readAnswer(raw(packet))).toMatchObject({ rcode: 1 });
    expect(byTcp(packet)).toMatchObject([{ rcode: 1 }]);
  });

  test("more bytes than the packet says are malformed", () => {
    expect(readAnswer(raw(Buffer.concat([question("shop.example", 1), Buffer.of(0)])))).toMatchObject({ rcode: 1 });
  });

  test.each([3, 4, 254, 255])("class %i is refused", (recordClass) => {
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
  ])("type %i is answered with %i", (type, rcode) => {
    expect(ask("shop.example", type)).toMatchObject({ rcode, answers: [] });
  });

  test("a zone is given to nobody without a key", () => {
    expect(byTcp(question("shop.example", 252))).toMatchObject([{ rcode: 5, answers: [] }]);
    expect(byTcp(question("shop.example", 251))).toMatchObject([{ rcode: 5, answers: [] }]);
  });
});

describe("the same answer again and again", () => {
  const flood = (limited: ReturnType<typeof responder>, names: (n: number) => string, address = client) =>
    Array.from({ length: 10 }, (_, n) => limited.overUdp(question(names(n), 1), address));
  const kinds = (packets: readonly (Buffer | null)[]) =>
    packets.map((packet) => (packet === null ? "-" : readAnswer(packet).isTruncated ? "short" : "whole"));
  const four = ["whole", "whole", "whole", "whole", "-", "short", "-", "short", "-", "short"];

  test("is left out and shortened in turns, in whatever case the name is", () => {
    const limited = responder([shop, blog], 4);
    expect(kinds(flood(limited, (n) => (n % 2 ? "shop.example" : "SHOP.example")))).toEqual(four);
    // Somebody else, something else, and by TCP: as before.
    expect(kinds(flood(limited, () => "shop.example", "192.0.2.1"))).toEqual(four);
    expect(kinds([limited.overUdp(question("mail.shop.example", 1), client)])).toEqual(["whole"]);
    expect([...limited.overTcp(question("shop.example", 1), client)]).toHaveLength(1);
  });

  test("is the same where names are made up below a zone or a wildcard", () => {
    expect(kinds(flood(responder([shop], 4), (n) => `x${n}.shop.example`))).toEqual(four);
    expect(kinds(flood(responder([shop], 4), (n) => `x${n}.any.shop.example`))).toEqual(four);
    expect(kinds(flood(responder([shop], 4), (n) => `x${n}.example.org`))).toEqual(four);
  });

  test("a shortened one is not longer than what was asked with", () => {
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
