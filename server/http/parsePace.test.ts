import { setImmediate as nextRound } from "node:timers/promises";
import { expect, test } from "vitest";
import { createParsePace } from "./parsePace.ts";

/** A pace whose pauses last until the test ends them. */
function pausedPace() {
  const pauses: { readonly milliseconds: number; end(): void }[] = [];
  const pace = createParsePace((milliseconds) => new Promise<void>((end) => pauses.push({ milliseconds, end })));
  const parsed: string[] = [];
  const send = (name: string, { address = "192.0.2.1", bytes = 100_000 } = {}) =>
    pace.run(address, bytes, () => parsed.push(name));
  return { pauses, parsed, send, pace };
}

test("a network's next large body waits for many times as long as parsing took", async () => {
  const { pace, pauses, parsed, send } = pausedPace();
  await pace.run("192.0.2.1", 100_000, () => {
    const end = performance.now() + 5;
    while (performance.now() < end);
  });
  const sent = [send("second"), send("third")];
  await nextRound();
  expect(parsed).toEqual([]);
  expect(pauses.map(({ milliseconds }) => milliseconds >= 95)).toEqual([true]);
  pauses[0]?.end();
  await sent[0];
  expect(parsed).toEqual(["second"]);
  pauses[1]?.end();
  await sent[1];
  expect(parsed).toEqual(["second", "third"]);
});

test("small bodies, and those of others, do not wait", async () => {
  const { parsed, send } = pausedPace();
  await send("first");
  await send("small", { bytes: 1_000 });
  await send("of others", { address: "198.51.100.1" });
  expect(parsed).toEqual(["first", "small", "of others"]);
});

test("after a body that can't be parsed, the next one gets its turn", async () => {
  const { pace, pauses, parsed, send } = pausedPace();
  const broken = () => JSON.parse("{");
  await expect(pace.run("192.0.2.1", 100_000, broken)).rejects.toThrow(SyntaxError);
  const next = send("next");
  pauses[0]?.end();
  await next;
  expect(parsed).toEqual(["next"]);
});
