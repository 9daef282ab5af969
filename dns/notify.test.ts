import { createSocket, type Socket } from "node:dgram";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { createNotifier, messagesFor } from "./notify.ts";
import { createServed, type DnsLog, type State } from "./served.ts";
import { bind } from "./sockets.ts";
import { makeTable, makeZone, written } from "./testing/zones.ts";

const key = { name: "k.example", algorithm: "hmac-sha256" as const, sealedSecret: "c2VjcmV0" };
const log: DnsLog = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function stateWith(serials: Readonly<Record<string, number>>, ports: readonly number[]): State {
  const served = createServed(
    (_name, sealed) => sealed,
    log,
    () => undefined,
  );
  const zones = Object.entries(serials).map(([name, serial]) => makeZone(name, [], serial));
  const secondaries = ports.map((port) => ({ address: "127.0.0.1", port, key: key.name }));
  served.set(written(makeTable(zones, { secondaries, keys: [key] })));
  return served.state;
}

async function listenTo(received: Buffer[], answer: (packet: Buffer) => Buffer | null): Promise<Socket> {
  const socket = createSocket("udp4");
  socket.on("message", (packet, { port, address }) => {
    received.push(packet);
    const response = answer(packet);
    if (response !== null) socket.send(response, port, address);
  });
  await bind(socket, "127.0.0.1", 0);
  onTestFinished(() => void socket.close());
  return socket;
}

/** The acknowledgement of a NOTIFY: only a header. */
function acknowledge(packet: Buffer): Buffer {
  const answer = Buffer.from(packet.subarray(0, 12));
  answer.writeUInt16BE(0xa400, 2);
  answer.fill(0, 4);
  return answer;
}

describe("the messages to secondaries", () => {
  const zonesOf = (before: State, after: State) =>
    messagesFor(before, after).map(({ zone, secondary }) => `${zone} ${secondary.port}`);

  test("are for zones that are new or have a changed serial", () => {
    const before = stateWith({ "a.example": 1, "b.example": 1 }, [1]);
    const after = stateWith({ "a.example": 1, "b.example": 2, "c.example": 1 }, [1]);
    expect(zonesOf(before, after)).toEqual(["b.example 1", "c.example 1"]);
    expect(zonesOf(after, after)).toEqual([]);
  });

  test("are for all zones if the secondary is new", () => {
    const before = stateWith({ "a.example": 1, "b.example": 1 }, [1]);
    expect(zonesOf(before, stateWith({ "a.example": 1, "b.example": 1 }, [1, 2]))).toEqual([
      "a.example 2",
      "b.example 2",
    ]);
  });
});

describe("a NOTIFY", () => {
  test("is repeated until it is acknowledged, and not after", async () => {
    const received: Buffer[] = [];
    const socket = await listenTo(received, (packet) => (received.length < 3 ? null : acknowledge(packet)));
    const after = stateWith({ "a.example": 1 }, [socket.address().port]);
    let served = after;
    const notifier = createNotifier({ state: () => served, log, firstWaitMilliseconds: 150 });
    onTestFinished(() => notifier.close());
    notifier.changed(stateWith({}, []), after);
    await eventually(() => expect(received).toHaveLength(3));
    // A repeated NOTIFY would have arrived before this one.
    const later = stateWith({ "a.example": 1, "z.example": 1 }, [socket.address().port]);
    served = later;
    notifier.changed(after, later);
    await eventually(() => expect(received.at(-1)?.toString("latin1")).toContain("\u0001z\u0007example"));
    expect(received).toHaveLength(4);
    // Opcode 4, authoritative, with one question and a signature.
    expect(received[0]?.readUInt16BE(2)).toBe(0x2400);
    expect([4, 6, 8, 10].map((at) => received[0]?.readUInt16BE(at))).toEqual([1, 0, 0, 1]);
    expect(received[0]?.toString("latin1")).toContain("hmac-sha256");
  });

  test("is given up after some attempts, while others are sent", async () => {
    const [unanswered, received]: [Buffer[], Buffer[]] = [[], []];
    const [first, second] = [await listenTo(unanswered, () => null), await listenTo(received, acknowledge)];
    const warned: unknown[] = [];
    const zones = Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`z${n}.example`, 1]));
    const after = stateWith(zones, [first.address().port, second.address().port]);
    const warningLog = { ...log, warn: (facts: object) => void warned.push(Reflect.get(facts, "port")) };
    const notifier = createNotifier({ state: () => after, log: warningLog, firstWaitMilliseconds: 1 });
    onTestFinished(() => notifier.close());
    notifier.changed(stateWith({}, []), after);
    await eventually(() => expect(warned.filter((port) => port === first.address().port)).toHaveLength(120));
    await eventually(() => expect(new Set(received.map((packet) => packet.toString("latin1", 12, 30))).size).toBe(120));
    expect(unanswered).toHaveLength(120 * 6);
  });

  test("is not ended by a response with a wrong id", async () => {
    const received: Buffer[] = [];
    const wrong = (packet: Buffer): Buffer => {
      const answer = acknowledge(packet);
      answer.writeUInt16BE(packet.readUInt16BE(0) ^ 1, 0);
      return answer;
    };
    const socket = await listenTo(received, (packet) => (received.length < 3 ? wrong(packet) : acknowledge(packet)));
    const after = stateWith({ "a.example": 1 }, [socket.address().port]);
    const notifier = createNotifier({ state: () => after, log, firstWaitMilliseconds: 5 });
    onTestFinished(() => notifier.close());
    notifier.changed(stateWith({}, []), after);
    await eventually(() => expect(received).toHaveLength(3));
  });
});
