/** Whatever the console reads from the API, it says when that fails. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Files that read something and show no error themselves, and why. */
const exceptions: Readonly<Record<string, string>> = {
  "api/session.ts": "Pages are only shown to people who have signed in; `SessionGuard` looks after the session.",
  "parts/SessionGuard.tsx": "Without an answer, the note about the lost connection is shown.",
  "parts/useReview.ts": "`OperationOutcome` shows the same operation, and its error.",
  "pages/sites/SiteTable.tsx": "`SiteRow` shows the error of its page.",
  "pages/sites/SiteRow.tsx": "A picture is an ornament; without one, there is the first letter of the name.",
  "parts/palette/usePaletteEntries.ts": "`Palette` shows the error.",
  "pages/people/AccessFields.tsx": "The field shows the error.",
};

const folder = join(import.meta.dirname, "../../console/app");

const silent = globSync("**/*.{ts,tsx}", { cwd: folder })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    return /\buse(Infinite)?Quer(y|ies)\(/.test(text) && !/<(Loaded|Failure)\b/.test(text);
  });

test("every file that reads from the API shows errors, except those that are listed with a reason", () => {
  expect(silent.filter((file) => !(file in exceptions))).toEqual([]);
});

test("no exception is out of date", () => {
  expect(Object.keys(exceptions).filter((file) => !silent.includes(file))).toEqual([]);
});
