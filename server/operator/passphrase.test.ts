import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { choosePassphrase, tellPassphrase } from "./passphrase.ts";

const good = "correct horse battery";

/** A terminal at which somebody types these lines, and what was shown on it. */
function terminal(...lines: string[]) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = new PassThrough();
  const left = [...lines];
  output.on("data", (shown: Buffer) => {
    if (shown.toString().endsWith(": ")) setImmediate(() => input.write(`${left.shift() ?? ""}\r`));
  });
  return { typist: { input, output }, shown: () => text(output.end()) };
}

const nobody = { input: new PassThrough(), output: new PassThrough() };

describe("the passphrase of a backup that is made", () => {
  test("is that of the environment", async () => {
    expect(await choosePassphrase({ SITEWRIGHT_BACKUP_PASSPHRASE: good }, nobody)).toBe(good);
  });

  test("is typed twice, and shown never", async () => {
    const { typist } = terminal(good, good);
    let shown = "";
    typist.output.on("data", (chunk: Buffer) => {
      shown += chunk;
    });
    expect(await choosePassphrase({}, typist)).toBe(good);
    expect(shown).toBe("Passphrase for the backup: \nThe same again: \n");
  });

  test("must be the same both times", async () => {
    await expect(choosePassphrase({}, terminal(good, `${good}!`).typist)).rejects.toThrow("The two were not the same.");
  });

  test("must not be short, wherever it comes from", async () => {
    await expect(choosePassphrase({ SITEWRIGHT_BACKUP_PASSPHRASE: "short" }, nobody)).rejects.toThrow(
      "at least 12 characters",
    );
    await expect(choosePassphrase({}, terminal("short").typist)).rejects.toThrow("at least 12 characters");
  });

  test("is not waited for where nobody can type it", async () => {
    await expect(choosePassphrase({}, nobody)).rejects.toThrow("Set SITEWRIGHT_BACKUP_PASSPHRASE to it, then repeat.");
  });

  test("is given up with Ctrl-C", async () => {
    await expect(choosePassphrase({}, terminal("\u0003").typist)).rejects.toThrow("Broken off. Nothing was changed.");
  });
});

test("the passphrase of a backup that is there is asked for once, and may be short", async () => {
  expect(await tellPassphrase({}, terminal("short").typist)).toBe("short");
  expect(await tellPassphrase({ SITEWRIGHT_BACKUP_PASSPHRASE: "short" }, nobody)).toBe("short");
});
