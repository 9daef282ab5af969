import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { askPassphrase, choosePassphrase } from "./passphrase.ts";

const good = "correct horse battery";

/** A terminal at which a user types these lines, and its output. */
function makeTerminal(...lines: string[]) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = new PassThrough();
  const remaining = [...lines];
  output.on("data", (shown: Buffer) => {
    if (shown.toString().endsWith(": ")) setImmediate(() => input.write(`${remaining.shift() ?? ""}\r`));
  });
  return { terminal: { input, output }, shown: () => text(output.end()) };
}

const noTerminal = { input: new PassThrough(), output: new PassThrough() };

describe("the passphrase of a new backup", () => {
  test("is taken from the environment", async () => {
    expect(await choosePassphrase({ SITEWRIGHT_BACKUP_PASSPHRASE: good }, noTerminal)).toBe(good);
  });

  test("is typed twice, and never shown", async () => {
    const { terminal } = makeTerminal(good, good);
    let shown = "";
    terminal.output.on("data", (chunk: Buffer) => {
      shown += chunk;
    });
    expect(await choosePassphrase({}, terminal)).toBe(good);
    expect(shown).toBe("Passphrase for the backup: \nRepeat the passphrase: \n");
  });

  test("must be the same both times", async () => {
    await expect(choosePassphrase({}, makeTerminal(good, `${good}!`).terminal)).rejects.toThrow("don't match");
  });

  test("must not be short, from the environment or typed", async () => {
    await expect(choosePassphrase({ SITEWRIGHT_BACKUP_PASSPHRASE: "short" }, noTerminal)).rejects.toThrow(
      "at least 12 characters",
    );
    await expect(choosePassphrase({}, makeTerminal("short").terminal)).rejects.toThrow("at least 12 characters");
  });

  test("is not asked for without a terminal", async () => {
    await expect(choosePassphrase({}, noTerminal)).rejects.toThrow("Set it in SITEWRIGHT_BACKUP_PASSPHRASE");
  });

  test("can be cancelled with Ctrl-C", async () => {
    await expect(choosePassphrase({}, makeTerminal("\u0003").terminal)).rejects.toThrow(
      "Cancelled. Nothing was changed.",
    );
  });
});

test("the passphrase of an existing backup is asked for once, and can be short", async () => {
  expect(await askPassphrase({}, makeTerminal("short").terminal)).toBe("short");
  expect(await askPassphrase({ SITEWRIGHT_BACKUP_PASSPHRASE: "short" }, noTerminal)).toBe("short");
});
