import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { makeSignalHandler } from "./signals.ts";
import { makeTerminal, progressLine } from "./terminal.ts";
import { warningIn } from "./warnings.ts";

function screen(isTTY: boolean) {
  const out = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns: 80 });
  const errors = new PassThrough({ encoding: "utf8" });
  const terminal = makeTerminal({ out, errors });
  return { terminal, out: () => String(out.read() ?? ""), errors: () => String(errors.read() ?? "") };
}

describe("progress", () => {
  test("redraws one line on a terminal, and clears it for a message", () => {
    const { terminal, out } = screen(true);
    terminal.progress({ phase: "Unpacking", done: 0, total: 2 });
    terminal.progress({ phase: "Unpacking", done: 2, total: 2 });
    terminal.say("Ready.");
    expect(out()).toBe(
      `  Unpacking [${"-".repeat(24)}]   0 %\r\x1b[K  Unpacking [${"#".repeat(24)}] 100 %\r\x1b[KReady.\n`,
    );
  });

  test("limits the redraw rate", () => {
    const { terminal, out } = screen(true);
    for (let done = 0; done < 1_000; done++) {
      terminal.progress({ phase: "Unpacking", done, total: 2_000 });
    }
    expect(out().split("\r").length).toBeLessThan(100);
  });

  test("prints a line per phase if the output is not a terminal", () => {
    const { terminal, out } = screen(false);
    for (const phase of ["Fetching", "Fetching", "Unpacking"]) {
      terminal.progress({ phase, done: 1, total: null });
    }
    expect(out()).toBe("  Fetching …\n  Unpacking …\n");
  });

  test("never exceeds the width of the terminal", () => {
    expect(progressLine({ phase: "x".repeat(200), done: 1, total: 2 }, 40)).toHaveLength(39);
  });
});

test("warnings go to standard error", () => {
  const { terminal, out, errors } = screen(false);
  terminal.warn("Mind the gap.");
  expect([out(), errors()]).toEqual(["", "Mind the gap.\n"]);
});

describe("a line of a child's log", () => {
  test.each([
    ['{"level":40,"msg":"Slow"}', "edge: Slow"],
    ['{"level":50,"msg":"Failed","err":{"message":"why"}}', "edge: Failed: why"],
    ['{"level":50,"msg":"why","err":{"message":"why"}}', "edge: why"],
    ['{"level":30,"msg":"Fine"}', null],
    ["{not json", null],
    ["plain text", null],
  ])("%s is shown as %j", (line, shown) => {
    expect(warningIn("edge", line)).toBe(shown);
  });
});

test("signals within half a second count as one keystroke", () => {
  let time = 0;
  const calls: string[] = [];
  const onSignal = makeSignalHandler(
    { first: () => calls.push("first"), again: () => calls.push("again") },
    () => time,
  );
  for (time of [0, 3, 400, 600, 1_200]) {
    onSignal();
  }
  expect(calls).toEqual(["first", "again", "again"]);
});
